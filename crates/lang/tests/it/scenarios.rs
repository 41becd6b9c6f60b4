//! The scenario language: syntax and diagnostics.

use crate::prop::common::show;
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::scn;
use invigil_lang::scn::ast::{StateSelector, Trigger};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_test_support::language;
use proptest::prelude::*;

fn property(name: &str, text: &str) -> Automaton {
    language::property(name, text, &mut EventCatalog::default())
}

/// Two properties, with the states `init`, `ready`, `sink`, and `init`, `up`.
fn properties() -> [Automaton; 2] {
    let queue = "state init accepting { transition { event new() success ready } }
        state ready { transition { event push() success sink } } state sink non-accepting";
    let lift = "state init { transition { event call() success up } } state up accepting";
    [property("queue", queue), property("lift", lift)]
}

/// The diagnostics of a scenario.
fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let (scenario, mut diagnostics) = scn::parse(SourceId(0), text);
    let [queue, lift] = properties();
    let (lowered, more) = scn::lower("test", &scenario, &[&queue, &lift]);
    if more.iter().all(|diagnostic| !diagnostic.is_error()) {
        assert!(lowered.is_some());
    }
    diagnostics.extend(more);
    diagnostics
}

fn good(text: &str) -> scn::Scenario {
    let (scenario, diagnostics) = scn::parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{}", show(text, &diagnostics));
    let [queue, lift] = properties();
    let (lowered, diagnostics) = scn::lower("test", &scenario, &[&queue, &lift]);
    lowered.unwrap_or_else(|| panic!("{}", show(text, &diagnostics)))
}

#[test]
fn all_reaction_forms_parse() {
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
    let (written, diagnostics) = scn::parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{}", show(text, &diagnostics));
    assert!(written.initialization.is_some());
    let moments: Vec<Trigger> = written.reactions.iter().map(|reaction| reaction.trigger).collect();
    use Trigger::{Entering, Leaving};
    assert_eq!(moments, [Entering, Leaving, Entering, Leaving, Entering, Leaving, Entering, Entering]);
    assert!(matches!(&written.reactions[0].selector, StateSelector::State(name) if name.text == "sink"));
    assert_eq!(written.reactions[3].selector, StateSelector::NonAccepting);

    // The selected states of both properties.
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
fn environment_holds_assigned_variables() {
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
fn empty_scenario_compiles() {
    for text in ["", "# nothing", "\n\n"] {
        assert!(good(text).reactions.is_empty());
    }
    assert_eq!(good(scn::DEFAULT).reactions.len(), 1);
}

#[test]
fn documented_examples_compile() {
    let document = include_str!("../../../../docs/scenarios.md");
    let examples: Vec<&str> =
        document.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        assert!(!good(example).reactions.is_empty());
    }
}

#[test]
fn all_host_functions_are_documented() {
    let document = include_str!("../../../../docs/scenarios.md");
    for function in scn::HOST_FUNCTIONS {
        assert!(document.contains(&format!("`{}(", function.name)), "{}", function.name);
    }
    for variable in scn::IMPLICIT_VARIABLES {
        assert!(document.contains(&format!("`{variable}`")), "{variable}");
    }
}

proptest! {
    #[test]
    fn any_text_parses_without_panic(text in "(on |entering |leaving |state |accepting |of |init|sink |\\{|\\}|\"|'|#|\n| |x = 1|non-accepting ){0,40}") {
        diagnostics(&text);
    }
}
