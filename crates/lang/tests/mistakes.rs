//! Every mistake is reported where it is, with what to do about it.

mod common;

use common::{FIXTURES, show};
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::prop;
use proptest::prelude::*;

/// A property whose only transition, on line 3 from column 5 on, is `text`.
fn within(text: &str) -> String {
    format!("state init {{\n  transition {{\n    {text}\n  }}\n}}\nstate a\n")
}

fn problems(text: &str) -> Vec<Diagnostic> {
    prop::parse(SourceId(0), text).1
}

/// Line, column, message and a part of the help.
type Told = (usize, usize, &'static str, &'static str);

fn assert_told(text: &str, told: &[Told]) {
    let mut sources = Sources::default();
    sources.add("test.prop", text);
    let found = problems(text);
    assert_eq!(found.len(), told.len(), "in {text:?}\n{}", show(text, &found));
    for (problem, (line, column, message, help)) in found.iter().zip(told) {
        let place = sources.place(problem.span).expect("a place in the file");
        let said = (place.line, place.column, problem.message.as_str());
        assert_eq!(said, (*line, *column, *message), "in {text:?}\n{}", show(text, &found));
        assert!(problem.help.as_deref().unwrap_or("").contains(help), "in {text:?}\n{}", show(text, &found));
        assert!(problem.is_error() && !problem.label.is_empty());
    }
}

#[test]
fn mistakes_between_the_states() {
    let table: &[(&str, Told)] = &[
        ("", (1, 1, "this property has no states", "`state init { … }`")),
        ("# just\n# words\n", (3, 1, "this property has no states", "`state init { … }`")),
        ("stat init {}", (1, 1, "expected `state`, found `stat`", "did you mean `state`?")),
        ("init accepting {}", (1, 1, "expected `state`, found `init`", "write `state init`")),
        ("état init {}", (1, 1, "expected `state`, found `état`", "the parts of a property are")),
        (
            "initialisation {}\nstate a",
            (1, 1, "expected `initialization`, found `initialisation`", "did you"),
        ),
        ("initialization N = 0\nstate a", (1, 16, "expected `{`, found `N`", "`initialization { N = 0 }`")),
        (
            "initialization {}\ninitialization {}\nstate a",
            (2, 1, "`initialization` stands here a second time", "keep one"),
        ),
        ("slice queue\nstate a", (1, 7, "expected `on`, found `queue`", "`slice on`")),
        ("slice on\nstate a", (2, 1, "expected the name of a parameter, found `state`", "`slice on queue`")),
        ("slice on a b\nstate a", (1, 12, "expected `,` or a state, found `b`", "commas")),
        (
            "slice on #ecid\nstate a",
            (1, 10, "expected the name of a parameter, found `#ecid`", "#ecid as ecid"),
        ),
        ("slice on a\nslice on b\nstate a", (2, 1, "`slice on` stands here a second time", "keep one")),
        ("state a {\n}\n}\n", (3, 1, "this `}` closes nothing", "remove it")),
        ("@@ $$\nstate a", (1, 1, "expected a state, found `@`", "the parts of a property")),
        (
            "state a {\n}\ntransition { event f() success a }",
            (3, 1, "this transition is outside a state", "closes the state too early"),
        ),
        ("initialization {\n  x = {\nstate a", (1, 16, "this block is not closed", "before `state`")),
        ("initialization { x = 1", (1, 16, "this block is not closed", "every `{` needs its `}`")),
    ];
    for (text, told) in table {
        assert_told(text, &[*told]);
    }
}

