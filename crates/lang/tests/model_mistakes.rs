//! What is said of models with mistakes, and where; and that no text is too much.

mod model_common;

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::model::load;
use invigil_lang::report;
use model_common::{explore, problems};
use proptest::prelude::*;

/// A process with that state, in which the mistake is.
fn state(inside: &str) -> String {
    format!(
        "enum Colour {{ red, green }} record Point {{ x: 0..3, y: 0..3 }} enum Signal {{ go, stop(0..3) }}
x: 0..7 colour: Colour row: [3] of 0..7 point: Point channel c: 0..3 channel d[2]: bool
process Box {{ mailbox fifo[2] of Signal state s {{ on go; }} }}
process P {{ busy: bool state idle {{ {inside} }} state done }}"
    )
}

#[test]
fn mistakes_say_what_and_where() {
    for (text, message, caret, help) in [
        (
            "process P { stat a }",
            "expected a state or a variable, found `stat`",
            "stat",
            "did you mean `state`?",
        ),
        (
            "proces P { state a }",
            "expected a declaration, found `proces`",
            "proces",
            "did you mean `process`?",
        ),
        ("int x = 3", "expected a declaration, found `int`", "int", "a variable is written `x: 0..7 = 0`"),
        ("x: int", "an integer needs its range here", "int", "write `0..7`, or `-8..7`"),
        ("x: 0..3 = 4 process P { state a }", "4 is not in 0..3", "4", ""),
        ("x: 3..0 process P { state a }", "there is nothing from 3 to 0", "3..0", ""),
        (
            "x: Color process P { state a } enum Colour { red }",
            "there is no type `Color`",
            "Color",
            "types are declared before they are used",
        ),
        (
            "enum Colour { red } x: Color process P { state a }",
            "there is no type `Color`",
            "Color",
            "did you mean `Colour`?",
        ),
        ("x: bool x: bool process P { state a }", "`x` is declared twice", "x", ""),
        ("const N = 3 x: [N + y] of bool process P { state a }", "there is no `y`", "y", "did you mean `N`?"),
        ("y: 0..3 x: [y] of bool process P { state a }", "this must be a constant", "y", ""),
        (
            "x: [100000] of bool process P { state a }",
            "an array has 1 to 65536 elements in all",
            "100000",
            "",
        ),
        ("process P[i in 0..99999] { state a }", "there may be 1024 of them, not 100000", "0..99999", ""),
        (
            "channel c[0]: bool process P { state a }",
            "there is room for 1 to 255, not for 0",
            "0",
            "a channel without `[…]` has no room: sender and receiver meet",
        ),
        ("process P { }", "`P` has no states", "P", "write `state idle { … }`"),
        ("process P { state a state a }", "the state `a` is declared twice", "a", ""),
        ("process P { initial state a initial state b }", "a process has one initial state", "b", ""),
        (
            "process P { mailbox fifo[2] of Sgnal state a } enum Signal { go }",
            "there is no enum `Sgnal`",
            "Sgnal",
            "did you mean `Signal`?",
        ),
        (
            "instance A = P(1)",
            "there is no process `P` with parameters",
            "P",
            "it is declared by `process P(x, y) { … }`, before its instances",
        ),
        ("process P(a) { state s } instance A = P(1, 2)", "`P` has 1 parameters, not 2", "A = P", ""),
        ("", "this model has no process", "", "write `process P { state idle { … } }`"),
        ("x: bool", "this model has no process", "", "write `process P { state idle { … } }`"),
        (
            "process P { state a } invariant i: P.b",
            "`P` has no state or variable `b`",
            "b",
            "did you mean `a`?",
        ),
        ("process P { state a } invariant i: happens(go)", "no action is called `go`", "go", ""),
        ("process P { state a } ltl i: G F bb", "", "bb", ""),
    ] {
        check(text, message, caret, help);
    }
    for (inside, message, caret, help) in [
        ("-> doen;", "`P` has no state `doen`", "doen", "did you mean `done`?"),
        (
            "-> done",
            "expected `;` or an effect in braces, found `}`",
            "}",
            "a transition is written `when x > 0 -> busy { x = 0 }`",
        ),
        ("when x -> done;", "expected a truth value, found a number", "x", "compare it: `… != 0`"),
        (
            "when x = 1 -> done;",
            "expected `when`, `on`, `->`, `;` or an effect in braces, found `=`",
            "=",
            "a transition is written `when x > 0 -> busy { x = 0 }`",
        ),
        ("whn x == 1 -> done;", "`whn` begins no transition", "whn", "did you mean `when`?"),
        ("{ x == 1 }", "expected `=`, found `==`", "==", "to assign, write `=`"),
        ("{ x = 9 }", "9 is not in 0..7", "9", ""),
        ("{ x = true }", "expected a number, found a truth value", "true", ""),
        ("{ colour = blue }", "there is no `blue`", "blue", ""),
        ("{ colour = grean }", "there is no `grean`", "grean", "did you mean `green`?"),
        ("{ row[3] = 1 }", "there is no element 3", "3", ""),
        ("{ row = 1 }", "this is one value, and several are wanted", "1", "assign the parts one by one"),
        ("{ point.z = 1 }", "`Point` has no field `z`", "z", "did you mean `x`?"),
        ("{ x = point }", "this is a record, not one value", "point", ""),
        ("{ c = 1 }", "this cannot be assigned: it is a channel", "c", ""),
        ("{ x = any(0..9) }", "0..9 is not in 0..7", "0..9", ""),
        ("{ c!1 }", "expected `=`, found `!`", "!", "channels stand before the effect: `c!1 -> sent { … }`"),
        ("{ bussy = true }", "there is no `bussy`", "bussy", "did you mean `busy`?"),
        ("{ x = x' + 1 }", "primes are for invariants and predicates", "x'", "remove the prime"),
        (
            "when enabled(go) -> done;",
            "`enabled` is for invariants and predicates",
            "enabled",
            "actions cannot look at actions",
        ),
        ("c!true -> done;", "expected a number, found a truth value", "true", ""),
        ("c! -> done;", "`c` carries one value, not 0", "c", ""),
        ("x!1 -> done;", "`x` is no channel", "x", ""),
        (
            "c!1 c!2 -> done;",
            "a transition waits for one event or channel",
            "c",
            "put a `committed` state between them",
        ),
        ("on go -> done;", "`P` has no mailbox", "go", "add `mailbox fifo[3] of Signal` to it"),
        ("{ send Box.goo }", "`Box` takes no event `goo`", "goo", "did you mean `go`?"),
        ("{ send Box.stop }", "`stop` carries one value, not 0", "stop", ""),
        ("{ send P.go }", "`P` has no mailbox", "P.go", "add `mailbox fifo[3] of Signal` to it"),
        ("{ for i in 0..x { } }", "this must be a constant", "x", ""),
        (
            "when length(c) > 0 -> done;",
            "nothing waits here",
            "c",
            "this is for channels with room, and processes with a mailbox",
        ),
        ("{ x = 1 / 0 }", "this divides by 0", "0", ""),
    ] {
        check(&state(inside), message, caret, help);
    }
}

