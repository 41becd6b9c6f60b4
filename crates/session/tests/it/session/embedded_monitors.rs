//! Embedded monitors have the same results as monitors that step in the session.

use crate::session::common::{QUEUE, Test, pushing, reasons, session};
use crate::session::fake_target::{Arg, Op};
use invigil_expr::value::Value;
use invigil_session::{RunOutcome, SessionOptions};
use invigil_target::Termination;

/// The same session twice: with the monitors in the session, and embedded.
fn both(ops: Vec<Op>, properties: &[(&str, &str)], scenarios: &[&str]) -> [Test; 2] {
    [false, true].map(|embedded| {
        let test = session(ops.clone(), properties, scenarios, SessionOptions::default());
        test.log.borrow_mut().embedded = embedded;
        test.log.borrow_mut().timeless = true;
        test
    })
}

/// Everything that a stopped session reports, as text. The numbers of the last events suffice.
fn reported(test: &mut Test) -> String {
    let last = test.session.event_count();
    let slices = test.session.monitor(0).unwrap().slices();
    // The root is older than the kept history.
    let slices: Vec<_> = slices.iter().filter(|slice| slices.root() != Some(*slice)).collect();
    let path = |slice| test.session.path(0, slice).0.into_iter().rev().take(20).collect::<Vec<_>>();
    let paths: Vec<_> = slices.into_iter().map(path).collect();
    format!(
        "{last}\n{:#?}\n{:#?}\n{paths:#?}\n{:?}",
        test.session.events(last.saturating_sub(100)..=last),
        test.session.report().properties,
        test.take(),
    )
}

fn agree(tests: &mut [Test; 2]) -> RunOutcome {
    let [outside, inside] = tests.each_mut().map(|test| {
        let outcome = test.go();
        (outcome, reported(test))
    });
    let differs = outside.1.lines().zip(inside.1.lines()).position(|(outside, inside)| outside != inside);
    if let Some(at) = differs {
        let near = |reported: &str| {
            reported.lines().skip(at.saturating_sub(8)).take(16).collect::<Vec<_>>().join("\n")
        };
        panic!("outside:\n{}\ninside:\n{}", near(&outside.1), near(&inside.1));
    }
    assert_eq!(format!("{:?}", outside.0), format!("{:?}", inside.0));
    inside.0
}

#[test]
fn embedded_violation_equals_session_violation_for_any_run_length() {
    for pushes in [2, 17, 5000, 30_000] {
        let mut tests = both(pushing(pushes - 1, pushes + 3), &[("queue", QUEUE)], &[]);
        let outcome = agree(&mut tests);
        assert_eq!(
            reasons(&outcome),
            [format!("0: queue_ready -> sink (non-accepting) for queue = 7 at {}", pushes + 1)]
        );
        assert_eq!(tests[1].log.borrow().stops, 1, "nobody was asked before");
        assert_eq!(tests[0].log.borrow().stops, pushes as u64 + 1);
        assert_eq!(agree(&mut tests), RunOutcome::Ended(Termination::Exited(0)));
    }
}

#[test]
fn changes_at_the_prompt_are_embedded_again() {
    let mut tests = both(pushing(10, 30), &[("queue", QUEUE)], &[]);
    agree(&mut tests);
    for test in &mut tests {
        let slice = test.session.monitor(0).unwrap().slices().iter().last().unwrap();
        test.session.update_monitor(0, |watch| watch.set_state(slice, "queue_ready")).unwrap().unwrap();
        test.session
            .update_monitor(0, |watch| watch.set_env_value(slice, "N", Value::int(5)))
            .unwrap()
            .unwrap();
    }
    let outcome = agree(&mut tests);
    assert_eq!(reasons(&outcome), ["0: queue_ready -> sink (non-accepting) for queue = 7 at 18"]);
}

#[test]
fn output_of_embedded_properties_is_in_order() {
    let text = r#"
state init accepting {
    transition { event tick(n) { if n % 100 == 0: print("at", n) } success init }
}
"#;
    let ops = vec![
        Op::Call("tick", vec![("n", Arg::Variable("i"))]),
        Op::Add("i", 1),
        Op::JumpIfLess("i", 1000, 0),
    ];
    let mut tests = both(ops, &[("tick", text)], &[]);
    assert_eq!(agree(&mut tests), RunOutcome::Ended(Termination::Exited(0)));
    assert_eq!(tests[1].log.borrow().stops, 10);
}

#[test]
fn scenario_reactions_equal_those_without_embedding() {
    let scenario = "on entering state queue_ready { print(\"ready\") }";
    let mut tests = both(pushing(3, 9), &[("queue", QUEUE)], &[scenario]);
    let outcome = agree(&mut tests);
    assert_eq!(outcome, RunOutcome::Ended(Termination::Exited(0)));
}

#[test]
fn fault_ends_embedded_property_at_its_event() {
    let text = "initialization { N = 0 }\nstate init accepting { transition { event tick(n) { N = 1 // (n - 700) } success init } }";
    let ops = vec![
        Op::Call("tick", vec![("n", Arg::Variable("i"))]),
        Op::Add("i", 1),
        Op::JumpIfLess("i", 1000, 0),
    ];
    let mut tests = both(ops, &[("tick", text)], &[]);
    let outcome = agree(&mut tests);
    assert!(reasons(&outcome)[0].contains("division by zero"), "{outcome:?}");
    assert_eq!(tests[1].session.event_count(), 701);
}

/// Properties that are tables inside, in part: some of what they do is more than a table knows.
#[test]
fn integer_tables_equal_interpreted_blocks() {
    let text = "initialization { N = 0 }
state init accepting {
    transition { event tick(n: int, m: int) { return n < 900 } success { N = N + n } init failure odd }
    transition { event tock(n: int) { return n == 70 } success { N = N - 7 } even }
}
state odd accepting {
    transition { event tick(n: int, m: int) { return N != m } success { N = N + m } odd }
    transition { event tock(n: int) { return N > 100 and n > 3 } success { N = n * 3 } init failure { N = N + 1 } even }
}
state even accepting {
    transition { event tick(n: int, m: int) { return n >= m } success init failure { N = N + 1 } even }
    transition { event tock(n: int) { return N > 3 } success { N = 0 } bad }
}
state bad non-accepting { transition { event tock(n: int) success init } }
";
    let number = |name| Arg::Variable(name);
    let ops = vec![
        Op::Call("tick", vec![("n", number("i")), ("m", number("j"))]),
        Op::Add("i", 7),
        Op::Add("j", 3),
        Op::Call("tock", vec![("n", number("i"))]),
        Op::JumpIfLess("i", 2000, 0),
        Op::Set("i", 0),
        Op::JumpIfLess("j", 30_000, 0),
    ];
    let mut tests = both(ops, &[("table", text)], &[]);
    let mut stops = 0;
    while agree(&mut tests) != RunOutcome::Ended(Termination::Exited(0)) {
        stops += 1;
    }
    assert!(stops > 3, "{stops}");
    assert!(tests[1].log.borrow().stops * 20 < tests[0].log.borrow().stops);
}