#[test]
fn mistakes_in_a_state() {
    let table: &[(&str, Told)] = &[
        ("state", (1, 6, "expected the name of a state, found the end of the file", "a name of your own")),
        ("state {\n}", (1, 7, "expected the name of a state, found `{`", "a name of your own")),
        ("state a acepting", (1, 9, "expected `accepting`, found `acepting`", "did you mean `accepting`?")),
        (
            "state a nonaccepting",
            (1, 9, "expected `non-accepting`, found `nonaccepting`", "`non-accepting`?"),
        ),
        ("state a non accepting", (1, 9, "expected `non-accepting`, found `non`", "`non-accepting`?")),
        (
            "state a accepting non-accepting",
            (1, 19, "a state is either `accepting` or `non-accepting`, not both", "keep one"),
        ),
        ("state a final final", (1, 15, "`final` stands here a second time", "keep one")),
        ("state a f() g()", (1, 13, "a state makes one call, and this is a second", "keep one")),
        (
            "state a sink_reached",
            (1, 9, "expected `{` or the next state, found `sink_reached`", "`sink_reached()`"),
        ),
        ("state a report(1, 2\nstate b", (1, 15, "this parenthesis is not closed", "`report()`")),
        ("state in-it {}", (1, 9, "expected `{`, found `-`", "letters, digits and `_`")),
        (
            "state a import transition from state b",
            (1, 16, "expected `transitions`, found `transition`", "`import transitions from state NAME`"),
        ),
        (
            "state a { import transitions from state }",
            (1, 41, "expected the name of a state, found `}`", "`import transitions from state NAME`"),
        ),
        ("state a {\nstate b", (1, 9, "state `a` is not closed", "before `state`")),
        ("state a {", (1, 9, "state `a` is not closed", "every `{` needs its `}`")),
        (
            "state a\ntransition { event f() success a }\n}",
            (2, 1, "expected `{`, found `transition`", "{ … }"),
        ),
        (
            "state a {\n success b\n}",
            (2, 2, "expected `transition` or `}`, found `success`", "`transition { event … }`"),
        ),
        (
            "state a {\n transitoin { event f() success a }\n}",
            (2, 2, "expected `transition`, found `transitoin`", "did you mean `transition`?"),
        ),
        (
            "state a {\n event f() success a\n}",
            (2, 2, "expected `transition {`, found `event`", "`transition { event … }`"),
        ),
    ];
    for (text, told) in table {
        assert_told(text, &[*told]);
    }
}

#[test]
fn mistakes_in_an_event() {
    let table: &[(&str, Told)] = &[
        ("f(x) success a", (3, 5, "expected `event`, found `f`", "write `event f …`")),
        ("before f(x) success a", (3, 12, "expected `event`, found `f`", "write `before event f …`")),
        ("write s(s) success a", (3, 5, "expected `event`, found `write`", "write `event write …`")),
        ("evnt f(x) success a", (3, 5, "expected `event`, found `evnt`", "did you mean `event`?")),
        ("bfore event f(x) success a", (3, 5, "expected `before`, found `bfore`", "did you mean `before`?")),
        ("success a", (3, 5, "expected `event`, found `success`", "waits for an event")),
        (
            "event (x) success a",
            (3, 11, "expected the name of an event, found `(`", "the name of a function"),
        ),
        (
            "event #jion(#ecid)\n success a",
            (4, 2, "expected the name of an event, found `success`", "did you mean `#join`?"),
        ),
        (
            "before event #join success a",
            (3, 18, "`#join` just happens: it has no before and after, and no access", "`event #join`"),
        ),
        ("event f(x y) success a", (3, 15, "expected `,` or `)`, found `y`", "a comma")),
        ("event f(int x) success a", (3, 17, "expected `,` or `)`, found `x`", "`x: int`")),
        ("event f(q->size) success a", (3, 14, "expected `,` or `)`, found `->`", "a parameter is a name")),
        (
            "event f(\"q->size\") success a",
            (3, 13, "this expression needs a name", "write `\"q->size\" as NAME`"),
        ),
        ("event f(x { return x } success a", (3, 15, "expected `,` or `)`, found `{`", "with `)`")),
        ("event f(a,,b) success a", (3, 15, "expected a parameter, found `,`", "a parameter is a name")),
        ("event f(1) success a", (3, 13, "expected a parameter, found `1`", "`arg 1`")),
        ("event f(...) success a", (3, 13, "expected a parameter, found `.`", "`f()` fits any arguments")),
        ("event f(arg 0) success a", (3, 17, "there is no argument 0", "counted from one")),
        ("event f(x: Queue) success a", (3, 16, "there is no type `Queue`", "`int`, `float`, `bool`")),
        ("event f(x: doubl) success a", (3, 16, "there is no type `doubl`", "did you mean `double`?")),
        ("event f(x:) success a", (3, 15, "expected a type, found `)`", "the types are")),
        ("event f(x as) success a", (3, 17, "expected a name for the parameter, found `)`", "`as`")),
        ("event f(x as y as z) success a", (3, 20, "`as` stands here a second time", "keep one")),
    ];
    for (text, told) in table {
        assert_told(&within(text), &[*told]);
    }
}

