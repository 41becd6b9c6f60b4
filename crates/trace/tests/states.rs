//! Records that name no event: states, for those who want them.

mod common;

use common::*;
use invigil_monitor::event::{ANY, Catalog, Kind, STATE};
use invigil_trace::{End, Format, Options, TraceError};

fn states() -> Catalog {
    catalog(&[(STATE, Kind::Before, &[named("a", None), named("b", None)]), ("a", Kind::Before, &[])])
}

fn rows(text: &str) -> Vec<Vec<Plain>> {
    let (seen, summary) = events(text, &states());
    assert!(summary.problems.is_empty() && matches!(summary.end, End::Finished), "{text}: {summary:?}");
    assert!(seen.iter().all(|seen| seen.name == STATE), "{text}");
    seen.into_iter().map(|seen| seen.params).collect()
}

#[test]
fn tables_of_truth_values() {
    let expected = [vec![Plain::Int(1), Plain::Int(0)], vec![Plain::Bool(false), Plain::Bool(true)]];
    for text in [
        "a,b\n1,0\nfalse,true\n",
        "time;a;other;b\n0.5;1;x;0\n1.5;false;y;true\n",
        "\"a\"\tb\n1\t0\nFalse\tTrue\n",
        "{\"a\": 1, \"b\": 0}\n{\"b\": true, \"a\": false, \"time\": 3}\n",
    ] {
        assert_eq!(rows(text), expected, "{text}");
    }
    assert_eq!(rows("a,c\n1,1\n"), [[Plain::Int(1), Plain::Unset]]);
    assert_eq!(rows("{\"c\": 1}\n"), [[Plain::Unset, Plain::Unset]]);
}

#[test]
fn events_stay_events() {
    // Nothing but a name is an event in the line format; so is one with arguments that are called like fields.
    for text in ["a\n", "a(x, b, c)\n", "event,b\na,1\n", "{\"event\": \"a\", \"b\": 1}\n"] {
        let (seen, summary) = events(text, &states());
        assert!(summary.problems.is_empty(), "{text}: {:?}", summary.problems);
        assert_eq!((seen.len(), seen[0].name.as_str()), (1, "a"), "{text}");
    }
}

#[test]
fn a_table_of_one_column_must_be_called_one() {
    let options = Options { format: Some(Format::Csv), ..simple() };
    let (seen, summary) = read_all(vec![input("a\n1\n0\n")], &states(), &options);
    assert!(summary.problems.is_empty());
    assert_eq!(firsts(&seen), [Plain::Int(1), Plain::Int(0)]);
    let (_, summary) = read_all(vec![input("x,y\n1,1\n")], &states(), &options);
    let End::Failed(error @ TraceError::Header { .. }) = summary.end else { panic!("{summary:?}") };
    assert!(error.to_string().contains("nor one that a property reads"), "{error}");
}

#[test]
fn without_a_wish_for_states_they_are_mistakes() {
    let catalog = catalog(&[("a", Kind::Before, &[named("b", None)])]);
    let (seen, summary) = events("{\"b\": 1}\n", &catalog);
    assert_eq!((seen.len(), summary.problems.skipped()), (0, 1));
}

#[test]
fn every_event_is_any_event() {
    let catalog = catalog(&[
        (ANY, Kind::Before, &[named("event", None), named("x", None)]),
        ("known", Kind::Before, &[named("x", None)]),
    ]);
    let (seen, summary) = events("known(x=1)\nother(x=2)\nafter more(y=3)\n", &catalog);
    assert_eq!((summary.ignored, summary.problems.count()), (0, 0));
    let told: Vec<(&str, Vec<Plain>)> = seen.iter().map(|s| (s.name.as_str(), s.params.clone())).collect();
    assert_eq!(
        told,
        [
            ("known", vec![Plain::Int(1)]),
            (ANY, vec![string("known"), Plain::Int(1)]),
            (ANY, vec![string("other"), Plain::Int(2)]),
            (ANY, vec![string("more"), Plain::Unset]),
        ]
    );
}
