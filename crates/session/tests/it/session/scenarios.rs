//! Scenarios: when they react, and what their blocks can do.

use crate::session::common::*;
use crate::session::fake_target::{Arg, Op};
use invigil_session::{RunOutcome, SessionOptions};
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode, Termination};

#[test]
fn default_scenario_suspends_at_violation() {
    let mut test = session(pushing(3, 9), &[("queue", QUEUE)], &[], SessionOptions::default());
    let outcome = test.go();
    assert_eq!(reasons(&outcome), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 5"]);
    assert_eq!((test.value("i"), test.value("pc")), ("3".into(), "2".into()));
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
    assert!(test.session.run(&ResumeMode::Continue).is_err(), "it is over");
}

#[test]
fn empty_scenario_never_suspends() {
    let mut test = queue(pushing(3, 9), "# nothing\n");
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
    assert_eq!(test.states(0), ["init", "sink"]);
}

/// The generic scenario of [Jakse 2019, figure 5.7] as printed, with the missing initialization of its list.
const GENERIC: &str = r#"
initialization {
    c = []
}

on entering accepting state {
    print("Scenario: a new state has been reached:" +
        old_state + " -> " + new_state)
    c.append(checkpoint())

    def called_when_checkpoint_ready():
        cid = checkpoint_get_id(c)
        print(
            " *** Checkpoint:", cid,
            "\n *** To restore, type verde checkpoint-restart", cid
        )

    after_breakpoint(called_when_checkpoint_ready)
}

on entering non-accepting state {
    print("Scenario: a non-accepting state has been reached! (" +
        old_state + " -> " + new_state + ")")
    suspend_execution()
}
"#;

#[test]
fn generic_scenario_of_jakse_2019_behaves_as_published() {
    let mut test = queue(pushing(1, 9), GENERIC);
    let outcome = test.go();
    assert_eq!(reasons(&outcome), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 3"]);
    let checkpoint = |n: u32| {
        format!("scenario 0:  *** Checkpoint: {n} \n *** To restore, type verde checkpoint-restart {n}")
    };
    let reached =
        |from: &str, to: &str| format!("scenario 0: Scenario: a new state has been reached:{from} -> {to}");
    assert_eq!(
        test.take(),
        [
            reached("", "init"),
            checkpoint(1),
            reached("init", "queue_ready"),
            checkpoint(2),
            // A self-loop enters its state again.
            reached("queue_ready", "queue_ready"),
            checkpoint(3),
            "scenario 0: Scenario: a non-accepting state has been reached! (queue_ready -> sink)".into(),
        ]
    );
    let all = test.session.checkpoints();
    let reported: Vec<_> = all.iter().map(|c| (c.id, c.parent, c.event_count, c.location.as_str())).collect();
    assert_eq!(
        reported,
        [
            (1, None, 0, "queue_new (prog:0)"),
            (2, Some(1), 1, "queue_new (prog:0)"),
            (3, Some(2), 2, "queue_push (prog:2)")
        ]
    );
}

#[test]
fn reactions_run_in_file_order_and_self_loops_count() {
    let scenario = r#"
        on entering state queue_ready { print("1 entering", old_state, new_state) }
        on leaving state queue_ready { print("2 leaving", old_state, new_state) }
        on entering accepting state { print("3 accepting") }
        on leaving initial state { print("4 initial") }
        on leaving accepting state { print("5 leaving accepting") }
        on entering state queue_ready of queue { print("6", property, slice) }
        on entering initial state { print("7 at first", repr(old_state), new_state) }
    "#;
    let mut test = queue(pushing(2, 1), scenario);
    test.session.start().unwrap();
    assert_eq!(test.take(), ["scenario 0: 3 accepting", "scenario 0: 7 at first '' init"]);
    test.go();
    let short: Vec<String> = test.take().iter().map(|line| line.replace("scenario 0: ", "")).collect();
    assert_eq!(
        short,
        [
            "1 entering init queue_ready",
            "3 accepting",
            "4 initial",
            "5 leaving accepting",
            "6 queue queue = 7",
            "1 entering queue_ready queue_ready",
            "2 leaving queue_ready queue_ready",
            "3 accepting",
            "5 leaving accepting",
            "6 queue queue = 7",
        ]
    );
}

#[test]
fn variables_persist_across_blocks_and_functions() {
    let scenario = r#"
        initialization {
            count = 0
            def twice(n):
                return 2 * n
            def more():
                global count
                count = count + 1
        }
        on entering state queue_ready {
            more()
            last = new_state
            print(twice(count), last)
        }
        on entering state sink { print("last was", last) }
    "#;
    let mut test = queue(pushing(1, 2), scenario);
    test.go();
    let said = test.take();
    assert_eq!(
        said,
        ["scenario 0: 2 queue_ready", "scenario 0: 4 queue_ready", "scenario 0: last was queue_ready"]
    );
    let variables = &test.session.scenario_variables()[0].1;
    assert!(variables.contains(&("count".into(), "2".into())), "{variables:?}");
}

#[test]
fn scenario_breakpoints_call_their_functions() {
    let scenario = r#"
        initialization {
            hits = []
            def pushed(point):
                hits.append(value("i"))
                print("at", point, "i is", value("i"), value("title"))
                if len(hits) == 2:
                    unset_breakpoint(point)
                    set_watchpoint("i", "w", written)
            def written():
                print("i will change from", value("i"))
                suspend_execution()
        }
        on entering state queue_ready {
            if old_state == "init":
                set_breakpoint("queue_push", pushed)
        }
    "#;
    let mut test = queue(pushing(9, 4), scenario);
    assert_eq!(reasons(&test.go()), ["point 2"]);
    let long = "a text that is longer than a value";
    assert_eq!(
        test.take(),
        [
            format!("scenario 0: at 1 i is 0 {long}"),
            format!("scenario 0: at 1 i is 1 {long}"),
            "scenario 0: i will change from 1".to_owned()
        ]
    );
    let points = test.session.target().breakpoints();
    assert_eq!(points.len(), 1);
    assert_eq!(points[0].owner, Owner::Scenario);
}

#[test]
fn scenario_breakpoint_without_function_suspends() {
    let mut test = queue(pushing(9, 4), "initialization { set_breakpoint(\"queue_push\") }");
    assert_eq!(reasons(&test.go()), ["point 1"]);
}

#[test]
fn user_breakpoints_precede_events() {
    let mut test = queue(pushing(1, 4), "on entering non-accepting state { suspend_execution() }");
    let spec = BreakpointSpec::new(BreakpointKind::Location("queue_push".into()));
    let point = test.session.target().set_breakpoint(Owner::User, &spec).unwrap();
    assert_eq!(test.go(), RunOutcome::Breakpoints(vec![point]));
    assert_eq!(test.session.event_count(), 1, "the event is still to come");
    assert_eq!(test.go(), RunOutcome::Breakpoints(vec![point]));
    assert_eq!(test.session.event_count(), 2);
    assert_eq!(reasons(&test.go()), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 3"]);
}

#[test]
fn repeated_suspend_has_no_further_effect() {
    let scenario = "on entering non-accepting state { suspend_execution()\nsuspend_execution() }
        on entering state sink { suspend_execution() }";
    let mut test = queue(pushing(1, 9), scenario);
    assert_eq!(reasons(&test.go()).len(), 1);
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
}

#[test]
fn all_properties_follow_an_event_before_reactions() {
    let even = "initialization { n = 0 }\nstate init accepting {
        transition { event queue_push(c) { return n < 2 } success { n = n + 1\nprint('n', n) } init failure odd } }
        state odd non-accepting";
    let scenario = r#"
        on entering non-accepting state { print(property, new_state, slice)
            suspend_execution() }
        on entering state init of even { print("again") }
    "#;
    let properties = [("queue", QUEUE), ("even", even)];
    let mut test = session(pushing(2, 9), &properties, &[scenario], SessionOptions::default());
    let outcome = test.go();
    assert_eq!(
        reasons(&outcome),
        ["0: queue_ready -> sink (non-accepting) for queue = 7 at 4", "1: init -> odd (non-accepting) at 4"]
    );
    assert_eq!(
        test.take(),
        [
            "scenario 0: again",
            "property 1: n 1",
            "scenario 0: again",
            "property 1: n 2",
            "scenario 0: again",
            "scenario 0: queue sink queue = 7",
            "scenario 0: even odd ",
        ]
    );
}

#[test]
fn events_at_one_location_occur_in_catalog_order() {
    let property = "initialization { seen = [] }\nstate init {
        transition { event queue_push(c) success { seen.append('push')\nprint(seen) } init }
        transition { event prog:2 success { seen.append('line')\nprint(seen) } init } }";
    let mut test = session(pushing(9, 2), &[("both", property)], &[""], SessionOptions::default());
    test.go();
    assert_eq!(
        test.take(),
        [
            "property 0: ['push']",
            "property 0: ['push', 'line']",
            "property 0: ['push', 'line', 'push']",
            "property 0: ['push', 'line', 'push', 'line']"
        ]
    );
}

#[test]
fn only_needed_events_are_instrumented() {
    let mut test = queue(pushing(2, 9), "");
    test.go();
    let log = test.log.borrow();
    let asked: Vec<Vec<&str>> =
        log.instrumented.iter().map(|set| set.iter().map(String::as_str).collect()).collect();
    assert_eq!(asked, [vec!["queue_new"], vec!["queue_new", "queue_push"], vec!["queue_new"]]);
}

#[test]
fn stop_execution_kills_target() {
    let mut test = queue(pushing(1, 9), "on entering state sink { stop_execution() }");
    assert_eq!(test.go(), RunOutcome::KilledOnRequest);
    assert!(test.log.borrow().killed && !test.session.is_running());
}

#[test]
fn deferred_functions_run_after_reactions_and_nested_ones_at_next_stop() {
    let scenario = r#"
        initialization {
            def later():
                print("later", old_state, new_state)
                after_breakpoint(next_time)
            def next_time():
                print("next time")
        }
        on entering state queue_ready {
            if old_state == "init":
                after_breakpoint(later)
            print("first", new_state)
        }
        on entering accepting state { print("second", new_state) }
    "#;
    let mut test = queue(pushing(5, 1), scenario);
    test.go();
    assert_eq!(
        test.take(),
        [
            "scenario 0: second init",
            "scenario 0: first queue_ready",
            "scenario 0: second queue_ready",
            "scenario 0: later init queue_ready",
            "scenario 0: first queue_ready",
            "scenario 0: second queue_ready",
            "scenario 0: next time"
        ]
    );
}

#[test]
fn slice_label_of_immediately_dropped_slice_is_complete() {
    let property = "slice on file\nstate init accepting { transition { event close(file) success closed } }
        state closed accepting final";
    let ops = vec![
        Op::Call("close", vec![("file", Arg::Number(3))]),
        Op::Call("close", vec![("file", Arg::Text("a name longer than fourteen bytes"))]),
    ];
    let scenario = "on entering state closed { print(slice) }";
    let mut test = session(ops, &[("files", property)], &[scenario], SessionOptions::default());
    test.go();
    assert_eq!(
        test.take(),
        ["scenario 0: file = 3", "scenario 0: file = 'a name longer than fourteen bytes'"]
    );
}

#[test]
fn steps_continue_across_events() {
    let mut test = queue(pushing(9, 2), "");
    let step = |test: &mut Test| test.session.run(&ResumeMode::Instruction).unwrap();
    assert_eq!(step(&mut test), RunOutcome::Stepped { returned: None });
    assert_eq!((test.value("pc"), test.session.event_count()), ("1".into(), 1));
    step(&mut test);
    step(&mut test);
    assert_eq!((test.value("pc"), test.session.event_count()), ("3".into(), 2));
}

#[test]
fn interrupts_and_signals_are_returned() {
    let mut test =
        queue(vec![Op::Call("queue_new", vec![]), Op::Call("queue_push", vec![]), Op::Signal("SIGSEGV")], "");
    let interrupter = test.session.target().interrupter();
    interrupter.interrupt();
    assert_eq!(test.go(), RunOutcome::Interrupted);
    assert_eq!(test.go(), RunOutcome::Signal { name: "SIGSEGV".into(), detail: String::new() });
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
}