#[test]
fn mistakes_in_what_follows_an_event() {
    let table: &[(&str, Told)] = &[
        ("event f() sucess a", (3, 15, "expected `success`, found `sucess`", "did you mean `success`?")),
        (
            "event f() success a else init",
            (3, 25, "expected `failure`, found `else`", "did you mean `failure`?"),
        ),
        ("event f() success { x } faillure a", (3, 29, "expected `failure`, found `faillure`", "`failure`?")),
        ("event f() success a success a", (3, 25, "`success` stands here a second time", "keep one")),
        (
            "event f() success a failure a failure a",
            (3, 35, "`failure` stands here a second time", "keep one"),
        ),
        (
            "event f() failure a success a",
            (3, 25, "`success` stands behind `failure`", "put `success` first"),
        ),
        ("event f() -> a", (3, 15, "expected `success`, found `->`", "write `success`")),
        ("event f() => a", (3, 15, "expected `success`, found `=>`", "write `success`")),
        (
            "event f() success -> a",
            (3, 23, "expected a state, a block or a call, found `->`", "`success NAME`"),
        ),
        ("event f() success { x } ⇒ a", (3, 29, "expected a state, found `⇒`", "without an arrow")),
        ("event f() success: a", (3, 22, "expected a state, a block or a call, found `:`", "`success NAME`")),
        ("event f() success", (4, 3, "expected a state, a block or a call, found `}`", "`success NAME`")),
        (
            "event f() success failure a",
            (3, 23, "expected a state, a block or a call, found `failure`", "`success NAME`"),
        ),
        (
            "event f() success a { x }",
            (3, 25, "expected `failure` or `}`, found `{`", "`success { … } NAME`"),
        ),
        ("event f() success a g()", (3, 25, "expected `failure` or `}`, found `g`", "`success f() NAME`")),
        (
            "event f() success a b",
            (3, 25, "expected `success`, `failure` or `}`, found `b`", "behind `success`"),
        ),
        (
            "event f() success a; failure a",
            (3, 24, "expected `success`, `failure` or `}`, found `;`", "nothing"),
        ),
        (
            "event f() if x > 0 success a",
            (3, 15, "expected `success`, `failure` or `}`, found `if`", "{ return … }"),
        ),
        (
            "event f() [x > 0] success a",
            (3, 15, "expected `success`, `failure` or `}`, found `[`", "{ return … }"),
        ),
        (
            "event f() { a } { b } success a",
            (3, 21, "expected `success`, `failure` or `}`, found `{`", "one guard"),
        ),
        ("event f() { return x\n    success a", (3, 15, "this block is not closed", "before `success`")),
        ("event f() { print('x) }\n    success a", (3, 23, "this string is not closed", "same quotes")),
        ("event f() { x = \"\"\"y }\n    success a", (3, 21, "this string is not closed", "same quotes")),
        (
            "event f() success a\n  transition { event g() success a",
            (2, 14, "this transition is not closed", "before `transition`"),
        ),
    ];
    for (text, told) in table {
        let text = within(text);
        let found = problems(&text);
        assert!(!found.is_empty(), "{text}");
        // The last one leaves a brace short, which is told as well.
        let rest = if text.contains("event g") { 1 } else { found.len() };
        assert_eq!(rest, 1, "{}", show(&text, &found));
        let mut sources = Sources::default();
        sources.add("test.prop", text.as_str());
        let (line, column, message, help) = *told;
        let place = sources.place(found[0].span).expect("a place in the file");
        let said = (place.line, place.column, found[0].message.as_str());
        assert_eq!(said, (line, column, message), "{}", show(&text, &found));
        assert!(found[0].help.as_deref().unwrap_or("").contains(help), "{}", show(&text, &found));
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "slice queue
initialization { N = 0 }
state init acepting {
    transition {
        event f(x: nubmer) { return x
        sucess bad
    }
    transition { event g() -> bad }
}
state bad nonaccepting
";
    let found = problems(text);
    let messages: Vec<&str> = found.iter().map(|problem| problem.message.as_str()).collect();
    assert!(messages.len() >= 5, "{}", show(text, &found));
    for part in ["`on`", "`accepting`", "`nubmer`", "`non-accepting`"] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part}\n{}", show(text, &found));
    }
}

