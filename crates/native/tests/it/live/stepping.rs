//! The user's steps.

use crate::live::common::{Built, at, c, go, go_to, instrument_events, number, print, stop_at};
use invigil_monitor::event::EventKind::Before;
use invigil_native::NativeTarget;
use invigil_target::prelude::*;
use invigil_target::{Owner, ResumeMode, StopReason, Termination};

const CALLS: &str = r#"#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
int handled;
jmp_buf back;
int leaf(int n) {
    return n + 1;
}
int factorial(int n) {
    if (n < 2)
        return 1;
    int rest = factorial(n - 1);
    return n * rest;
}
void handler(int number) {
    handled += number;
}
void jump(void) {
    longjmp(back, 1);
}
double half(double x) {
    return x / 2;
}
int main(void) {
    int a = leaf(1) + leaf(2);
    int f = factorial(5);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    a += abs(-3);
    for (int i = 0; i < 3; i++)
        a += leaf(i);
    if (setjmp(back) == 0)
        jump();
    double h = half(5);
    return a + f + (int) h;
}
"#;

fn program() -> Built {
    c(CALLS, &["-g", "-O0", "-fno-builtin"])
}

fn step(target: &mut NativeTarget, how: ResumeMode) -> String {
    assert_eq!(target.resume(&how).unwrap(), StopReason::Stepped { returned: None });
    at(target)
}

#[test]
fn line_steps_enter_or_skip_calls() {
    let program = program();
    let mut target = program.start();
    let id = stop_at(&mut target, "program.c:25");
    go_to(&mut target, id);
    assert_eq!(step(&mut target, ResumeMode::Line), "leaf:6");
    assert_eq!(step(&mut target, ResumeMode::Line), "leaf:7");
    assert_eq!(step(&mut target, ResumeMode::Line), "leaf:8");
    // Back in the middle of the line, which continues with the second call.
    assert_eq!(step(&mut target, ResumeMode::Line), "main:25");
    assert_eq!(step(&mut target, ResumeMode::NextLine), "main:26");
    assert_eq!(print(&mut target, "a"), "5");
    assert_eq!(step(&mut target, ResumeMode::NextLine), "main:27");
    assert_eq!(print(&mut target, "f"), "120");
    assert_eq!(step(&mut target, ResumeMode::NextLine), "main:28");
    // The handler runs through.
    assert_eq!(step(&mut target, ResumeMode::NextLine), "main:29");
    assert_eq!(number(&mut target, "handled"), 10);
    // A function without line information runs through, too.
    assert_eq!(step(&mut target, ResumeMode::Line), "main:30");
    let mut seen = Vec::new();
    for _ in 0..7 {
        seen.push(step(&mut target, ResumeMode::NextLine));
    }
    assert_eq!(seen, ["main:31", "main:30", "main:31", "main:30", "main:31", "main:30", "main:32"]);
}

#[test]
fn next_in_recursion_stays_in_frame() {
    let program = program();
    let mut target = program.start();
    let id = stop_at(&mut target, "program.c:12");
    go_to(&mut target, id);
    assert_eq!(print(&mut target, "n"), "5");
    // The breakpoint hits in the inner call.
    assert_eq!(
        target.resume(&ResumeMode::NextLine).unwrap(),
        StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![id] }
    );
    assert_eq!(print(&mut target, "n"), "4");
    target.remove_breakpoint(id).unwrap();
    assert_eq!(step(&mut target, ResumeMode::NextLine), "factorial:13");
    assert_eq!((print(&mut target, "n"), print(&mut target, "rest")), ("4".into(), "6".into()));
    assert_eq!(
        target.resume(&ResumeMode::Finish).unwrap(),
        StopReason::Stepped { returned: Some("24".into()) }
    );
    assert_eq!((at(&mut target), print(&mut target, "n")), ("factorial:12".into(), "5".into()));
    assert_eq!(
        target.resume(&ResumeMode::Finish).unwrap(),
        StopReason::Stepped { returned: Some("120".into()) }
    );
    assert_eq!(at(&mut target), "main:26");
}

