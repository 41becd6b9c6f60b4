//! What one can do with automata, on random ones: against definitions, and against each other.

use crate::common::random::automaton;
use crate::common::{atoms, lasso};
use invigil_ltl::automaton::{Automaton, Edge};
use invigil_ltl::formula::Atom;
use invigil_ltl::label::Label;
use invigil_ltl::word::{Lasso, Letter};
use invigil_ltl::{Budget, Logic};
use invigil_test_support::Rng;

/// From these states one can take an edge of every set again and again (Emerson and Lei).
fn accepts_something(automaton: &Automaton) -> bool {
    let count = automaton.states();
    let mut good = vec![true; count];
    for _ in 0..=count {
        for set in 0..automaton.sets.max(1) {
            let has = |edge: &Edge| automaton.sets == 0 || edge.marks >> set & 1 == 1;
            let mut leads = vec![false; count];
            for _ in 0..=count {
                for state in 0..count {
                    leads[state] |= automaton.edges[state].iter().any(|edge| {
                        let to = edge.target as usize;
                        has(edge) && good[to] || leads[to]
                    });
                }
            }
            good = leads;
        }
    }
    good[automaton.initial as usize]
}

fn each(cases: u64, mut check: impl FnMut(&Rng, &mut Logic, &[Atom])) {
    let cases = invigil_test_support::cases(cases);
    for seed in 0..cases {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 14, ..Budget::default() });
        let count = 1 + rng.below(3);
        let atoms = atoms(&mut logic.formulae, count);
        check(&rng, &mut logic, &atoms);
    }
}

#[test]
fn empty_or_with_a_word() {
    let mut full = 0;
    each(3000, |rng, logic, atoms| {
        let automaton = automaton(rng, logic, atoms);
        let expected = accepts_something(&automaton);
        assert_eq!(automaton.is_empty(), !expected, "{automaton:?}");
        let word = automaton.word(&logic.labels);
        assert_eq!(word.is_some(), expected);
        if let Some(word) = word {
            full += 1;
            assert!(automaton.accepts(&logic.labels, &word), "{word:?} {automaton:?}");
        }
    });
    assert!((500..2500).contains(&full), "{full}");
}

#[test]
fn product_and_union() {
    let (mut meeting, mut apart) = (0, 0);
    each(2000, |rng, logic, atoms| {
        let (left, right) = (automaton(rng, logic, atoms), automaton(rng, logic, atoms));
        let product = left.product(&right, logic).unwrap();
        let union = left.union(&right, logic).unwrap();
        for _ in 0..20 {
            let word = lasso(rng, atoms);
            let (in_left, in_right) =
                (left.accepts(&logic.labels, &word), right.accepts(&logic.labels, &word));
            assert_eq!(product.accepts(&logic.labels, &word), in_left && in_right);
            assert_eq!(union.accepts(&logic.labels, &word), in_left || in_right, "{left:?} {right:?}");
        }
        let meets = left.meets(&right, logic).unwrap();
        assert_eq!(meets, accepts_something(&product));
        match left.common_word(&right, logic).unwrap() {
            Some(word) => {
                meeting += 1;
                assert!(left.accepts(&logic.labels, &word) && right.accepts(&logic.labels, &word));
                assert!(meets);
            }
            None => {
                apart += usize::from(!left.is_empty() && !right.is_empty());
                assert!(!meets);
            }
        }
    });
    assert!(meeting > 100 && apart > 10, "{meeting} meet, {apart} do not");
}

#[test]
fn words_are_short() {
    let mut logic = Logic::new(Budget::default());
    let atoms = atoms(&mut logic.formulae, 2);
    let (a, b) = (logic.labels.atom(atoms[0]).unwrap(), logic.labels.atom(atoms[1]).unwrap());
    let top = logic.labels.top();
    let edge = |label: &Label, marks, target| Edge { label: label.clone(), marks, target };
    // A way of three steps to one accepting cycle, and one of a step to another that collects two marks.
    let automaton = Automaton {
        initial: 0,
        edges: vec![
            vec![edge(&top, 0, 1), edge(&a, 0, 3)],
            vec![edge(&top, 0, 2)],
            vec![edge(&top, 0, 5)],
            vec![edge(&b, 1, 4), edge(&top, 0, 3)],
            vec![edge(&top, 2, 3)],
            vec![edge(&top, 3, 5)],
        ],
        sets: 2,
    };
    let letter = |holds: &[Atom]| holds.iter().copied().collect::<Letter>();
    let cycle = vec![letter(&[atoms[1]]), letter(&[])];
    let word = automaton.word(&logic.labels).unwrap();
    assert_eq!(word, Lasso { prefix: vec![letter(&[atoms[0]])], cycle: cycle.clone() });
    let other = Automaton { initial: 3, ..automaton };
    assert_eq!(other.word(&logic.labels).unwrap(), Lasso { prefix: vec![], cycle });
}

#[test]
fn the_shortest_form_is_the_same_word() {
    let mut shorter = 0;
    each(2000, |rng, logic, atoms| {
        let word = lasso(rng, &atoms[..1]);
        let short = word.clone().shortest();
        let at = |word: &Lasso, at: usize| match at.checked_sub(word.prefix.len()) {
            None => word.prefix[at].clone(),
            Some(at) => word.cycle[at % word.cycle.len()].clone(),
        };
        assert!((0..40).all(|instant| at(&word, instant) == at(&short, instant)), "{word:?} {short:?}");
        assert_eq!(short.clone().shortest(), short);
        shorter += usize::from(short != word);
        let _ = logic;
    });
    assert!(shorter > 100);
}

#[test]
fn what_is_too_large_is_refused() {
    let mut logic = Logic::new(Budget { states: 50, ..Budget::default() });
    let atoms = atoms(&mut logic.formulae, 1);
    let (a, top) = (logic.labels.atom(atoms[0]).unwrap(), logic.labels.top());
    // Words in which `a` comes every so many letters: the product has as many states as the product of both.
    let ring = |count: u32| Automaton {
        initial: 0,
        edges: (0..count)
            .map(|state| {
                let label = if state == 0 { a.clone() } else { top.clone() };
                vec![Edge { label, marks: 1, target: (state + 1) % count }]
            })
            .collect(),
        sets: 1,
    };
    assert!(ring(5).product(&ring(7), &logic).is_ok());
    let refused = ring(8).product(&ring(9), &logic).unwrap_err();
    assert_eq!(refused.to_string(), "too large: more than 50 states");
    assert!(ring(8).meets(&ring(9), &logic).is_err());
    let many = Automaton { sets: 60, ..ring(1) };
    assert!(many.product(&many, &logic).is_err());
}
