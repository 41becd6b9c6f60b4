//! Inspecting and changing monitors while the target is stopped.

use crate::session::common::*;
use invigil_session::{RunOutcome, SessionOptions, SuspendReason};
use invigil_target::Termination;

#[test]
fn changed_state_updates_instrumentation() {
    let mut test = queue(pushing(1, 3), "on entering non-accepting state { suspend_execution() }");
    test.go();
    assert_eq!(test.log.borrow().instrumented.last().unwrap(), &["queue_new"]);
    let slice = test.session.monitor(0).unwrap().slices().iter().last().unwrap();
    test.session.update_monitor(0, |watch| watch.set_state(slice, "queue_ready")).unwrap().unwrap();
    assert_eq!(test.log.borrow().instrumented.last().unwrap(), &["queue_new", "queue_push"]);
    assert_eq!(reasons(&test.go()).len(), 1, "violated again");
}

#[test]
fn step_between_non_accepting_states_is_no_violation() {
    let property = "state init accepting { transition { event queue_push() success bad } }
        state bad non-accepting { transition { event queue_push() success worse } }
        state worse non-accepting";
    let scenario = "on entering non-accepting state { suspend_execution() }";
    let mut test = session(pushing(5, 2), &[("order", property)], &[scenario], SessionOptions::default());
    for expected in [true, false] {
        let RunOutcome::Suspended(reasons) = test.go() else { panic!("no stop") };
        let [SuspendReason::StateChange(change)] = &reasons[..] else { panic!("{reasons:?}") };
        assert_eq!(change.is_violation, expected, "{change}");
    }
    assert_eq!(test.session.violations().len(), 1);
}

#[test]
fn step_by_step_property_suspends_at_every_event() {
    let mut test = queue(pushing(5, 2), "");
    test.session.start().unwrap();
    test.session.update_monitor(0, |watch| watch.step_by_step(true)).unwrap();
    for count in 1..=3 {
        assert_eq!(reasons(&test.go()), ["property 0"]);
        assert_eq!(test.session.event_count(), count);
    }
    assert_eq!(test.go(), RunOutcome::Ended(Termination::Exited(0)));
}

#[test]
fn find_property_accepts_names_and_numbers() {
    let other = "state init accepting { transition { event queue_new() success init } }";
    let properties = [("queue", QUEUE), ("other", other)];
    let mut test = session(pushing(5, 2), &properties, &[], SessionOptions::default());
    assert_eq!(test.session.find_property("other").unwrap(), 1);
    assert_eq!(test.session.find_property("1").unwrap(), 0);
    assert_eq!(
        test.session.find_property("quee").unwrap_err().to_string(),
        "there is no property `quee`: did you mean `queue`?"
    );
    assert_eq!(test.session.current_property(), 0);
    test.session.set_current_property(1).unwrap();
    assert_eq!(test.session.current_property(), 1);
    assert!(test.session.set_current_property(2).is_err());
}
