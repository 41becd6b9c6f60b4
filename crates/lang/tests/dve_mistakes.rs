//! Every mistake in a DVE file is told where it is, and nothing that anybody writes makes the front end panic.

mod dve;

use dve::problems;
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::report;
use proptest::prelude::*;

/// Shows what was told.
fn show(text: &str, found: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("test.dve", text);
    report::render(&sources, found, false)
}

/// What stands at the caret, the message, and a part of the help.
fn assert_told(text: &str, told: &[(&str, &str, &str)]) {
    let found = problems(text);
    assert_eq!(found.len(), told.len(), "in {text:?}\n{}", show(text, &found));
    for (problem, (at, message, help)) in found.iter().zip(told) {
        let marked = &text[problem.span.start as usize..problem.span.end as usize];
        assert_eq!((marked, problem.message.as_str()), (*at, *message), "{}", show(text, &found));
        assert!(problem.help.as_deref().unwrap_or("").contains(help), "{}", show(text, &found));
        assert!(problem.is_error() && !problem.label.is_empty(), "{}", show(text, &found));
    }
}

/// A model with one transition.
fn transition(text: &str) -> String {
    format!(
        "byte n, list[3]; const byte N = 1; channel c; channel {{byte}} d[1];
         process P {{ byte own; state start, stop; init start; trans start -> stop {{ {text} }}; }}
         process Q {{ byte far; state here; init here; }} system async;"
    )
}

#[test]
fn mistakes_in_transitions() {
    for (text, at, message, help) in [
        ("guard n == ;", ";", "expected an expression, found `;`", ""),
        ("guard (n == 1;", ";", "expected `)`, found `;`", "not closed"),
        ("guard list[1;", ";", "expected `]`, found `;`", "not closed"),
        ("guard n = 1;", "=", "expected `;`, found `=`", "ends"),
        ("guard n == 1 effect n = 2;", "effect", "expected `;`, found `effect`", "ends"),
        (
            "gard n == 1;",
            "gard",
            "expected `guard`, `sync`, `effect` or `}`, found `gard`",
            "did you mean `guard`?",
        ),
        ("guard n; guard n;", "guard", "`guard` stands here a second time", "`and`"),
        ("guard m == 1;", "m", "there is no variable `m`", "did you mean `n`?"),
        ("guard owm == 1;", "owm", "there is no variable `owm`", "did you mean `own`?"),
        ("guard Q->fat == 1;", "fat", "there is no variable `fat`", "did you mean `far`?"),
        ("guard Q->n == 1;", "n", "there is no variable `n`", ""),
        ("guard R.here;", "R", "there is no process `R`", "did you mean `P`?"),
        ("guard Q.hero;", "hero", "process `Q` has no state `hero`", "did you mean `here`?"),
        ("guard list == 1;", "list", "`list` is an array", "list[0]"),
        ("guard n[1] == 1;", "n[1]", "`n` is no array", ""),
        ("guard c == 1;", "c", "`c` is a channel", "sync c!x"),
        ("guard P == 1;", "P", "`P` is a process", "P.STATE"),
        ("guard 99999999999999999999 > n;", "99999999999999999999", "this number is too large", ""),
        ("guard é;", "é", "expected an expression, found `é`", ""),
        ("effect N = 2;", "N", "a constant cannot be changed", "without `const`"),
        ("effect 1 = 2;", "1", "this cannot be assigned to", ""),
        ("effect n++;", "+", "expected `=`, found `+`", "x = x + 1"),
        ("effect P.start = 1;", "P.start", "this cannot be assigned to", ""),
        ("sync c;", ";", "expected `!` or `?`, found `;`", "receives"),
        ("sync e!;", "e", "there is no channel `e`", "did you mean `c`?"),
        ("sync n!;", "n", "there is no channel `n`", ""),
        ("sync c?5;", "5", "what is received needs a variable", ""),
        ("sync c?N;", "N", "a constant cannot be changed", ""),
        ("sync d!;", "d!", "`d` carries no value here", ""),
        ("sync d!{1, 2};", "d!{1, 2}", "`d` carries 2 values here", ""),
        ("effect n = process;", "process", "expected an expression, found `process`", "word of the language"),
    ] {
        let text = transition(text);
        let found = problems(&text);
        assert!(!found.is_empty(), "{text}");
        assert_told(&text, &[(at, message, help)]);
    }
}

