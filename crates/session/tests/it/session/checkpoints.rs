//! Checkpoints of the target and the monitors together.

use crate::session::common::*;
use crate::session::fake_target::Op;
use invigil_session::{RunOutcome, SessionOptions};
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, Termination};

#[test]
fn restore_affects_target_and_monitors_but_not_scenario_variables() {
    let scenario = r#"
        initialization { runs = 0
            saved = None }
        on entering state queue_ready {
            if saved is None:
                saved = checkpoint()
        }
        on entering non-accepting state {
            runs += 1
            if runs < 3:
                restore(saved)
            else:
                suspend_execution()
        }
    "#;
    let mut test = queue(pushing(2, 9), scenario);
    let outcome = test.go();
    assert_eq!(reasons(&outcome), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 4"]);
    assert_eq!(test.session.checkpoints()[0].restore_count, 2);
    assert_eq!(test.session.event_count(), 4);
    assert_eq!(test.value("i"), "2");
    let variables = test.session.scenario_variables();
    assert!(variables[0].1.contains(&("runs".into(), "3".into())), "{variables:?}");
    // The event at which the checkpoint was taken does not occur again.
    let names: Vec<String> = test.session.events(1..=4).iter().map(|past| past.event.to_string()).collect();
    assert_eq!(names[0], "queue_new(queue=7, size=2)");
    assert_eq!(names[1..], ["queue_push(queue=7)"; 3].map(String::from));
    // The first two of three violations are undone.
    let undone: Vec<bool> = test.session.violations().iter().map(|violation| violation.undone).collect();
    assert_eq!(undone, [true, true, false]);
}

#[test]
fn restore_drops_remaining_changes_of_the_stop() {
    let scenario = r#"
        initialization { first = True
            here = 0
            def done():
                print("deferred") }
        on entering initial state { here = checkpoint() }
        on entering state sink {
            if first:
                first = False
                after_breakpoint(done)
                restore(here)
                print("the block ends as it is written")
        }
        on entering non-accepting state { print("second reaction")
            suspend_execution() }
    "#;
    let mut test = queue(pushing(1, 9), scenario);
    assert_eq!(reasons(&test.go()).len(), 1);
    assert_eq!(
        test.take(),
        [
            "scenario 0: the block ends as it is written",
            "scenario 0: deferred",
            "scenario 0: second reaction"
        ]
    );
    assert_eq!(test.log.borrow().restored.len(), 1);
}

#[test]
fn restore_keeps_user_breakpoints_and_restores_instrumentation() {
    let mut test = queue(pushing(1, 9), "on entering non-accepting state { suspend_execution() }");
    test.session.start().unwrap();
    let start = test.session.take_checkpoint("start").unwrap();
    test.go();
    assert_eq!(test.log.borrow().instrumented.last().unwrap(), &["queue_new"]);
    let spec = BreakpointSpec::new(BreakpointKind::Location("prog:3".into()));
    let point = test.session.target().set_breakpoint(Owner::User, &spec).unwrap();
    test.session.restore_checkpoint(start).unwrap();
    assert_eq!(test.states(0), ["init"]);
    assert_eq!(test.session.event_count(), 0);
    assert_eq!(test.go(), RunOutcome::Breakpoints(vec![point]), "it stayed");
    assert_eq!(test.session.event_count(), 2, "events happen again");
}

#[test]
fn restore_revives_ended_target() {
    let mut test = queue(pushing(1, 2), "");
    test.session.start().unwrap();
    let start = test.session.take_checkpoint("").unwrap();
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
    assert!(test.session.take_checkpoint("").is_err());
    test.session.restore_checkpoint(start).unwrap();
    assert!(test.session.is_running());
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
}

#[test]
fn checkpoints_form_a_tree() {
    let mut test = queue(pushing(1, 9), "");
    test.session.start().unwrap();
    let parents = |test: &mut Test| -> Vec<(u32, Option<u32>)> {
        test.session.checkpoints().iter().map(|c| (c.id, c.parent)).collect()
    };
    for label in ["a", "b", "c"] {
        test.session.take_checkpoint(label).unwrap();
    }
    test.session.restore_checkpoint(1).unwrap();
    test.session.take_checkpoint("d").unwrap();
    assert_eq!(parents(&mut test), [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1))]);
    assert_eq!(test.session.current_checkpoint(), Some(4));
    test.session.drop_checkpoint(2).unwrap();
    assert_eq!(parents(&mut test), [(1, None), (3, Some(1)), (4, Some(1))]);
    test.session.drop_checkpoint(1).unwrap();
    assert_eq!(parents(&mut test), [(3, None), (4, None)]);
    let error = test.session.restore_checkpoint(2).unwrap_err().to_string();
    assert_eq!(error, "there is no checkpoint 2: there are 3, 4");
}