fn check(text: &str, message: &str, caret: &str, help: &str) {
    let found = problems(text);
    let first = found.first().unwrap_or_else(|| panic!("nothing is said of {text}"));
    assert!(first.is_error() && load(SourceId(0), text).0.is_none(), "{text}");
    let at = &text[first.span.start as usize..first.span.end as usize];
    if message.is_empty() {
        assert_eq!(at, caret, "{text}: {}", first.message);
        return;
    }
    let told = (first.message.as_str(), at, first.help.as_deref().unwrap_or_default());
    assert_eq!(told, (message, caret, help), "{text}");
}

#[test]
fn several_mistakes_are_told_at_once() {
    let text = "
process P {
    stat a
    state b { whn x -> c; -> d; }
}
proces Q { state a }
";
    assert_eq!(problems(text).len(), 3, "{:?}", problems(text));
    let found = problems(&state("{ x = y; colour = 1 } when z -> nowhere;"));
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn a_name_that_is_not_used_may_be_misspelt() {
    let text = "channel c[1]: bool process P { ready: bool state a { c?redy; c!true; } }";
    let found = problems(text);
    assert_eq!(found.len(), 1);
    assert!(!found[0].is_error() && load(SourceId(0), text).0.is_some());
    assert_eq!(found[0].help.as_deref(), Some("did you mean `ready`? `_` is for what is not wanted"));
}

#[test]
fn hostile_texts_are_refused() {
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
        let (loaded, problems) = load(source, &text);
        assert!(loaded.is_none(), "{}", &text.chars().take(60).collect::<String>());
        assert!(problems.iter().any(Diagnostic::is_error) && problems.len() <= 51);
        report::render(&sources, &problems[..1], false);
    }
    // Names need not be ASCII.
    assert_eq!(explore("process Ünï { state ä { -> ö; } state ö }").states, 2);
}

/// Models from which others are made by mutilation.
const SEEDS: &str = include_str!("../../../docs/models.md");

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]
    #[test]
    fn mutilated_models_are_read_without_a_panic(
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
        let (loaded, problems) = load(source, &text);
        report::render(&sources, &problems, true);
        prop_assert_eq!(loaded.is_some(), !problems.iter().any(Diagnostic::is_error));
        if let Some(loaded) = loaded {
            // What was read can be run.
            for start in loaded.model.starts() {
                for action in loaded.model.enabled(&start.words) {
                    loaded.model.outcomes(&start.words, action);
                }
            }
        }
    }
}