#[test]
fn mistakes_around_transitions() {
    let rest = "system async;";
    for (text, at, message, help) in [
        ("", "", "this model has no `system`", "`system async;`"),
        ("system asink;", "asink", "expected `async` or `sync`, found `asink`", "system async"),
        ("system async", "", "expected `;`, found the end of the file", ""),
        ("system async property R;", "R", "there is no process `R`", ""),
        ("system async; system sync;", "system sync", "`system` stands here a second time", "keep one"),
        (
            "bite n;",
            "bite",
            "expected a declaration, `process` or `system`, found `bite`",
            "did you mean `byte`?",
        ),
        ("}", "}", "expected a declaration, `process` or `system`, found `}`", "closes too early"),
        ("byte;", ";", "expected the name of a variable, found `;`", ""),
        ("byte n", "", "expected `;`, found the end of the file", ""),
        ("byte n n;", "n", "expected `;`, found `n`", "`,` separates"),
        ("byte state;", "state", "expected the name of a variable, found `state`", "word of the language"),
        ("/* open", "/*", "this comment has no end", "`*/`"),
        ("byte n = 256; system async;", "256", "`n` cannot hold 256", ""),
        ("byte n = -1; system async;", "-1", "`n` cannot hold -1", ""),
        ("byte n = 1 / 0; system async;", "1 / 0", "division by zero", ""),
        ("byte n, m = n; system async;", "n", "this is not known before the model runs", "const"),
        ("byte n = {1}; system async;", "{1}", "only an array has a list of values", ""),
        ("byte n[2] = 1; system async;", "1", "an array needs a list of values", "{"),
        ("byte n[2] = {1, 2, 3}; system async;", "3", "there are more values than elements", ""),
        ("byte n[0]; system async;", "0", "an array has at least one element", ""),
        ("byte n[-1]; system async;", "-1", "-1 is no size that is possible", ""),
        ("byte n[9999999]; system async;", "9999999", "9999999 is no size that is possible", ""),
        ("int n[30000]; system async;", "n", "the variables of this model need too much room", "bytes"),
        ("const byte N; system async;", "N", "a constant needs a value", "= 0"),
        ("byte n; channel n; system async;", "n", "`n` is declared twice", "another name"),
        (
            "channel c[2]; system async;",
            "2",
            "a channel with a buffer must say what it carries",
            "{byte} c[2]",
        ),
        ("channel {byte} c[256]; system async;", "256", "256 is no size that is possible", ""),
        ("channel {bite} c;", "bite", "expected `byte` or `int`, found `bite`", ""),
        ("process P { init a; } system async;", "P", "process `P` has no states", "state NAME"),
        ("process P { state a; } system async;", "P", "process `P` begins nowhere", "init a"),
        ("process P { state a; init b; } system async;", "b", "process `P` has no state `b`", ""),
        ("process P { state a; init a; commit b; } system async;", "b", "process `P` has no state `b`", ""),
        ("process P { state a, a; init a; } system async;", "a", "`a` is declared twice", ""),
        ("process P { state a; init a; init a; }", "init a", "`init` stands here a second time", "one state"),
        ("process P { state a; init a; assert a n; }", "n", "expected `:`, found `n`", "assert STATE"),
        (
            "process P { states a; init a; }",
            "states",
            "expected a part of a process, found `states`",
            "`state`?",
        ),
        ("process P { channel c; }", "channel", "expected a part of a process, found `channel`", "outside"),
        ("process P { state a; init a; ", "", "expected `}`, found the end of the file", "not closed"),
        ("process P state a; }", "state", "expected `{`, found `state`", ""),
        ("process { state a; init a; } system async;", "{", "expected the name of a process, found `{`", ""),
        (
            "process P { state a; init a; trans a -> b {}; } system async;",
            "b",
            "process `P` has no state `b`",
            "",
        ),
        (
            "process P { state a; init a; trans a => { a: 1 }; }",
            "=>",
            "transitions with probabilities are not supported",
            "outcome",
        ),
        (
            "process P { state a; init a; trans a -> a {} a -> a {}; }",
            "a",
            "expected `,` or `;`, found `a`",
            "separates",
        ),
        ("process P { state a; init a; trans a a {}; }", "a", "expected `->`, found `a`", "from -> to"),
        ("process P { state a; init a; trans a -> a; }", ";", "expected `{`, found `;`", "from -> to"),
        (
            "process P { state a; init a; accept rabin (a;a); }",
            "rabin",
            "acceptance of the kind `rabin` is not supported",
            "Büchi",
        ),
    ] {
        let text = match text.contains("system") || text.is_empty() {
            true => text.to_owned(),
            // The parser is done with before anybody looks for the system.
            false => format!("{text}\n"),
        };
        assert_told(&text, &[(at, message, help)]);
    }
    assert!(problems(rest).is_empty(), "a model of nothing is a model");
}