#[test]
fn a_second_clause_points_at_the_first() {
    let text = within("event f() success a success b");
    let found = problems(&text);
    let (first, _) = &found[0].related[0];
    assert_eq!(&text[first.start as usize..first.end as usize], "success");
    assert!(first.end < found[0].span.start);
}

#[test]
fn a_file_that_is_no_property_is_refused_kindly() {
    let found = problems(&"x".repeat((4 << 20) + 1));
    assert!(found[0].message.contains("too long"));
    let found = problems(&"\"event\": [1, 2]}\n".repeat(10_000));
    assert!(found.len() <= 101, "{}", found.len());
    assert!(found.last().unwrap().message.contains("more than 100 mistakes"));
}

#[test]
fn large_and_deep_input_is_read_in_good_time() {
    for text in [
        format!("initialization {{{}", "{".repeat(1 << 20)),
        format!("initialization {{{}{}}} state a", "{".repeat(1 << 19), "}".repeat(1 << 19)),
        format!("state init {{ transition {{ event f({}x) success init }} }}", "*&^".repeat(1 << 18)),
        "state a {".repeat(1 << 17),
        "transition {".repeat(1 << 17),
        format!("state init {{ {} }}", "transition { event f() { x } success { y } init }".repeat(20_000)),
        format!("initialization {{ {} }} state a", "'\\\n\"".repeat(1 << 17)),
        format!("state a {}", "f(".repeat(1 << 18)),
        format!("slice on {}", "a,".repeat(1 << 18)),
        "event f<".repeat(1 << 18),
        "#".repeat(1 << 20),
    ] {
        let start = std::time::Instant::now();
        problems(&text);
        let _ = prop::format(SourceId(0), &text);
        assert!(start.elapsed().as_secs() < 20, "{}…", &text[..40]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_properties_never_break_the_reader(
        which in 0usize..FIXTURES.len(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0u8..4), 1..8),
    ) {
        let mut bytes = FIXTURES[which].1.as_bytes().to_vec();
        for (place, byte, what) in changes {
            let at = place.index(bytes.len().max(1));
            bytes.extend(if bytes.is_empty() { Some(b' ') } else { None });
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"{}()#'\"\n\\"[byte as usize % 9]),
                2 => { bytes.remove(at); }
                _ => bytes.truncate(at.max(1)),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let found = problems(&text);
        prop_assert!(found.iter().all(|problem| problem.span.end as usize <= text.len()));
        prop_assert!(found.iter().all(|problem| text.is_char_boundary(problem.span.start as usize)));
        show(&text, &found);
        let formatted = prop::format(SourceId(0), &text);
        prop_assert_eq!(formatted.is_err(), !found.is_empty());
    }

    #[test]
    fn words_in_any_order_never_break_the_reader(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "state", "init", "{", "}", "transition", "event", "before", "success", "failure", "(", ")", ",",
            "accepting", "non-accepting", "final", "import", "transitions", "from", "slice", "on", "->", ":",
            "initialization", "write", "arg", "1", "as", "*", "#join", "#ecid", "\n", "'", "\"", "# c\n", "call",
        ]), 0..60,
    )) {
        let text = words.join(" ");
        let found = problems(&text);
        show(&text, &found);
    }
}
