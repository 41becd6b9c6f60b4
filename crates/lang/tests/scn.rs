//! The scenario language: what can be written, and what is said about mistakes.

mod common;

use common::show;
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::scn::ast::{Moment, Which};
use invigil_lang::{prop, scn};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use proptest::prelude::*;

fn property(name: &str, text: &str) -> Automaton {
    let (parsed, problems) = prop::parse(SourceId(9), text);
    assert!(problems.is_empty(), "{}", show(text, &problems));
    prop::lower::lower(name, &parsed, &[], &mut Catalog::default()).0.expect("a property")
}

/// Two properties, with the states `init`, `ready`, `sink`, and `init`, `up`.
fn properties() -> [Automaton; 2] {
    let queue = "state init accepting { transition { event new() success ready } }
        state ready { transition { event push() success sink } } state sink non-accepting";
    let lift = "state init { transition { event call() success up } } state up accepting";
    [property("queue", queue), property("lift", lift)]
}

/// All that is wrong with a scenario.
fn problems(text: &str) -> Vec<Diagnostic> {
    let (scenario, mut problems) = scn::parse(SourceId(0), text);
    let [queue, lift] = properties();
    let (lowered, more) = scn::lower("test", &scenario, &[&queue, &lift]);
    if more.iter().all(|problem| !problem.is_error()) {
        assert!(lowered.is_some());
    }
    problems.extend(more);
    problems
}

fn good(text: &str) -> scn::Scenario {
    let (scenario, problems) = scn::parse(SourceId(0), text);
    assert!(problems.is_empty(), "{}", show(text, &problems));
    let [queue, lift] = properties();
    let (lowered, problems) = scn::lower("test", &scenario, &[&queue, &lift]);
    lowered.unwrap_or_else(|| panic!("{}", show(text, &problems)))
}

#[test]
fn every_form_of_a_reaction() {
    let text = "# a comment
        initialization { c = [] } # another
        on entering state sink { pass }
        on leaving state init { pass }
        on entering accepting state { pass }
        on leaving non-accepting state { pass }
        on entering non\u{2212}accepting state { pass }
        on leaving initial state { pass }
        on entering state init of lift { pass }
        on entering accepting state of \"queue\" { pass }";
    let (written, problems) = scn::parse(SourceId(0), text);
    assert!(problems.is_empty(), "{}", show(text, &problems));
    assert!(written.initialization.is_some());
    let moments: Vec<Moment> = written.reactions.iter().map(|reaction| reaction.moment).collect();
    use Moment::{Entering, Leaving};
    assert_eq!(moments, [Entering, Leaving, Entering, Leaving, Entering, Leaving, Entering, Entering]);
    assert!(matches!(&written.reactions[0].which, Which::State(name) if name.text == "sink"));
    assert_eq!(written.reactions[3].which, Which::NonAccepting);

    // Which states of the two properties each is about.
    let lowered = good(text);
    let states = |at: usize| -> Vec<Vec<u16>> {
        let all = lowered.reactions[at].states.iter();
        all.map(|states| (0..5).filter(|state| states.contains(*state)).collect()).collect()
    };
    assert_eq!(states(0), [vec![2], vec![]]);
    assert_eq!(states(1), [vec![0], vec![0]]);
    assert_eq!(states(2), [vec![0], vec![1]]);
    assert_eq!(states(3), [vec![2], vec![]]);
    assert_eq!(states(5), [vec![0], vec![0]]);
    assert_eq!(states(6), [vec![], vec![0]]);
    assert_eq!(states(7), [vec![0], vec![]]);
}

#[test]
fn variables_are_those_that_blocks_assign_to() {
    let lowered = good(
        "initialization { a = 1
            def f():
                global d
                local = 1
                d = local + a }
         on entering state sink { b = new_state
            f()
            for i in range(3): c = i }",
    );
    assert_eq!(lowered.env, ["a", "d", "b", "i", "c"]);
}

#[test]
fn an_empty_scenario_is_one() {
    for text in ["", "# nothing", "\n\n"] {
        assert!(good(text).reactions.is_empty());
    }
    assert_eq!(good(scn::DEFAULT).reactions.len(), 1);
}

