//! Breakpoints of the user and of scenarios, alone and together.

use crate::live::common::{c, go, go_to, instrument_events, number, print, shown, stop_at};
use invigil_monitor::event::EventKind::{After, Before};
use invigil_target::prelude::*;
use invigil_target::{
    BreakpointId, BreakpointKind, BreakpointSpec, Owner, ResumeMode, StopReason, Termination,
};

const LOOP: &str = r#"
int total;
int twice(int n) {
    total += n;
    return 2 * n;
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += twice(i);
    return sum;
}
"#;

fn hit(id: BreakpointId) -> StopReason {
    StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![id] }
}

#[test]
fn breakpoints_at_functions_lines_and_addresses_hit() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let function = stop_at(&mut target, "twice");
    go_to(&mut target, function);
    let address = target.frames(1).unwrap()[0].address;
    target.remove_breakpoint(function).unwrap();
    let line = stop_at(&mut target, "program.c:5");
    go_to(&mut target, line);
    assert_eq!(print(&mut target, "n"), "0");
    target.remove_breakpoint(line).unwrap();
    let there = stop_at(&mut target, &format!("*{address:#x}"));
    for _ in 1..10 {
        go_to(&mut target, there);
    }
    assert_eq!(target.breakpoints()[0].hits, 9);
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(90)));
}

#[test]
fn each_owner_is_notified_once_per_arrival_in_order() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let (catalog, _) =
        instrument_events(&mut target, &[("twice", Before, &["n: int"]), ("twice", After, &["ret: int"])]);
    let first = stop_at(&mut target, "twice");
    let second = stop_at(&mut target, "twice");
    let spec = BreakpointSpec::new(BreakpointKind::Location("twice".into()));
    let scenario = target.set_breakpoint(Owner::Scenario, &spec).unwrap();
    for round in 0..10 {
        assert_eq!(
            go(&mut target),
            StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![first, second] }
        );
        assert_eq!(
            go(&mut target),
            StopReason::Breakpoints { owner: Owner::Scenario, breakpoints: vec![scenario] }
        );
        assert_eq!(go(&mut target), StopReason::Events);
        assert_eq!(shown(&mut target, &catalog, 0), format!("twice({round})"));
        assert_eq!(go(&mut target), StopReason::Events);
        assert_eq!(shown(&mut target, &catalog, 0), format!("after twice({})", 2 * round));
    }
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(90)));
}

#[test]
fn step_from_breakpoint_still_steps_monitors() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    instrument_events(&mut target, &[("twice", Before, &["n: int"])]);
    let id = stop_at(&mut target, "twice");
    go_to(&mut target, id);
    assert_eq!(target.resume(&ResumeMode::NextLine).unwrap(), StopReason::Events);
    assert_eq!(target.resume(&ResumeMode::NextLine).unwrap(), StopReason::Stepped { returned: None });
    assert_eq!(crate::live::common::at(&mut target), "twice:4");
    go_to(&mut target, id);
    assert_eq!(go(&mut target), StopReason::Events);
}

#[test]
fn conditions_ignore_counts_and_once_are_respected() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let spec = BreakpointSpec {
        condition: Some("n == 3 || n == 7".into()),
        ..BreakpointSpec::new(BreakpointKind::Location("program.c:4".into()))
    };
    let picky = target.set_breakpoint(Owner::User, &spec).unwrap();
    let spec = BreakpointSpec {
        ignore: 4,
        once: true,
        ..BreakpointSpec::new(BreakpointKind::Location("twice".into()))
    };
    let patient = target.set_breakpoint(Owner::User, &spec).unwrap();
    go_to(&mut target, picky);
    assert_eq!(print(&mut target, "n"), "3");
    go_to(&mut target, patient);
    assert_eq!(number(&mut target, "total"), 6);
    assert_eq!(target.breakpoints().len(), 1);
    go_to(&mut target, picky);
    assert_eq!(print(&mut target, "n"), "7");
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(90)));
}

#[test]
fn breakpoints_can_change_while_stopped_at_them() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "twice");
    go_to(&mut target, id);
    target.set_breakpoint_enabled(id, false).unwrap();
    let other = stop_at(&mut target, "program.c:5");
    go_to(&mut target, other);
    target.set_breakpoint_enabled(id, true).unwrap();
    go_to(&mut target, id);
    target.remove_breakpoint(id).unwrap();
    go_to(&mut target, other);
    // The user was notified here: a new breakpoint of the user hits at the next arrival.
    let again = stop_at(&mut target, "program.c:5");
    let both = StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![other, again] };
    assert_eq!(go(&mut target), both);
    target.remove_breakpoint(other).unwrap();
    target.remove_breakpoint(again).unwrap();
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(90)));
}

#[test]
fn breakpoint_of_other_owner_set_at_stop_location_hits() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    instrument_events(&mut target, &[("twice", Before, &["n: int"])]);
    assert_eq!(go(&mut target), StopReason::Events);
    let id = stop_at(&mut target, "twice");
    assert_eq!(go(&mut target), hit(id));
    assert_eq!(go(&mut target), hit(id));
    assert_eq!(go(&mut target), StopReason::Events);
}

#[test]
fn return_breakpoint_hits_at_function_exit() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let id = target
        .set_breakpoint(Owner::User, &BreakpointSpec::new(BreakpointKind::Return("twice".into())))
        .unwrap();
    for n in 0..10 {
        go_to(&mut target, id);
        assert_eq!(print(&mut target, "$rax").parse(), Ok(2 * n));
    }
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(90)));
}

#[test]
fn memory_reads_mask_traps() {
    let program = c(LOOP, &["-g", "-fcf-protection=none"]);
    let mut target = program.start();
    let before = target.examine_memory("&twice", 8, 'x', 1).unwrap();
    let id = stop_at(&mut target, "twice");
    assert_eq!(target.examine_memory("&twice", 8, 'x', 1).unwrap(), before);
    assert_eq!(print(&mut target, "*(unsigned char *) twice"), "85 'U'");
    // Writing the code keeps the trap, and the code reads as written.
    target.assign("*(unsigned char *) twice", "0x55").unwrap();
    go_to(&mut target, id);
    assert_eq!(target.examine_memory("&twice", 8, 'x', 1).unwrap(), before);
    target.assign("*(unsigned char *) twice", "0xc3").unwrap();
    assert!(target.examine_memory("&twice", 1, 'x', 1).unwrap()[0].ends_with("0xc3"));
    for _ in 1..10 {
        go_to(&mut target, id);
    }
    assert!(matches!(go(&mut target), StopReason::Ended(Termination::Exited(_))));
}

#[test]
fn unknown_locations_are_rejected() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let mut wrong = |what: BreakpointKind| {
        target.set_breakpoint(Owner::User, &BreakpointSpec::new(what)).unwrap_err().to_string()
    };
    assert!(wrong(BreakpointKind::Location("twise".into())).contains("did you mean `twice`"));
    assert!(wrong(BreakpointKind::Location("program.c:4000".into())).contains("no code for line 4000"));
    assert!(wrong(BreakpointKind::Location("*0x10".into())).contains("no code at 0x10"));
    assert!(target.remove_breakpoint(BreakpointId(77)).is_err());
    assert!(target.breakpoints().is_empty());
}