#[test]
fn finish_of_outer_frame_and_until_stop() {
    let program = program();
    let mut target = program.start();
    let id = stop_at(&mut target, "program.c:11");
    go_to(&mut target, id);
    target.select_frame(2).unwrap();
    assert_eq!(print(&mut target, "n"), "3");
    assert_eq!(
        target.resume(&ResumeMode::Finish).unwrap(),
        StopReason::Stepped { returned: Some("6".into()) }
    );
    assert_eq!(print(&mut target, "n"), "4");
    target.select_frame(1).unwrap();
    assert_eq!(step(&mut target, ResumeMode::Until("program.c:33".into())), "main:26");
    assert_eq!(step(&mut target, ResumeMode::Until("program.c:33".into())), "main:33");
    let half = stop_at(&mut target, "half");
    go_to(&mut target, half);
    assert_eq!(
        target.resume(&ResumeMode::Finish).unwrap(),
        StopReason::Stepped { returned: Some("2.5".into()) }
    );
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(136)));
}

#[test]
fn instruction_steps_pass_breakpoints() {
    let program = program();
    let mut target = program.start();
    let id = stop_at(&mut target, "leaf");
    go_to(&mut target, id);
    let start = target.frames(1).unwrap()[0].address;
    let mut last = start;
    for _ in 0..6 {
        assert_eq!(target.resume(&ResumeMode::Instruction).unwrap(), StopReason::Stepped { returned: None });
        let now = target.frames(1).unwrap()[0].address;
        assert_ne!(now, last);
        last = now;
    }
    assert!(target.breakpoints()[0].hits == 1);
}

#[test]
fn step_continues_after_events() {
    let program = program();
    let mut target = program.start();
    let id = stop_at(&mut target, "program.c:25");
    go_to(&mut target, id);
    instrument_events(&mut target, &[("leaf", Before, &["n: int"]), ("program.c:7", Before, &["n: int"])]);
    for _ in 0..4 {
        assert_eq!(target.resume(&ResumeMode::NextLine).unwrap(), StopReason::Events);
    }
    assert_eq!(step(&mut target, ResumeMode::NextLine), "main:26");
    // A step that ends at an event: the event first, once, then the end of the step.
    instrument_events(&mut target, &[("program.c:27", Before, &[])]);
    assert_eq!(target.resume(&ResumeMode::NextLine).unwrap(), StopReason::Events);
    assert_eq!(step(&mut target, ResumeMode::NextLine), "main:27");
    assert_eq!(step(&mut target, ResumeMode::NextLine), "main:28");
}

#[test]
fn step_ending_at_breakpoint_is_reported_as_breakpoint() {
    let program = program();
    let mut target = program.start();
    let id = stop_at(&mut target, "program.c:25");
    go_to(&mut target, id);
    let next = stop_at(&mut target, "program.c:26");
    let both = StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![next] };
    assert_eq!(target.resume(&ResumeMode::NextLine).unwrap(), both);
    assert_eq!(step(&mut target, ResumeMode::NextLine), "main:27");
}

#[test]
fn signal_while_stepping_is_delivered() {
    let program = c(
        "#include <signal.h>\nint n, h;\nvoid handler(int s) {\n    h += s;\n}\nint main(void) {\n    signal(SIGUSR1, handler);\n    n = 1;\n    n = 2;\n    n = 3;\n    return h;\n}\n",
        &["-g"],
    );
    let mut target = program.start();
    let id = stop_at(&mut target, "program.c:8");
    go_to(&mut target, id);
    let process = nix::unistd::Pid::from_raw(target.process());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGUSR1).unwrap();
    assert_eq!(step(&mut target, ResumeMode::Line), "main:9");
    assert_eq!(number(&mut target, "h"), 10);
    assert_eq!(step(&mut target, ResumeMode::Line), "main:10");
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(10)));
}

#[test]
fn step_over_last_line_of_main_runs_to_exit() {
    let program = program();
    let mut target = program.start();
    let id = stop_at(&mut target, "program.c:35");
    go_to(&mut target, id);
    let mut stop = target.resume(&ResumeMode::NextLine).unwrap();
    while stop == (StopReason::Stepped { returned: None }) {
        stop = target.resume(&ResumeMode::NextLine).unwrap();
    }
    assert_eq!(stop, StopReason::Ended(Termination::Exited(136)));
}
