//! Errors are reported and do not end what can continue.

use crate::session::common::*;
use crate::session::fake_target::{Arg, Op};
use invigil_session::{CommandRunner, RunOutcome, Session, SessionOptions, StartError, SuspendReason};
use invigil_target::{ResumeMode, TargetError, Termination};

#[test]
fn unresolved_events_prevent_start_unless_pending() {
    let property = "state init { transition { event queue_psh(queue) success init }
        transition { event lib_open() success init } }";
    let mut test = session(pushing(1, 1), &[("p", property)], &[""], SessionOptions::default());
    let Err(StartError::Unresolved(unknown)) = test.session.start() else { panic!("it has no queue_psh") };
    assert_eq!(unknown.len(), 1, "lib_open may come");
    assert_eq!(
        StartError::Unresolved(unknown).to_string(),
        "there is no function `queue_psh`: did you mean `queue_push`?"
    );
    let pending = "state init { transition { event lib_open() success init } }";
    let mut test = session(pushing(1, 1), &[("p", pending)], &[""], SessionOptions::default());
    assert_eq!(test.session.start().unwrap().pending.len(), 1);
}

#[test]
fn property_fault_ends_only_its_monitor() {
    let failing = "initialization { n = 1 }\nstate init accepting {
        transition { event queue_push(c) { return 1 // (n - c) == 0 } success init failure init } }";
    let properties = [("failing", failing), ("queue", QUEUE)];
    let scenario = "on entering non-accepting state { suspend_execution() }";
    let mut test = session(pushing(3, 9), &properties, &[scenario], SessionOptions::default());
    let outcome = test.go();
    assert_eq!(reasons(&outcome), ["property 0 failed: division by zero"]);
    let RunOutcome::Suspended(reasons_) = &outcome else { unreachable!() };
    let SuspendReason::PropertyFailed { failure, .. } = &reasons_[0] else { panic!("{outcome:?}") };
    let span = failure.span.unwrap();
    assert_eq!(&failing[span.start as usize..span.end as usize], "1 // (n - c)");
    assert_eq!(reasons(&test.go()), ["1: queue_ready -> sink (non-accepting) for queue = 7 at 5"]);
    let report = test.session.report();
    assert_eq!(report.properties[0].failure.as_ref().unwrap().1.as_ref().unwrap().index, 3);
}

#[test]
fn scenario_fault_suspends_with_span() {
    let scenario = "on entering state queue_ready { x = value(\"nothing\") }
        on entering accepting state { print(\"still\") }";
    let mut test = queue(pushing(3, 1), scenario);
    let outcome = test.go();
    assert_eq!(reasons(&outcome), ["scenario 0 failed: there is no variable `nothing`"]);
    let RunOutcome::Suspended(all) = outcome else { unreachable!() };
    let SuspendReason::ScenarioFailed { failure, .. } = &all[0] else { unreachable!() };
    let span = failure.span.unwrap();
    assert_eq!(&scenario[span.start as usize..span.end as usize], "value(\"nothing\")");
    assert_eq!(test.take(), ["scenario 0: still", "scenario 0: still"], "the other reaction ran");
}

#[test]
fn scenario_functions_reject_invalid_arguments() {
    for (call, words) in [
        ("restore(9)", "there is no checkpoint 9: there is none"),
        ("restore('a')", "expected a number, or a list of numbers, found str"),
        ("forget_checkpoint(-1)", "there is no checkpoint or breakpoint -1"),
        ("set_breakpoint('nowhere')", "there is no location `nowhere`"),
        ("set_watchpoint('i', 'x')", "unknown access mode `x`: use \"w\", \"r\" or \"rw\""),
        ("unset_breakpoint(4)", "there is no breakpoint 4"),
        ("debugger('info')", "`info` cannot be run: there is no prompt"),
        ("value(3)", "expected a string, found int"),
        ("checkpoint_get_id([])", "expected a number, or a list of numbers, found list"),
        ("print(missing)", "missing is read before it is assigned"),
    ] {
        let scenario = format!("on leaving state init {{ {call} }}\non leaving state sink {{ missing = 1 }}");
        let mut test = queue(pushing(1, 1), &scenario);
        assert_eq!(reasons(&test.go()), [format!("scenario 0 failed: {words}")], "{call}");
    }
}

#[test]
fn endless_block_is_stopped() {
    let mut test = queue(pushing(1, 1), "on leaving state init { while True: pass }");
    let all = reasons(&test.go());
    assert!(all[0].contains("a million steps"), "{all:?}");
}

struct Prompt;

impl CommandRunner for Prompt {
    fn command(&mut self, session: &mut Session, command: &str) -> Result<String, String> {
        match command {
            "events" => Ok(format!("{} events, and this is a long answer", session.event_count())),
            "continue" => match session.run(&ResumeMode::Continue) {
                Err(TargetError::Request(words)) => Err(words),
                other => panic!("{other:?}"),
            },
            other => Err(format!("there is no command `{other}`")),
        }
    }
}

#[test]
fn blocks_run_prompt_commands_but_not_the_target() {
    let scenario = "on leaving state init { print(debugger('events'))\ndebugger('continue') }";
    let mut test = queue(pushing(1, 1), scenario);
    test.session.set_command_runner(Box::new(Prompt));
    let words =
        "a block of a scenario cannot run the program: the program continues when the block has ended";
    assert_eq!(reasons(&test.go()), [format!("scenario 0 failed: {words}")]);
    assert_eq!(test.take(), ["scenario 0: 1 events, and this is a long answer"]);

    let property = "state init { transition { event queue_push(c) success { debugger('events') } init } }";
    let mut test = session(pushing(1, 1), &[("p", property)], &[""], SessionOptions::default());
    test.session.set_command_runner(Box::new(Prompt));
    test.go();
    assert_eq!(test.take(), ["session: 1 events, and this is a long answer"]);
}

#[test]
fn control_error_of_target_is_returned() {
    let mut test = queue(vec![Op::Call("queue_new", vec![]), Op::Call("queue_push", vec![]), Op::Break], "");
    let error = test.session.run(&ResumeMode::Continue).unwrap_err();
    assert_eq!(error, TargetError::Control("the program cannot be controlled any more".into()));
}

#[test]
fn missing_parameter_is_reported_once() {
    let mut ops = pushing(3, 3);
    ops[2] = Op::Call("queue_push", vec![("queue", Arg::Unknown)]);
    let mut test = queue(ops, "");
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
    assert_eq!(
        test.take(),
        ["session: `queue` of `queue_push` is not available: property `queue` skips these events"]
    );
    assert_eq!(test.session.report().properties[0].skipped[0].count, 3);
}

#[test]
fn restore_that_loses_target_ends_session() {
    let scenario = "on entering non-accepting state { suspend_execution() }";
    let mut test = queue(pushing(2, 9), scenario);
    test.session.start().unwrap();
    let first = test.session.take_checkpoint("first").unwrap();
    let second = test.session.take_checkpoint("second").unwrap();
    test.log.borrow_mut().restores_kill = true;
    assert_eq!(test.session.restore_checkpoint(first).unwrap_err().to_string(), "the copy is lost");
    let left: Vec<u32> = test.session.checkpoints().iter().map(|checkpoint| checkpoint.id).collect();
    assert_eq!(left, [second]);
    assert!(test.session.run(&ResumeMode::Continue).is_err(), "there is nothing to run");
    assert!(test.session.report().has_ended);
    test.log.borrow_mut().restores_kill = false;
    test.session.restore_checkpoint(second).unwrap();
    assert_eq!(reasons(&test.go()), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 4"]);
}
