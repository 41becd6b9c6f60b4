//! Reverse execution to earlier events.

use crate::session::common::*;
use crate::session::fake_target::{Arg, Op};
use invigil_session::{RunOutcome, SessionOptions};

fn automatic(ops: Vec<Op>, scenario: &str, every: u64) -> Test {
    let options = SessionOptions { auto_checkpoint: Some(every), ..SessionOptions::default() };
    session(ops, &[("queue", QUEUE)], &[scenario], options)
}

#[test]
fn reverse_reaches_any_event() {
    let scenario = "on entering state sink { print('sink')\nsuspend_execution() }";
    let mut test = automatic(pushing(6, 9), scenario, 3);
    test.go();
    assert_eq!(test.session.event_count(), 8);
    let at_end = test.session.events(1..=8);
    for number in [7, 5, 3, 0] {
        let back = test.session.reverse_to(number).unwrap();
        assert_eq!((back.event, &back.divergence, &back.stopped), (number, &None, &None));
        assert_eq!(test.session.events(1..=99), at_end[..number as usize]);
        if number >= 2 {
            assert_eq!(test.value("i"), (number - 2).to_string());
            assert_eq!(test.value("pc"), "2");
        }
    }
    test.take();
    // From there the run continues as before, with reactions.
    assert_eq!(reasons(&test.go()), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 8"]);
    assert_eq!(test.take(), ["scenario 0: sink"]);
    assert_eq!(test.session.events(1..=8), at_end);
}

#[test]
fn reverse_rejects_future_events_and_missing_checkpoints() {
    let mut test = queue(pushing(1, 9), "on entering state sink { suspend_execution() }");
    test.go();
    assert_eq!(
        test.session.reverse_to(9).unwrap_err().to_string(),
        "event 9 has not happened yet: there were 3"
    );
    let words = test.session.reverse_to(2).unwrap_err().to_string();
    assert!(words.starts_with("there is no checkpoint before event 2"), "{words}");
}

#[test]
fn reverse_reports_divergence() {
    let property = "state init accepting { transition { event step(n) success init } }";
    let ops = vec![
        Op::Call("step", vec![("n", Arg::Number(1))]),
        Op::Noise("x"),
        Op::Call("step", vec![("n", Arg::Variable("x"))]),
        Op::Call("step", vec![("n", Arg::Number(3))]),
    ];
    let options = SessionOptions { auto_checkpoint: Some(100), ..SessionOptions::default() };
    let property = property.replace("success", "{ y = n } success");
    let mut test = session(ops, &[("steps", &property)], &[""], options);
    test.go();
    let back = test.session.reverse_to(3).unwrap();
    let divergence = back.divergence.expect("the second event has another number");
    assert_eq!(
        (divergence.expected.to_string(), divergence.found.to_string()),
        ("step(n=1)".into(), "step(n=2)".into())
    );
    assert_eq!((divergence.found.index, back.event), (2, 3));
}

#[test]
fn reverse_reports_what_stopped_it() {
    let property = "state init accepting { transition { event step(n) success init } }";
    // The first run loops; later runs end immediately.
    let ops = vec![
        Op::Noise("x"),
        Op::JumpIfLess("x", 2, 3),
        Op::JumpIfLess("y", 1, 9),
        Op::Call("step", vec![("n", Arg::Number(1))]),
    ];
    let options = SessionOptions { auto_checkpoint: Some(100), ..SessionOptions::default() };
    let mut test = session(ops, &[("steps", property)], &[""], options);
    test.go();
    assert_eq!(test.session.event_count(), 1);
    let back = test.session.reverse_to(1).unwrap();
    assert_eq!(back.event, 0);
    assert!(matches!(back.stopped, Some(RunOutcome::Ended(_))));
}
