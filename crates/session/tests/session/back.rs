//! Going back to earlier events.

use crate::common::*;
use crate::fake::{Arg, Op};
use invigil_session::{Options, Outcome};

fn automatic(ops: Vec<Op>, scenario: &str, every: u64) -> Test {
    let options = Options { auto_checkpoint: Some(every), ..Options::default() };
    session(ops, &[("queue", QUEUE)], &[scenario], options)
}

#[test]
fn back_to_any_event() {
    let scenario = "on entering state sink { print('sink')\nsuspend_execution() }";
    let mut test = automatic(pushing(6, 9), scenario, 3);
    test.go();
    assert_eq!(test.session.event_count(), 8);
    let at_end = test.session.events(1..=8);
    for number in [7, 5, 3, 0] {
        let back = test.session.back(number).unwrap();
        assert_eq!((back.event, &back.diverged, &back.stopped), (number, &None, &None));
        assert_eq!(test.session.events(1..=99), at_end[..number as usize]);
        if number >= 2 {
            assert_eq!(test.value("i"), (number - 2).to_string());
            assert_eq!(test.value("pc"), "2");
        }
    }
    test.take();
    // From there the run goes on as it did, with reactions.
    assert_eq!(reasons(&test.go()), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 8"]);
    assert_eq!(test.take(), ["scenario 0: sink"]);
    assert_eq!(test.session.events(1..=8), at_end);
}

#[test]
fn what_has_not_happened_and_what_is_not_kept() {
    let mut test = queue(pushing(1, 9), "on entering state sink { suspend_execution() }");
    test.go();
    assert_eq!(test.session.back(9).unwrap_err().to_string(), "event 9 has not happened: there were 3");
    let words = test.session.back(2).unwrap_err().to_string();
    assert!(words.starts_with("there is no checkpoint before event 2"), "{words}");
}

#[test]
fn a_program_that_does_something_else_is_told() {
    let property = "state init accepting { transition { event step(n) success init } }";
    let ops = vec![
        Op::Call("step", vec![("n", Arg::Number(1))]),
        Op::Noise("x"),
        Op::Call("step", vec![("n", Arg::Variable("x"))]),
        Op::Call("step", vec![("n", Arg::Number(3))]),
    ];
    let options = Options { auto_checkpoint: Some(100), ..Options::default() };
    let property = property.replace("success", "{ y = n } success");
    let mut test = session(ops, &[("steps", &property)], &[""], options);
    test.go();
    let back = test.session.back(3).unwrap();
    let diverged = back.diverged.expect("the second event has another number");
    assert_eq!(
        (diverged.expected.to_string(), diverged.found.to_string()),
        ("step(n=1)".into(), "step(n=2)".into())
    );
    assert_eq!((diverged.found.index, back.event), (2, 3));
}

#[test]
fn what_keeps_it_from_getting_there() {
    let property = "state init accepting { transition { event step(n) success init } }";
    // The first time the program goes round, later it ends at once.
    let ops = vec![
        Op::Noise("x"),
        Op::JumpIfLess("x", 2, 3),
        Op::JumpIfLess("y", 1, 9),
        Op::Call("step", vec![("n", Arg::Number(1))]),
    ];
    let options = Options { auto_checkpoint: Some(100), ..Options::default() };
    let mut test = session(ops, &[("steps", property)], &[""], options);
    test.go();
    assert_eq!(test.session.event_count(), 1);
    let back = test.session.back(1).unwrap();
    assert_eq!(back.event, 0);
    assert!(matches!(back.stopped, Some(Outcome::Ended(_))));
}
