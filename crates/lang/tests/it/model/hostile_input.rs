//! Models that are large, deep or mutated: rejected in reasonable time, without a panic.

use crate::model::common::explore;
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::model::load;
use invigil_lang::report;
use invigil_test_support::cases;
use proptest::prelude::*;

#[test]
fn hostile_texts_are_rejected() {
    let many = 100_000;
    let nested = |open: &str, close: &str| {
        format!("process P {{ state a {{ {{ {}{} }} }} }}", open.repeat(many), close.repeat(many))
    };
    let records: String =
        (0..200).map(|at| format!("record R{} {{ a: R{at}, b: R{at} }}\n", at + 1)).collect();
    let arrays: String = (0..2000).map(|at| format!("type A{} = [1] of A{at}\n", at + 1)).collect();
    let doubling: String =
        (0..60).map(|at| format!("predicate p{} = p{at} and p{at} or p{at}\n", at + 1)).collect();
    for text in [
        nested("if true {", "}"),
        nested("if true { } else ", "{ }"),
        nested("for i in 0..9 {", "}"),
        "process P {".repeat(many),
        "{".repeat(many),
        "state ".repeat(many),
        format!("x: {} bool", "[1] of ".repeat(many)),
        format!("x: [2] of bool = {}", "[".repeat(many)),
        format!("const N = {}1", "(".repeat(many)),
        format!("const N = 1{}", " - 1".repeat(many)),
        format!("record R0 {{ a: bool }}\n{records} x: R200 process P {{ state a }}"),
        format!("type A0 = bool\n{arrays} x: A2000 process P {{ state a }}"),
        format!("x: bool predicate p0 = x\n{doubling} process P {{ state a {{ when p60 -> a; }} }}"),
        "x: [65536] of [65536] of bool process P { state a }".to_owned(),
        "x: 0..9223372036854775807 y: -9223372036854775807..9223372036854775807 process P { state a }".to_owned(),
        "process P[i in 0..1023] { x: [65536] of 0..9 state a }".to_owned(),
        "process P { x: bool state a { { for i in 0..9999999 { for j in 0..9999999 { x = true } } } } }".to_owned(),
        "process P { x, y, z: 0..60000 state a { { x = any; y = any; z = any } } }".to_owned(),
        "channel c[i in 0..1023]: bool process P[i in 0..1023] { n: 0..1023 state a { c[n]!true; c[n]?_; } }".to_owned(),
        "enum E { a } process P[i in 0..1023] { mailbox deferred[255] of E state s { on a; { send P[i].a } } }".to_owned(),
        "\u{202e}𝔘\0é".repeat(10_000),
        "process Ünï { state ä { -> ö; } }".to_owned(),
    ] {
        let mut sources = Sources::default();
        let source = sources.add("hostile.model", &*text);
        let (loaded, diagnostics) = load(source, &text);
        assert!(loaded.is_none(), "{}", &text.chars().take(60).collect::<String>());
        assert!(diagnostics.iter().any(Diagnostic::is_error) && diagnostics.len() <= 51);
        report::render(&sources, &diagnostics[..1], false);
    }
    // Names need not be ASCII.
    assert_eq!(explore("process Ünï { state ä { -> ö; } state ö }").states, 2);
}

/// Models that are mutated.
const SEEDS: &str = include_str!("../../../../../docs/models.md");

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(400)) })]
    #[test]
    fn mutated_models_never_panic(
        which in 0..6_usize,
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0..12_usize, 0..24_usize), 1..4),
    ) {
        const SPLINTERS: [&str; 24] = [
            "", "{", "}", "(", ")", "[", "]", ":", ";", "->", "..", "'", "!", "?", "any", "state", "process P",
            "when", " 9 ", "-", "x", "self", "\"", "é",
        ];
        let mut text = SEEDS.split("```model\n").skip(1).nth(which).unwrap().split("```").next().unwrap().to_owned();
        for (at, length, splinter) in cuts {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let first = at.index(places.len().max(1));
            let start = places.get(first).copied().unwrap_or(0);
            let end = places.get(first + length).copied().unwrap_or(text.len());
            text.replace_range(start..end, SPLINTERS[splinter]);
        }
        let mut sources = Sources::default();
        let source = sources.add("cut.model", &*text);
        let (loaded, diagnostics) = load(source, &text);
        report::render(&sources, &diagnostics, true);
        prop_assert_eq!(loaded.is_some(), !diagnostics.iter().any(Diagnostic::is_error));
        if let Some(loaded) = loaded {
            // A model that loads can be run.
            for start in loaded.model.initial_states() {
                for action in loaded.model.enabled(&start.words) {
                    loaded.model.outcomes(&start.words, action);
                }
            }
        }
    }
}
