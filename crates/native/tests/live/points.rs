//! Points of the developer and the scenario, alone and together.

use crate::common::{ask, c, go, go_to, number, print, shown, stop_at};
use invigil_monitor::event::Kind::{After, Before};
use invigil_session::subject::{Ending, Owner, PointId, PointSpec, Resume, Stop, Subject, What};

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

fn hit(id: PointId) -> Stop {
    Stop::Points { owner: Owner::Developer, points: vec![id] }
}

#[test]
fn functions_lines_and_addresses() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let function = stop_at(&mut target, "twice");
    go_to(&mut target, function);
    let address = target.frames(1).unwrap()[0].address;
    target.remove_point(function).unwrap();
    let line = stop_at(&mut target, "program.c:5");
    go_to(&mut target, line);
    assert_eq!(print(&mut target, "n"), "0");
    target.remove_point(line).unwrap();
    let there = stop_at(&mut target, &format!("*{address:#x}"));
    for _ in 1..10 {
        go_to(&mut target, there);
    }
    assert_eq!(target.points()[0].hits, 9);
    assert_eq!(go(&mut target), Stop::Ended(Ending::Exited(90)));
}

#[test]
fn each_owner_is_served_once_per_arrival_in_order() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = ask(&mut target, &[("twice", Before, &["n: int"]), ("twice", After, &["ret: int"])]);
    let first = stop_at(&mut target, "twice");
    let second = stop_at(&mut target, "twice");
    let spec = PointSpec::new(What::Reach("twice".into()));
    let scenario = target.set_point(Owner::Scenario, &spec).unwrap();
    for round in 0..10 {
        assert_eq!(go(&mut target), Stop::Points { owner: Owner::Developer, points: vec![first, second] });
        assert_eq!(go(&mut target), Stop::Points { owner: Owner::Scenario, points: vec![scenario] });
        assert_eq!(go(&mut target), Stop::Events);
        assert_eq!(shown(&target, &catalog, 0), format!("twice({round})"));
        assert_eq!(go(&mut target), Stop::Events);
        assert_eq!(shown(&target, &catalog, 0), format!("after twice({})", 2 * round));
    }
    assert_eq!(go(&mut target), Stop::Ended(Ending::Exited(90)));
}

#[test]
fn a_step_from_a_point_does_not_miss_the_monitors() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    ask(&mut target, &[("twice", Before, &["n: int"])]);
    let id = stop_at(&mut target, "twice");
    go_to(&mut target, id);
    assert_eq!(target.resume(&Resume::NextLine).unwrap(), Stop::Events);
    assert_eq!(target.resume(&Resume::NextLine).unwrap(), Stop::Stepped { returned: None });
    assert_eq!(crate::common::at(&mut target), "twice:4");
    go_to(&mut target, id);
    assert_eq!(go(&mut target), Stop::Events);
}

#[test]
fn conditions_ignore_counts_and_once() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let spec = PointSpec {
        condition: Some("n == 3 || n == 7".into()),
        ..PointSpec::new(What::Reach("program.c:4".into()))
    };
    let picky = target.set_point(Owner::Developer, &spec).unwrap();
    let spec = PointSpec { ignore: 4, once: true, ..PointSpec::new(What::Reach("twice".into())) };
    let patient = target.set_point(Owner::Developer, &spec).unwrap();
    go_to(&mut target, picky);
    assert_eq!(print(&mut target, "n"), "3");
    go_to(&mut target, patient);
    assert_eq!(number(&mut target, "total"), 6);
    assert_eq!(target.points().len(), 1);
    go_to(&mut target, picky);
    assert_eq!(print(&mut target, "n"), "7");
    assert_eq!(go(&mut target), Stop::Ended(Ending::Exited(90)));
}

#[test]
fn points_are_turned_off_and_on_and_removed_while_one_stands_on_them() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "twice");
    go_to(&mut target, id);
    target.enable_point(id, false).unwrap();
    let other = stop_at(&mut target, "program.c:5");
    go_to(&mut target, other);
    target.enable_point(id, true).unwrap();
    go_to(&mut target, id);
    target.remove_point(id).unwrap();
    go_to(&mut target, other);
    // The developer was served here: a new point of the developer's waits for the next arrival.
    let again = stop_at(&mut target, "program.c:5");
    let both = Stop::Points { owner: Owner::Developer, points: vec![other, again] };
    assert_eq!(go(&mut target), both);
    target.remove_point(other).unwrap();
    target.remove_point(again).unwrap();
    assert_eq!(go(&mut target), Stop::Ended(Ending::Exited(90)));
}

#[test]
fn a_point_of_another_owner_set_where_one_stands_is_due() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    ask(&mut target, &[("twice", Before, &["n: int"])]);
    assert_eq!(go(&mut target), Stop::Events);
    let id = stop_at(&mut target, "twice");
    assert_eq!(go(&mut target), hit(id));
    assert_eq!(go(&mut target), hit(id));
    assert_eq!(go(&mut target), Stop::Events);
}

#[test]
fn leaving_a_function() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let id = target.set_point(Owner::Developer, &PointSpec::new(What::Leave("twice".into()))).unwrap();
    for n in 0..10 {
        go_to(&mut target, id);
        assert_eq!(print(&mut target, "$rax").parse(), Ok(2 * n));
    }
    assert_eq!(go(&mut target), Stop::Ended(Ending::Exited(90)));
}

#[test]
fn memory_shows_the_program_and_not_our_traps() {
    let program = c(LOOP, &["-g", "-fcf-protection=none"]);
    let mut target = program.start();
    let before = target.examine("&twice", 8, 'x', 1).unwrap();
    let id = stop_at(&mut target, "twice");
    assert_eq!(target.examine("&twice", 8, 'x', 1).unwrap(), before);
    assert_eq!(print(&mut target, "*(unsigned char *) twice"), "85 'U'");
    // Writing the code keeps the trap, and what is written is what is then there.
    target.assign("*(unsigned char *) twice", "0x55").unwrap();
    go_to(&mut target, id);
    assert_eq!(target.examine("&twice", 8, 'x', 1).unwrap(), before);
    target.assign("*(unsigned char *) twice", "0xc3").unwrap();
    assert!(target.examine("&twice", 1, 'x', 1).unwrap()[0].ends_with("0xc3"));
    for _ in 1..10 {
        go_to(&mut target, id);
    }
    assert!(matches!(go(&mut target), Stop::Ended(Ending::Exited(_))));
}

#[test]
fn what_there_is_not() {
    let program = c(LOOP, &["-g"]);
    let mut target = program.start();
    let mut wrong =
        |what: What| target.set_point(Owner::Developer, &PointSpec::new(what)).unwrap_err().to_string();
    assert!(wrong(What::Reach("twise".into())).contains("did you mean `twice`"));
    assert!(wrong(What::Reach("program.c:4000".into())).contains("no code for line 4000"));
    assert!(wrong(What::Reach("*0x10".into())).contains("no code at 0x10"));
    assert!(target.remove_point(PointId(77)).is_err());
    assert!(target.points().is_empty());
}
