//! Words that end, against the plain meaning of every operator.

use crate::common::form::{check_form, letters};
use crate::common::read::read;
use crate::common::{atoms, formula};
use invigil_ltl::formula::{Formulae, Node};
use invigil_ltl::moore::Four;
use invigil_ltl::word::Letter;
use invigil_ltl::{Budget, Formula, Logic};
use invigil_test_support::{Rng, cases};

/// Whether a formula holds on a word that ends: at its first instant, or on the empty word.
fn holds(formulae: &Formulae, formula: Formula, word: &[Letter]) -> bool {
    let parts = formulae.within(formula);
    let mut values: Vec<Vec<bool>> = Vec::new();
    for part in &parts {
        let of = |part: &Formula, at: usize| values[parts.binary_search(part).unwrap()][at];
        // The last place is that behind the end.
        let end = word.len();
        let mut found = vec![false; end + 1];
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
        found[end] = match &node {
            Node::Not(a) => !of(a, end),
            Node::And(all) => all.iter().all(|part| of(part, end)),
            Node::Or(all) => all.iter().any(|part| of(part, end)),
            _ => weak,
        };
        for at in (0..end).rev() {
            let next = found[at + 1];
            found[at] = match &node {
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
            let before = at.checked_sub(1).map_or(weak, |before| found[before]);
            match &node {
                Node::Yesterday(a) | Node::WeakYesterday(a) => {
                    found[at] = at.checked_sub(1).map_or(weak, |before| of(a, before));
                }
                Node::Once(a) => found[at] = of(a, at) || before,
                Node::Historically(a) => found[at] = of(a, at) && before,
                Node::Since([a, b]) => found[at] = of(b, at) || of(a, at) && before,
                Node::Triggered([a, b]) => found[at] = of(b, at) && (of(a, at) || before),
                _ => {}
            }
        }
        values.push(found);
    }
    values.last().unwrap()[0]
}

#[test]
fn machines_say_what_holds() {
    let rng = Rng::new(5);
    let mut logic = Logic::new(Budget::default());
    for case in 0..cases(300) {
        if case % 50 == 0 {
            logic = Logic::new(Budget::default());
        }
        let count = 1 + rng.below(2);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(14);
        let formula = formula(&rng, &mut logic.formulae, &atoms, size, case % 2 == 0);
        let machine = logic.finite(formula).unwrap();
        let certain = logic.monitor(formula).unwrap();
        let four = logic.presume(formula).unwrap();
        check_form(&logic, &machine);
        check_form(&logic, &four);
        let letters = letters(&atoms);
        let mut open = vec![(Vec::new(), [machine.initial, certain.initial, four.initial])];
        while let Some((word, [state, known, both])) = open.pop() {
            let expected = holds(&logic.formulae, formula, &word);
            assert_eq!(*machine.output(state), expected, "{:?} {word:?}", logic.formulae.node(formula));
            assert_eq!(*four.output(both), Four::of(*certain.output(known), expected));
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
fn the_last_instant() {
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
        let formula = read(&mut logic.formulae, text);
        let machine = logic.finite(formula).unwrap();
        let letter: Letter = logic.formulae.atoms().map(|(atom, _)| atom).collect();
        assert_eq!(*machine.output(machine.initial), empty, "{text}");
        let state = machine.next(&logic.labels, machine.initial, &letter);
        assert_eq!(*machine.output(state), one, "{text}");
    }
}

/// Four values of a response, of a safety property, and of what is neither.
#[test]
fn presumably() {
    let mut logic = Logic::new(Budget::default());
    for (text, outputs) in [
        ("G(a -> F b)", vec![Four::PresumablyTrue, Four::PresumablyFalse]),
        ("G a", vec![Four::PresumablyTrue, Four::False]),
        ("F a", vec![Four::PresumablyFalse, Four::True]),
    ] {
        let formula = read(&mut logic.formulae, text);
        assert_eq!(logic.presume(formula).unwrap().outputs, outputs, "{text}");
    }
}

/// What is pending in ten responses are two to the tenth states, or ten machines of two.
#[test]
fn ten_responses_in_parts() {
    let mut logic = Logic::new(Budget::default());
    let all: Vec<String> = (0..10).map(|at| format!("G(a{at} -> F b{at})")).collect();
    let formula = read(&mut logic.formulae, &all.join(" & "));
    let composite = logic.finite_composite(formula).unwrap();
    assert_eq!((composite.parts.len(), composite.states()), (10, 20));
    assert!(logic.finite(formula).is_err());
    let mut states = composite.start();
    let atom = |name: &str| logic.formulae.atoms().find(|(_, known)| known.to_string() == name).unwrap().0;
    for (letter, expected) in [(vec!["a3", "a4"], false), (vec!["b3"], false), (vec!["b4"], true)] {
        composite.step(&logic.labels, &mut states, &letter.into_iter().map(atom).collect());
        assert_eq!(composite.output(&states), Some(expected));
    }
}
