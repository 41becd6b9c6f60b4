//! Monitors for finite words against the semantics of every operator.

use crate::common::formula_text::parse;
use crate::common::machine_form::{check_form, letters};
use crate::common::{atoms, random_formula};
use invigil_ltl::formula::{Formulae, Node};
use invigil_ltl::moore::FourValuedTruth;
use invigil_ltl::word::Letter;
use invigil_ltl::{Budget, Formula, Logic};
use invigil_test_support::{Rng, cases};

/// Reference semantics: whether a formula holds at the first position of a finite word, or on the empty word.
fn holds(formulae: &Formulae, formula: Formula, word: &[Letter]) -> bool {
    let parts = formulae.subformulae(formula);
    let mut values: Vec<Vec<bool>> = Vec::new();
    for part in &parts {
        let of = |part: &Formula, at: usize| values[parts.binary_search(part).unwrap()][at];
        // The last entry is the value after the end of the word.
        let end = word.len();
        let mut value_at = vec![false; end + 1];
        let weak = matches!(
            formulae.node(*part),
            Node::True
                | Node::Globally(_)
                | Node::Release(_)
                | Node::WeakUntil(_)
                | Node::WeakYesterday(_)
                | Node::Historically(_)
                | Node::Triggered(_)
        );
        let node = formulae.node(*part).clone();
        value_at[end] = match &node {
            Node::Not(a) => !of(a, end),
            Node::And(all) => all.iter().all(|part| of(part, end)),
            Node::Or(all) => all.iter().any(|part| of(part, end)),
            _ => weak,
        };
        for at in (0..end).rev() {
            let next = value_at[at + 1];
            value_at[at] = match &node {
                Node::Atom(atom) => word[at].has(*atom),
                Node::Not(a) => !of(a, at),
                Node::And(all) => all.iter().all(|part| of(part, at)),
                Node::Or(all) => all.iter().any(|part| of(part, at)),
                Node::Next(a) => at + 1 < end && of(a, at + 1),
                Node::Finally(a) => of(a, at) || next,
                Node::Globally(a) => of(a, at) && next,
                Node::Until([a, b]) | Node::WeakUntil([a, b]) => of(b, at) || of(a, at) && next,
                Node::Release([a, b]) | Node::StrongRelease([a, b]) => of(b, at) && (of(a, at) || next),
                _ => weak,
            };
        }
        for at in 0..end {
            let before = at.checked_sub(1).map_or(weak, |before| value_at[before]);
            match &node {
                Node::Yesterday(a) | Node::WeakYesterday(a) => {
                    value_at[at] = at.checked_sub(1).map_or(weak, |before| of(a, before));
                }
                Node::Once(a) => value_at[at] = of(a, at) || before,
                Node::Historically(a) => value_at[at] = of(a, at) && before,
                Node::Since([a, b]) => value_at[at] = of(b, at) || of(a, at) && before,
                Node::Triggered([a, b]) => value_at[at] = of(b, at) && (of(a, at) || before),
                _ => {}
            }
        }
        values.push(value_at);
    }
    values.last().unwrap()[0]
}

#[test]
fn finite_and_presumptive_monitors_agree_with_semantics() {
    let rng = Rng::new(5);
    let mut logic = Logic::new(Budget::default());
    for case in 0..cases(300) {
        if case % 50 == 0 {
            logic = Logic::new(Budget::default());
        }
        let count = 1 + rng.below(2);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(14);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, case % 2 == 0);
        let machine = logic.finite_monitor(formula).unwrap();
        let certain = logic.monitor(formula).unwrap();
        let four = logic.presumptive_monitor(formula).unwrap();
        check_form(&logic, &machine);
        check_form(&logic, &four);
        let letters = letters(&atoms);
        let mut open = vec![(Vec::new(), [machine.initial, certain.initial, four.initial])];
        while let Some((word, [state, known, both])) = open.pop() {
            let expected = holds(&logic.formulae, formula, &word);
            assert_eq!(*machine.output(state), expected, "{:?} {word:?}", logic.formulae.node(formula));
            assert_eq!(*four.output(both), FourValuedTruth::new(*certain.output(known), expected));
            if word.len() < 4 {
                for letter in &letters {
                    let mut longer = word.clone();
                    longer.push(letter.clone());
                    let state = machine.next(&logic.labels, state, letter);
                    let known = certain.next(&logic.labels, known, letter);
                    open.push((longer, [state, known, four.next(&logic.labels, both, letter)]));
                }
            }
        }
    }
}

#[test]
fn next_is_false_at_last_position() {
    let mut logic = Logic::new(Budget::default());
    for (text, empty, one) in [
        ("X 1", false, false),
        ("!X 1", true, true),
        ("X !a", false, false),
        ("!X a", true, true),
        ("G a", true, true),
        ("F a", false, true),
        ("G X 1", true, false),
        ("F !X 1", false, true),
        ("a & !X 1", false, true),
    ] {
        let formula = parse(&mut logic.formulae, text);
        let machine = logic.finite_monitor(formula).unwrap();
        let letter: Letter = logic.formulae.atoms().map(|(atom, _)| atom).collect();
        assert_eq!(*machine.output(machine.initial), empty, "{text}");
        let state = machine.next(&logic.labels, machine.initial, &letter);
        assert_eq!(*machine.output(state), one, "{text}");
    }
}

#[test]
fn presumptive_monitors_have_expected_outputs() {
    let mut logic = Logic::new(Budget::default());
    for (text, outputs) in [
        ("G(a -> F b)", vec![FourValuedTruth::PresumablyTrue, FourValuedTruth::PresumablyFalse]),
        ("G a", vec![FourValuedTruth::PresumablyTrue, FourValuedTruth::False]),
        ("F a", vec![FourValuedTruth::PresumablyFalse, FourValuedTruth::True]),
    ] {
        let formula = parse(&mut logic.formulae, text);
        assert_eq!(logic.presumptive_monitor(formula).unwrap().outputs, outputs, "{text}");
    }
}

/// A single machine needs 2^10 states for the pending responses, a composite ten machines of two states.
#[test]
fn ten_responses_are_small_composite() {
    let mut logic = Logic::new(Budget::default());
    let all: Vec<String> = (0..10).map(|at| format!("G(a{at} -> F b{at})")).collect();
    let formula = parse(&mut logic.formulae, &all.join(" & "));
    let composite = logic.finite_composite(formula).unwrap();
    assert_eq!((composite.parts.len(), composite.states()), (10, 20));
    assert!(logic.finite_monitor(formula).is_err());
    let mut states = composite.start();
    let atom = |name: &str| logic.formulae.atoms().find(|(_, known)| known.to_string() == name).unwrap().0;
    for (letter, expected) in [(vec!["a3", "a4"], false), (vec!["b3"], false), (vec!["b4"], true)] {
        composite.step(&logic.labels, &mut states, &letter.into_iter().map(atom).collect());
        assert_eq!(composite.output(&states), Some(expected));
    }
}
