//! What goes wrong is told, and ends nothing that could go on.

use crate::common::*;
use crate::fake::{Arg, Op};
use invigil_session::subject::{Ending, Resume, Trouble};
use invigil_session::{Commander, Options, Outcome, Reason, Session, StartError};

#[test]
fn events_that_the_program_does_not_have() {
    let property = "state init { transition { event queue_psh(queue) success init }
        transition { event lib_open() success init } }";
    let mut test = session(pushing(1, 1), &[("p", property)], &[""], Options::default());
    let Err(StartError::Unknown(unknown)) = test.session.start() else { panic!("it has no queue_psh") };
    assert_eq!(unknown.len(), 1, "lib_open may come");
    assert_eq!(
        StartError::Unknown(unknown).to_string(),
        "there is no function `queue_psh`: did you mean `queue_push`?"
    );
    let pending = "state init { transition { event lib_open() success init } }";
    let mut test = session(pushing(1, 1), &[("p", pending)], &[""], Options::default());
    assert_eq!(test.session.start().unwrap().pending.len(), 1);
}

#[test]
fn a_block_of_a_property_that_fails_ends_its_monitor_only() {
    let failing = "initialization { n = 1 }\nstate init accepting {
        transition { event queue_push(c) { return 1 // (n - c) == 0 } success init failure init } }";
    let properties = [("failing", failing), ("queue", QUEUE)];
    let scenario = "on entering non-accepting state { suspend_execution() }";
    let mut test = session(pushing(3, 9), &properties, &[scenario], Options::default());
    let outcome = test.go();
    assert_eq!(reasons(&outcome), ["property 0 failed: division by zero"]);
    let Outcome::Suspended(reasons_) = &outcome else { unreachable!() };
    let Reason::PropertyFailed { failure, .. } = &reasons_[0] else { panic!("{outcome:?}") };
    let span = failure.span.unwrap();
    assert_eq!(&failing[span.start as usize..span.end as usize], "1 // (n - c)");
    assert_eq!(reasons(&test.go()), ["1: queue_ready -> sink (non-accepting) for queue = 7 at 5"]);
    let report = test.session.report();
    assert_eq!(report.properties[0].failure.as_ref().unwrap().1.as_ref().unwrap().index, 3);
}

#[test]
fn a_block_of_a_scenario_that_fails_suspends_and_points_into_it() {
    let scenario = "on entering state queue_ready { x = value(\"nothing\") }
        on entering accepting state { print(\"still\") }";
    let mut test = queue(pushing(3, 1), scenario);
    let outcome = test.go();
    assert_eq!(reasons(&outcome), ["scenario 0 failed: there is no variable `nothing`"]);
    let Outcome::Suspended(all) = outcome else { unreachable!() };
    let Reason::ScenarioFailed { failure, .. } = &all[0] else { unreachable!() };
    let span = failure.span.unwrap();
    assert_eq!(&scenario[span.start as usize..span.end as usize], "value(\"nothing\")");
    assert_eq!(test.take(), ["scenario 0: still", "scenario 0: still"], "the other reaction ran");
}

#[test]
fn faults_of_the_functions() {
    for (call, words) in [
        ("restore(9)", "there is no checkpoint 9: there is none"),
        ("restore('a')", "expected a number, or a list of numbers, found str"),
        ("forget_checkpoint(-1)", "there is no number -1"),
        ("set_breakpoint('nowhere')", "there is no place `nowhere`"),
        ("set_watchpoint('i', 'x')", "`x` is no kind of access: there are \"w\", \"r\" and \"rw\""),
        ("unset_breakpoint(4)", "there is no point 4"),
        ("debugger('info')", "there is no prompt here to run `info`"),
        ("value(3)", "expected a string, found int"),
        ("checkpoint_get_id([])", "expected a number, or a list of numbers, found list"),
        ("print(missing)", "nothing was assigned to missing before it is read here"),
    ] {
        let scenario = format!("on leaving state init {{ {call} }}\non leaving state sink {{ missing = 1 }}");
        let mut test = queue(pushing(1, 1), &scenario);
        assert_eq!(reasons(&test.go()), [format!("scenario 0 failed: {words}")], "{call}");
    }
}

#[test]
fn a_block_that_does_not_end_is_stopped() {
    let mut test = queue(pushing(1, 1), "on leaving state init { while True: pass }");
    let all = reasons(&test.go());
    assert!(all[0].contains("does not end"), "{all:?}");
}

struct Prompt;

impl Commander for Prompt {
    fn command(&mut self, session: &mut Session, command: &str) -> Result<String, String> {
        match command {
            "events" => Ok(format!("{} events, and this is a long answer", session.event_count())),
            "continue" => match session.run(&Resume::Continue) {
                Err(Trouble::Request(words)) => Err(words),
                other => panic!("{other:?}"),
            },
            other => Err(format!("there is no command `{other}`")),
        }
    }
}

#[test]
fn commands_of_the_prompt() {
    let scenario = "on leaving state init { print(debugger('events'))\ndebugger('continue') }";
    let mut test = queue(pushing(1, 1), scenario);
    test.session.set_commander(Box::new(Prompt));
    let words = "a block of a scenario cannot run the program: the program goes on when the block has ended";
    assert_eq!(reasons(&test.go()), [format!("scenario 0 failed: {words}")]);
    assert_eq!(test.take(), ["scenario 0: 1 events, and this is a long answer"]);

    let property = "state init { transition { event queue_push(c) success { debugger('events') } init } }";
    let mut test = session(pushing(1, 1), &[("p", property)], &[""], Options::default());
    test.session.set_commander(Box::new(Prompt));
    test.go();
    assert_eq!(test.take(), ["session: 1 events, and this is a long answer"]);
}

#[test]
fn a_program_that_breaks_in_the_middle() {
    let mut test = queue(vec![Op::Call("queue_new", vec![]), Op::Call("queue_push", vec![]), Op::Break], "");
    let trouble = test.session.run(&Resume::Continue).unwrap_err();
    assert_eq!(trouble, Trouble::Subject("the program cannot be controlled any more".into()));
}

#[test]
fn a_parameter_that_the_program_does_not_tell_is_told_once() {
    let mut ops = pushing(3, 3);
    ops[2] = Op::Call("queue_push", vec![("queue", Arg::Unknown)]);
    let mut test = queue(ops, "");
    assert_eq!(test.go(), Outcome::Ended(Ending::Exited(0)));
    assert_eq!(
        test.take(),
        ["session: the program does not tell `queue` of `queue_push`: property `queue` skips such events"]
    );
    assert_eq!(test.session.report().properties[0].missing[0].count, 3);
}

#[test]
fn a_restore_that_costs_the_program_ends_the_session() {
    let scenario = "on entering non-accepting state { suspend_execution() }";
    let mut test = queue(pushing(2, 9), scenario);
    test.session.start().unwrap();
    let first = test.session.checkpoint("first").unwrap();
    let second = test.session.checkpoint("second").unwrap();
    test.log.borrow_mut().restores_kill = true;
    assert_eq!(test.session.restore(first).unwrap_err().to_string(), "the copy is lost");
    let left: Vec<u32> = test.session.checkpoints().iter().map(|checkpoint| checkpoint.id).collect();
    assert_eq!(left, [second]);
    assert!(test.session.run(&Resume::Continue).is_err(), "there is nothing to run");
    assert!(test.session.report().is_over);
    test.log.borrow_mut().restores_kill = false;
    test.session.restore(second).unwrap();
    assert_eq!(reasons(&test.go()), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 4"]);
}
