//! DVE texts that are large, deep, mutated or random: rejected in reasonable time, without a panic.

use crate::dve::common::diagnostics;
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::report;
use invigil_test_support::cases;
use proptest::prelude::*;

/// Renders the diagnostics.
fn show(text: &str, found: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("test.dve", text);
    report::render(&sources, found, false)
}

/// A model with one transition.
fn transition(text: &str) -> String {
    format!(
        "byte n, list[3]; const byte N = 1; channel c; channel {{byte}} d[1];
         process P {{ byte own; state start, stop; init start; trans start -> stop {{ {text} }}; }}
         process Q {{ byte far; state here; init here; }} system async;"
    )
}

/// Checks that diagnostics are returned in reasonable time, and limited in number.
fn assert_refused(text: &str, message: &str) {
    let found = diagnostics(text);
    assert!(found.iter().any(|diagnostic| diagnostic.message == message), "{:?}", found.first());
    assert!(found.len() <= 102);
}

#[test]
fn oversized_models_are_rejected() {
    let deep = "this expression is nested too deeply";
    for (open, close) in [("(", ")"), ("list[", "]"), ("not ", ""), ("-", ""), ("1 - (", ")")] {
        let text = transition(&format!("guard {}n{};", open.repeat(100_000), close.repeat(100_000)));
        assert_refused(&text, deep);
    }
    assert_refused(&transition(&format!("guard n{};", " - n".repeat(300_000))), deep);
    assert_refused(&transition(&format!("guard n{};", " or n and n".repeat(100_000))), deep);
    // Long sequences of one operator are shallow.
    assert!(diagnostics(&transition(&format!("guard n{};", " && n".repeat(300_000)))).is_empty());
    assert!(diagnostics(&transition(&format!("effect n = n{};", " + n".repeat(300_000)))).is_empty());

    let many = "trans a -> a { sync c!; }".to_owned() + &", a -> a { sync c!; }".repeat(20_000);
    let pairs = format!(
        "channel c; process S {{ state a; init a; {many}; }} process R {{ state a; init a; {}; }} system async;",
        many.replace('!', "?")
    );
    assert_refused(&pairs, "the model has too many actions");
    let alone = format!(
        "channel c; process S {{ state a; init a; {many}, {}; }} system async;",
        &many.replace('!', "?")[6..]
    );
    assert_refused(&alone, "the model has too many actions");
    let process =
        |name: usize| format!("process P{name} {{ state a; init a; trans a -> a {{}}, a -> a {{}}; }} ");
    let together: String = (0..40).map(process).collect();
    assert_refused(&format!("{together} system sync;"), "the model has too many actions");

    assert_refused(&"x ".repeat(3 << 20), "the file is too large for a model (6 MiB)");
    assert_refused(&format!("process P {{ {}", "é;".repeat(100_000)), "more than 100 errors");
    let unknown = transition(&format!("guard {};", vec!["u".repeat(5000); 200].join(" + ")));
    assert!(diagnostics(&unknown).len() <= 100);
    let arrays: String = (0..100_000).map(|at| format!("byte a{at}[9];")).collect();
    assert_refused(&format!("{arrays} system async;"), "the variables of the model need too much space");
}

const WORDS: [&str; 44] = [
    "byte",
    "int",
    "const",
    "channel",
    "process",
    "system",
    "state",
    "init",
    "commit",
    "accept",
    "assert",
    "trans",
    "guard",
    "sync",
    "effect",
    "async",
    "property",
    "and",
    "or",
    "not",
    "imply",
    "true",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ";",
    ":",
    ".",
    "->",
    "=>",
    "!",
    "?",
    "=",
    "-",
    "/",
    "99999999999999999999",
    "0",
    "P",
    "n",
    "é",
];

const MODEL: &str = "byte n = 1, list[3] = {1, 2, 3}; const byte N = 1; channel c; channel {byte, int} d[2];
    process P { byte own; state a, b; init a; commit b; assert b: n > 0; trans a -> b { guard n == 1 and own < N; sync
    c!n + 1; effect n = list[own], own = own + 1; }, -> a { sync d!{n, -1}; }; }
    process Q { byte x; int y; state a; init a; trans a -> a { sync c?x; }, a -> a { guard P.b; sync d?{x, y}; }; }
    process W { state q; init q; accept q; trans q -> q { guard P->own != 1; }; } system async property W;";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn mutated_models_never_panic(
        changes in prop::collection::vec((0..MODEL.len(), 0..WORDS.len(), 0usize..12), 1..6),
        words in prop::collection::vec(0..WORDS.len(), 0..40),
    ) {
        let mut text = MODEL.to_owned();
        for (at, word, removed) in changes {
            let start = text.floor_char_boundary(at);
            let end = text.floor_char_boundary(start + removed).max(start);
            text.replace_range(start..end, &format!(" {} ", WORDS[word]));
        }
        for text in [text, words.into_iter().map(|at| WORDS[at]).collect::<Vec<_>>().join(" ")] {
            let found = diagnostics(&text);
            prop_assert!(found.iter().all(|diagnostic| diagnostic.span.end as usize <= text.len()));
            show(&text, &found);
        }
    }
}
