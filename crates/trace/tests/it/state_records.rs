//! Records without an event name: states, for properties that read them.

use crate::common::*;
use invigil_monitor::event::{ANY_EVENT, EventCatalog, EventKind, STATE_EVENT};
use invigil_trace::{Format, ReadEnd, ReadOptions, TraceError};

fn states() -> EventCatalog {
    catalog(&[
        (STATE_EVENT, EventKind::Before, &[named("a", None), named("b", None)]),
        ("a", EventKind::Before, &[]),
    ])
}

fn rows(text: &str) -> Vec<Vec<PlainValue>> {
    let (seen, summary) = events(text, &states());
    assert!(
        summary.line_errors.is_empty() && matches!(summary.end, ReadEnd::Finished),
        "{text}: {summary:?}"
    );
    assert!(seen.iter().all(|seen| seen.name == STATE_EVENT), "{text}");
    seen.into_iter().map(|seen| seen.params).collect()
}

#[test]
fn table_without_event_column_yields_states() {
    let expected =
        [vec![PlainValue::Int(1), PlainValue::Int(0)], vec![PlainValue::Bool(false), PlainValue::Bool(true)]];
    for text in [
        "a,b\n1,0\nfalse,true\n",
        "time;a;other;b\n0.5;1;x;0\n1.5;false;y;true\n",
        "\"a\"\tb\n1\t0\nFalse\tTrue\n",
        "{\"a\": 1, \"b\": 0}\n{\"b\": true, \"a\": false, \"time\": 3}\n",
    ] {
        assert_eq!(rows(text), expected, "{text}");
    }
    assert_eq!(rows("a,c\n1,1\n"), [[PlainValue::Int(1), PlainValue::Unset]]);
    assert_eq!(rows("{\"c\": 1}\n"), [[PlainValue::Unset, PlainValue::Unset]]);
}

#[test]
fn records_with_event_names_are_not_states() {
    // In plain lines, a single name is an event, also with arguments named like fields.
    for text in ["a\n", "a(x, b, c)\n", "event,b\na,1\n", "{\"event\": \"a\", \"b\": 1}\n"] {
        let (seen, summary) = events(text, &states());
        assert!(summary.line_errors.is_empty(), "{text}: {:?}", summary.line_errors);
        assert_eq!((seen.len(), seen[0].name.as_str()), (1, "a"), "{text}");
    }
}

#[test]
fn table_with_one_column_needs_an_explicit_format() {
    let options = ReadOptions { format: Some(Format::Csv), ..one_thread() };
    let (seen, summary) = read_all(vec![input("a\n1\n0\n")], &states(), &options);
    assert!(summary.line_errors.is_empty());
    assert_eq!(first_params(&seen), [PlainValue::Int(1), PlainValue::Int(0)]);
    let (_, summary) = read_all(vec![input("x,y\n1,1\n")], &states(), &options);
    let ReadEnd::Failed(error @ TraceError::Header { .. }) = summary.end else { panic!("{summary:?}") };
    assert!(error.to_string().contains("nor a column that a property reads"), "{error}");
}

#[test]
fn states_are_malformed_if_no_property_reads_them() {
    let catalog = catalog(&[("a", EventKind::Before, &[named("b", None)])]);
    let (seen, summary) = events("{\"b\": 1}\n", &catalog);
    assert_eq!((seen.len(), summary.line_errors.skipped()), (0, 1));
}

#[test]
fn every_event_is_also_the_any_event() {
    let catalog = catalog(&[
        (ANY_EVENT, EventKind::Before, &[named("event", None), named("x", None)]),
        ("known", EventKind::Before, &[named("x", None)]),
    ]);
    let (seen, summary) = events("known(x=1)\nother(x=2)\nafter more(y=3)\n", &catalog);
    assert_eq!((summary.ignored, summary.line_errors.count()), (0, 0));
    let reported: Vec<(&str, Vec<PlainValue>)> =
        seen.iter().map(|s| (s.name.as_str(), s.params.clone())).collect();
    assert_eq!(
        reported,
        [
            ("known", vec![PlainValue::Int(1)]),
            (ANY_EVENT, vec![string("known"), PlainValue::Int(1)]),
            (ANY_EVENT, vec![string("other"), PlainValue::Int(2)]),
            (ANY_EVENT, vec![string("more"), PlainValue::Unset]),
        ]
    );
}