#[test]
fn mistakes_are_pointed_at_with_a_remedy() {
    for (text, line, column, message, help) in [
        (
            "on entring state sink { pass }",
            1,
            4,
            "expected `entering`, found `entring`",
            "did you mean `entering`?",
        ),
        ("when entering state sink { pass }", 1, 1, "expected `on`, found `when`", "did you mean `on`?"),
        (
            "on enter state sink { pass }",
            1,
            4,
            "expected `entering`, found `enter`",
            "did you mean `entering`?",
        ),
        (
            "on state sink { pass }",
            1,
            4,
            "expected `entering` or `leaving`, found `state`",
            "write `on entering",
        ),
        ("on entering sink { pass }", 1, 13, "expected `state`, found `sink`", "write `state sink`"),
        ("on entering accepting { pass }", 1, 23, "expected `state`, found `{`", "write `on entering"),
        ("on entering nonaccepting state { pass }", 1, 13, "expected `non-accepting`", "did you mean"),
        (
            "on entering state { pass }",
            1,
            19,
            "expected the name of a state, found `{`",
            "write `on entering",
        ),
        ("on entering state sink pass", 1, 24, "expected `{`, found `pass`", "what to do stands in"),
        ("on entering state snik { pass }", 1, 19, "no property has a state `snik`", "did you mean `sink`?"),
        (
            "on entering state up of queue { pass }",
            1,
            19,
            "no property has a state `up`",
            "the states are `init`",
        ),
        (
            "on entering state up of lfit { pass }",
            1,
            25,
            "there is no property `lfit`",
            "did you mean `lift`?",
        ),
        ("on entering state up in lift { pass }", 1, 22, "expected `{`, found `in`", "did you mean `of`?"),
        ("initialisation { a = 1 }", 1, 1, "expected `initialization`", "did you mean `initialization`?"),
        ("initialization a = 1", 1, 16, "expected `{`, found `a`", "write `initialization {"),
        (
            "initialization { a = 1 } initialization { b = 1 }",
            1,
            26,
            "`initialization` stands here a second",
            "keep",
        ),
        (
            "state init accepting { }",
            1,
            1,
            "expected `on` or `initialization`, found `state`",
            "looks like a property",
        ),
        ("}", 1, 1, "this `}` closes nothing", "remove it"),
        (
            "on entering state sink { x = 1\non leaving state sink { pass }",
            1,
            24,
            "this block is not closed",
            "before `on`",
        ),
        ("on entering state sink { suspend() }", 1, 26, "there is no function `suspend`", "define it"),
        (
            "on entering state sink { suspend_execution(1) }",
            1,
            26,
            "`suspend_execution` takes 0 arguments, not 1",
            "",
        ),
        (
            "on entering state sink { set_watchpoint('i') }",
            1,
            26,
            "`set_watchpoint` takes 2 to 3 arguments",
            "",
        ),
        ("on entering state sink { after_breakpoint(f) }", 1, 43, "there is no function `f`", "define it"),
        (
            "on entering state sink { after_breakpoint('f') }",
            1,
            43,
            "expected the name of a function",
            "without paren",
        ),
        (
            "on entering state sink { new_state = 'x' }",
            1,
            26,
            "`new_state` is set by the session",
            "another name",
        ),
        ("on entering state sink { return 3 }", 1, 33, "a reaction returns nothing", ""),
        ("on entering state sink { print(nothing) }", 1, 32, "there is no variable `nothing`", "set it in"),
        ("on entering state sink {\n    x = = 1\n}", 2, 9, "expected an expression", ""),
    ] {
        let found = problems(text);
        assert_eq!(found.len(), 1, "{text}\n{}", show(text, &found));
        let before = &text[..found[0].span.start as usize];
        let place =
            (before.matches('\n').count() + 1, before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1);
        assert_eq!(place, (line, column), "{}", show(text, &found));
        assert!(found[0].message.starts_with(message), "{}", show(text, &found));
        assert!(found[0].help.as_deref().unwrap_or("").contains(help), "{}", show(text, &found));
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "initialization { a = }
        on entring state sink { pass }
        on entering state snik { nothing() }
        on leaving state init { f(1) }
        on leaving state init { def f(): pass }";
    let found = problems(text);
    let messages: Vec<&str> = found.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages.len(), 5, "{}", show(text, &found));
    assert!(messages.contains(&"`f` takes 0 arguments, not 1"));
}

#[test]
fn a_callback_takes_what_it_is_given() {
    let text = "initialization {
        def none(): pass
        def one(point): pass
        def two(a, b): pass
    }
    on entering state sink {
        after_breakpoint(none)
        set_breakpoint('f', none)
        set_breakpoint('f', one)
        set_watchpoint('i', 'rw', one)
        set_breakpoint('f')
    }";
    good(text);
    for (from, to, message) in [
        ("after_breakpoint(none)", "after_breakpoint(one)", "`one` takes 1 arguments"),
        ("set_breakpoint('f', one)", "set_breakpoint('f', two)", "`two` takes 2 arguments"),
    ] {
        let found = problems(&text.replace(from, to));
        assert_eq!(found[0].message, message);
        assert_eq!(found[0].related.len(), 1);
    }
}

#[test]
fn the_examples_of_the_documentation() {
    let document = include_str!("../../../docs/scenarios.md");
    let examples: Vec<&str> =
        document.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        assert!(!good(example).reactions.is_empty());
    }
}

#[test]
fn every_function_is_documented() {
    let document = include_str!("../../../docs/scenarios.md");
    for function in scn::HOST_FUNCTIONS {
        assert!(document.contains(&format!("`{}(", function.name)), "{}", function.name);
    }
    for variable in scn::IMPLICIT {
        assert!(document.contains(&format!("`{variable}`")), "{variable}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(on |entering |leaving |state |accepting |of |init|sink |\\{|\\}|\"|'|#|\n| |x = 1|non-accepting ){0,40}") {
        problems(&text);
    }
}
