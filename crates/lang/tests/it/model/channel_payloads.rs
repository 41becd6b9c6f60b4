//! Payloads of messages: a value outside the declared type is a fault of the sender.

use crate::model::common::{explore_model, loaded};
use invigil_model::Statement;

/// The number of faults of a model's actions, their messages, and the number of assertions.
fn outcome(text: &str) -> (usize, Vec<String>, usize) {
    let loaded = loaded(text);
    let found = explore_model(&loaded);
    let effects = loaded.model.parts().actions.iter().flat_map(|action| &action.effect);
    let asserts = effects.filter(|statement| matches!(statement, Statement::Assert { .. })).count();
    (found.faults, found.reasons(&loaded.model), asserts)
}

/// A sender of `value`, where `x` is a byte, and a receiver.
fn meeting(value: &str, x: u8, receiver: &str) -> String {
    format!(
        "
channel c: 0..7
process Sender {{
    x: 0..255 = {x}
    small: 2..5 = 2
    row: [3] of 0..7
    state run {{ c!{value} -> done {{ x = 0 }} }}
    state done
}}
process Receiver {{
    same: 0..7
    wide: 0..255 = 200
    state run {{ {receiver} }}
    state done
}}
"
    )
}

const RECEIVERS: [&str; 7] = [
    "c?_ -> done;",
    "c?n -> done { wide = n }",
    "c?_n -> done;",
    "c?n when n != 1 -> done { wide = n; same = 0 }",
    "c?same -> done;",
    "c?wide -> done;",
    "c?(wide + same) -> done;",
];

#[test]
fn rendezvous_payload_outside_declared_range_faults() {
    for receiver in RECEIVERS {
        let (faults, reasons, asserts) = outcome(&meeting("x", 200, receiver));
        let words = "assertion failed: value carried by c is outside 0..7";
        assert_eq!((faults, reasons, asserts), (1, vec![words.to_owned()], 1), "{receiver}");
        // Just inside and just outside, with a receiver that accepts everything.
        if !receiver.contains("wide +") {
            assert_eq!(outcome(&meeting("x", 7, receiver)).0, 0, "{receiver}");
            assert_eq!(outcome(&meeting("x", 8, receiver)).0, 1, "{receiver}");
        }
        // Below the range, and constants.
        let below = outcome(&meeting("x - 201", 200, &receiver.replace("wide +", "-1 +")));
        assert_eq!(below.0, 1, "{receiver}: {below:?}");
        assert_eq!(outcome(&meeting("200", 0, receiver)).0, 1, "{receiver}");
    }
    // Values that the receiver does not match are not sent.
    assert_eq!(outcome(&meeting("x", 200, "c?3 -> done;")).0, 0);
}

#[test]
fn payload_that_always_fits_has_no_check() {
    for value in ["7", "small", "row[2]", "row[small - 2]", "small + 2", "x % 8", "5 - small"] {
        for receiver in RECEIVERS {
            assert_eq!(outcome(&meeting(value, 9, receiver)), (0, Vec::new(), 0), "{value}, {receiver}");
        }
    }
    // A value that may be out of range is checked, and is no fault while it is in range.
    for value in ["x", "small + 3", "x / 2", "5 - x", "x * 1", "-x + 5", "x & 7"] {
        assert_eq!(outcome(&meeting(value, 5, "c?_ -> done;")).2, 1, "{value}");
        assert_eq!(outcome(&meeting(value, 5, "c?_ -> done;")).0, 0, "{value}");
    }
}

#[test]
fn every_value_of_a_payload_is_checked() {
    let text = |a: i64, b: i64| {
        format!(
            "
record Pair {{ low: 0..3, high: 0..100 }}
record Wide {{ low: 0..100, high: 0..100 }}
channel c[i in 0..1]: Pair, bool
process Sender {{
    pair: Wide
    state start {{ -> run {{ pair.low = {a}; pair.high = {b} }} }}
    state run {{ c[1]!pair, pair.low > 50 -> done; }}
    state done
}}
process Receiver {{
    got: Wide
    state run {{ c[1]?got, _; }}
}}
"
        )
    };
    assert_eq!(outcome(&text(3, 100)), (0, Vec::new(), 1));
    let (faults, reasons, _) = outcome(&text(4, 100));
    assert_eq!((faults, &*reasons[0]), (1, "assertion failed: value carried by c[1] is outside 0..3"));
}

#[test]
fn buffered_payload_outside_declared_range_faults() {
    for receiver in ["c?_;", "c?n { wide = n }", "c?wide;"] {
        let text = meeting("x", 200, receiver).replace("channel c:", "channel c[2]:");
        let (faults, reasons, _) = outcome(&text);
        assert_eq!(faults, 1, "{receiver}");
        assert!(reasons[0].contains("cannot hold 200: its range is 0 to 7"), "{reasons:?}");
        assert_eq!(outcome(&text.replace("= 200\n    small", "= 7\n    small")).0, 0, "{receiver}");
    }
}

/// A process with events of different ranges, and a sender.
fn mailbox(kind: &str, send: &str) -> String {
    format!(
        "
enum Signal {{ passed(0..3), all(0..255) }}
process Sender {{
    x: 0..255 = 200
    small: 1..2 = 1
    state run {{ -> done {{ {send} }} }}
    state done
}}
process Gate {{
    mailbox {kind} of Signal
    state run {{ on passed(_);  on all(n) when n < 255; }}
}}
"
    )
}

#[test]
fn event_payload_outside_declared_range_faults() {
    for kind in ["fifo[2]", "fifo[2] lossy", "fifo[2] blocking", "deferred[2]"] {
        let words = "assertion failed: value carried by passed is outside 0..3";
        for send in ["send Gate.passed(x)", "if x > 3 { send Gate.passed(x) }", "send Gate.passed(200)"] {
            let (faults, reasons, _) = outcome(&mailbox(kind, send));
            assert_eq!((faults, reasons), (1, vec![words.to_owned()]), "{kind}: {send}");
        }
        // The value is read when the event is sent.
        let sound = ["x = 3; send Gate.passed(x)", "send Gate.all(x)", "send Gate.passed(small)"];
        for send in sound {
            assert_eq!(outcome(&mailbox(kind, send)).0, 0, "{kind}: {send}");
        }
        assert_eq!(outcome(&mailbox(kind, "small = 2; x = 4; send Gate.passed(x)")).0, 1, "{kind}");
        // A fitting value needs only the check for free space, which is an assertion for plain mailboxes only.
        let room = usize::from(kind == "fifo[2]" || kind == "deferred[2]");
        for send in ["send Gate.all(x)", "send Gate.passed(small + 1)", "send Gate.passed(x % 4)"] {
            assert_eq!(outcome(&mailbox(kind, send)).2, room, "{kind}: {send}");
        }
    }
    // A lost event was sent nevertheless.
    let lost = "send Gate.all(1); send Gate.passed(x)";
    assert_eq!(outcome(&mailbox("fifo[1] lossy", lost)).0, 1);
}