#[test]
fn mistakes_between_processes() {
    let pair = |sends: &str, receives: &str| {
        format!(
            "channel c; process S {{ state a; init a; trans a -> a {{ sync {sends}; }}; }}
             process R {{ byte x, y; state a; init a; trans a -> a {{ sync {receives}; }}; }} system async;"
        )
    };
    let message = "`c` carries 1 value here and no value elsewhere";
    assert_told(&pair("c!", "c?x"), &[("c?x", message, "the same number")]);
    assert!(problems(&pair("c!{1, 2}", "c?{x, y}")).is_empty());

    let property = |text: &str| {
        format!(
            "channel c; byte n; process P {{ state a; init a; trans a -> a {{ guard {text}; }}; }}
             process W {{ byte v; state q; init q; assert q: true; trans q -> q {{ effect n = 1; }}, q -> q {{ sync c?; }}; }}
             system async property W;"
        )
    };
    assert_told(
        &property("W.q"),
        &[
            ("v", "a property process has no variables", "remember"),
            ("W", "the model cannot look at its property", "watch"),
            ("c?", "a property process does not synchronise", "states"),
            ("true", "a property process asserts nothing", ""),
            ("q -> q { effect n = 1; }", "a property process changes nothing", "watch"),
        ],
    );
    let sync = "channel c; process P { state a; init a; trans a -> a { sync c!; }; } system sync;";
    assert_told(sync, &[("c!", "channels are not used in a synchronous system", "async")]);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "byte n = 300; process P { state a; init b; trans a -> c { guard m; effect n = k, l = 1; }; } system async;";
    let marked: Vec<String> = problems(text)
        .iter()
        .map(|problem| text[problem.span.start as usize..problem.span.end as usize].to_owned())
        .collect();
    assert_eq!(marked, ["300", "b", "c", "m", "n", "k", "l"]);
    let syntax = "byte 1; channel 2; process P { state 3; init; trans a -> { }, b -> b { guard ; sync ; } ; } system ;";
    assert_eq!(problems(syntax).len(), 8, "{}", show(syntax, &problems(syntax)));
}

/// Told, in reasonable time, and not about everything.
fn assert_refused(text: &str, message: &str) {
    let found = problems(text);
    assert!(found.iter().any(|problem| problem.message == message), "{:?}", found.first());
    assert!(found.len() <= 102);
}

#[test]
fn what_is_too_large_is_refused() {
    let deep = "this expression is nested too deeply";
    for (open, close) in [("(", ")"), ("list[", "]"), ("not ", ""), ("-", ""), ("1 - (", ")")] {
        let text = transition(&format!("guard {}n{};", open.repeat(100_000), close.repeat(100_000)));
        assert_refused(&text, deep);
    }
    assert_refused(&transition(&format!("guard n{};", " - n".repeat(300_000))), deep);
    assert_refused(&transition(&format!("guard n{};", " or n and n".repeat(100_000))), deep);
    // Long runs of one operator are shallow.
    assert!(problems(&transition(&format!("guard n{};", " && n".repeat(300_000)))).is_empty());
    assert!(problems(&transition(&format!("effect n = n{};", " + n".repeat(300_000)))).is_empty());

    let many = "trans a -> a { sync c!; }".to_owned() + &", a -> a { sync c!; }".repeat(20_000);
    let pairs = format!(
        "channel c; process S {{ state a; init a; {many}; }} process R {{ state a; init a; {}; }} system async;",
        many.replace('!', "?")
    );
    assert_refused(&pairs, "this model has too many actions");
    let alone = format!(
        "channel c; process S {{ state a; init a; {many}, {}; }} system async;",
        &many.replace('!', "?")[6..]
    );
    assert_refused(&alone, "this model has too many actions");
    let process =
        |name: usize| format!("process P{name} {{ state a; init a; trans a -> a {{}}, a -> a {{}}; }} ");
    let together: String = (0..40).map(process).collect();
    assert_refused(&format!("{together} system sync;"), "this model has too many actions");

    assert_refused(&"x ".repeat(3 << 20), "this file is too long for a model (6 MiB)");
    assert_refused(&format!("process P {{ {}", "é;".repeat(100_000)), "there are more than 100 mistakes");
    let unknown = transition(&format!("guard {};", vec!["u".repeat(5000); 200].join(" + ")));
    assert!(problems(&unknown).len() <= 100);
    let arrays: String = (0..100_000).map(|at| format!("byte a{at}[9];")).collect();
    assert_refused(&format!("{arrays} system async;"), "the variables of this model need too much room");
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
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_panics(
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
            let found = problems(&text);
            prop_assert!(found.iter().all(|problem| problem.span.end as usize <= text.len()));
            show(&text, &found);
        }
    }
}