#[test]
fn only_automatic_checkpoints_are_dropped_at_the_limit() {
    let options =
        SessionOptions { max_checkpoints: 3, auto_checkpoint: Some(2), ..SessionOptions::default() };
    let mut test = session(pushing(99, 9), &[("queue", QUEUE)], &[""], options);
    test.session.start().unwrap();
    let mine = test.session.take_checkpoint("mine").unwrap();
    test.go();
    let all = test.session.checkpoints();
    let reported: Vec<_> = all.iter().map(|c| (c.id, c.automatic, c.event_count)).collect();
    assert_eq!(reported, [(mine, false, 0), (5, true, 8), (6, true, 10)]);

    let options = SessionOptions { max_checkpoints: 2, ..SessionOptions::default() };
    let mut test = session(pushing(99, 9), &[("queue", QUEUE)], &[""], options);
    test.session.start().unwrap();
    test.session.take_checkpoint("").unwrap();
    test.session.take_checkpoint("").unwrap();
    let error = test.session.take_checkpoint("").unwrap_err().to_string();
    assert_eq!(error, "there are 2 checkpoints already: delete one first");
}

#[test]
fn checkpoints_stay_within_memory_limit() {
    let options = SessionOptions {
        max_checkpoint_memory: 4 << 20,
        auto_checkpoint: Some(1),
        ..SessionOptions::default()
    };
    let mut test = session(pushing(99, 9), &[("queue", QUEUE)], &[""], options);
    test.log.borrow_mut().checkpoint_memory = 1 << 20;
    test.go();
    let all = test.session.checkpoints();
    assert_eq!(all.iter().map(|c| c.event_count).collect::<Vec<_>>(), [8, 9, 10]);
    assert!(all[0].memory > 1 << 20, "monitors take memory too");

    let options = SessionOptions { max_checkpoint_memory: 4 << 20, ..SessionOptions::default() };
    let mut test = session(vec![Op::Set("i", 0)], &[], &[""], options);
    test.log.borrow_mut().checkpoint_memory = 3 << 20;
    test.session.start().unwrap();
    test.session.take_checkpoint("").unwrap();
    assert_eq!(
        test.session.take_checkpoint("").unwrap_err().to_string(),
        "checkpoints take more than 4 MiB: delete one first"
    );
    assert_eq!(test.session.checkpoints().len(), 1);
}

#[test]
fn failed_checkpoint_is_reported() {
    let scenario = r#"
        initialization { problem = "" }
        on entering state queue_ready {
            try:
                checkpoint()
            except ValueError:
                print("no checkpoint")
        }
        on entering state sink { checkpoint() }
    "#;
    let mut test = queue(pushing(0, 9), scenario);
    test.log.borrow_mut().no_checkpoints = true;
    assert_eq!(reasons(&test.go()), ["scenario 0 failed: the program has several threads"]);
    assert_eq!(test.take(), ["scenario 0: no checkpoint"]);

    let options = SessionOptions { auto_checkpoint: Some(1), ..SessionOptions::default() };
    let mut test = session(pushing(9, 9), &[("queue", QUEUE)], &[""], options);
    test.log.borrow_mut().no_checkpoints = true;
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
    assert_eq!(
        test.take(),
        ["session: no more checkpoints are taken automatically: the program has several threads"]
    );
}
