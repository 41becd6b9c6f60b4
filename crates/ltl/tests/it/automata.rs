//! Operations on random automata, checked against their definitions and against each other.

use crate::common::random_automata::random_automaton;
use crate::common::{atoms, random_lasso};
use invigil_ltl::automaton::{Automaton, Edge};
use invigil_ltl::formula::Atom;
use invigil_ltl::label::Label;
use invigil_ltl::word::{Lasso, Letter};
use invigil_ltl::{Budget, Logic};
use invigil_test_support::{Rng, at_least, cases};

/// Reference emptiness check: some run takes edges of every set infinitely often (Emerson and Lei).
fn is_nonempty(automaton: &Automaton) -> bool {
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

fn for_random_logics(repetitions: u64, mut check: impl FnMut(&Rng, &mut Logic, &[Atom])) {
    for seed in 0..cases(repetitions) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 14, ..Budget::default() });
        let count = 1 + rng.below(3);
        let atoms = atoms(&mut logic.formulae, count);
        check(&rng, &mut logic, &atoms);
    }
}

#[test]
fn emptiness_check_and_accepting_word_agree() {
    let mut nonempty = 0;
    for_random_logics(3000, |rng, logic, atoms| {
        let automaton = random_automaton(rng, logic, atoms);
        let expected = is_nonempty(&automaton);
        assert_eq!(automaton.is_empty(), !expected, "{automaton:?}");
        let word = automaton.accepting_word(&logic.labels);
        assert_eq!(word.is_some(), expected);
        if let Some(word) = word {
            nonempty += 1;
            assert!(automaton.accepts(&logic.labels, &word), "{word:?} {automaton:?}");
        }
    });
    assert!(nonempty > at_least(500) && nonempty < cases(2500), "{nonempty}");
}

#[test]
fn product_is_intersection_and_union_is_union() {
    let (mut intersecting, mut disjoint) = (0, 0);
    for_random_logics(2000, |rng, logic, atoms| {
        let (left, right) = (random_automaton(rng, logic, atoms), random_automaton(rng, logic, atoms));
        let product = left.product(&right, logic).unwrap();
        let union = left.union(&right, logic).unwrap();
        for _ in 0..20 {
            let word = random_lasso(rng, atoms);
            let (in_left, in_right) =
                (left.accepts(&logic.labels, &word), right.accepts(&logic.labels, &word));
            assert_eq!(product.accepts(&logic.labels, &word), in_left && in_right);
            assert_eq!(union.accepts(&logic.labels, &word), in_left || in_right, "{left:?} {right:?}");
        }
        let intersects = left.intersects(&right, logic).unwrap();
        assert_eq!(intersects, is_nonempty(&product));
        match left.common_word(&right, logic).unwrap() {
            Some(word) => {
                intersecting += 1;
                assert!(left.accepts(&logic.labels, &word) && right.accepts(&logic.labels, &word));
                assert!(intersects);
            }
            None => {
                disjoint += usize::from(!left.is_empty() && !right.is_empty());
                assert!(!intersects);
            }
        }
    });
    assert!(
        intersecting > at_least(100) && disjoint > at_least(10),
        "{intersecting} intersecting, {disjoint} disjoint"
    );
}

#[test]
fn accepting_word_is_shortest() {
    let mut logic = Logic::new(Budget::default());
    let atoms = atoms(&mut logic.formulae, 2);
    let (a, b) = (logic.labels.atom(atoms[0]).unwrap(), logic.labels.atom(atoms[1]).unwrap());
    let top = logic.labels.top();
    let edge = |label: &Label, marks, target| Edge { label: label.clone(), marks, target };
    // A path of three steps to an accepting loop, and one of a single step to a cycle that needs two edges for its marks.
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
    let word = automaton.accepting_word(&logic.labels).unwrap();
    assert_eq!(word, Lasso { prefix: vec![letter(&[atoms[0]])], cycle: cycle.clone() });
    let other = Automaton { initial: 3, ..automaton };
    assert_eq!(other.accepting_word(&logic.labels).unwrap(), Lasso { prefix: vec![], cycle });
}

#[test]
fn shortest_lasso_is_same_word() {
    let mut shorter = 0;
    for_random_logics(2000, |rng, _, atoms| {
        let word = random_lasso(rng, &atoms[..1]);
        let short = word.clone().shortest();
        let at = |word: &Lasso, at: usize| match at.checked_sub(word.prefix.len()) {
            None => word.prefix[at].clone(),
            Some(at) => word.cycle[at % word.cycle.len()].clone(),
        };
        assert!((0..40).all(|position| at(&word, position) == at(&short, position)), "{word:?} {short:?}");
        assert_eq!(short.clone().shortest(), short);
        shorter += usize::from(short != word);
    });
    assert!(shorter > at_least(100));
}

#[test]
fn too_large_product_fails() {
    let mut logic = Logic::new(Budget { states: 50, ..Budget::default() });
    let atoms = atoms(&mut logic.formulae, 1);
    let (a, top) = (logic.labels.atom(atoms[0]).unwrap(), logic.labels.top());
    // Words with `a` in every `count`-th letter: the size of the product is the product of the sizes.
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
    let error = ring(8).product(&ring(9), &logic).unwrap_err();
    assert_eq!(error.to_string(), "too large: more than 50 states");
    assert!(ring(8).intersects(&ring(9), &logic).is_err());
    let many = Automaton { sets: 60, ..ring(1) };
    assert!(many.product(&many, &logic).is_err());
}
