//! Reductions preserve the language, checked on random automata and words.

use crate::common::{atoms, random_formula, random_lasso};
use invigil_ltl::automaton::{Automaton, Edge, buchi, reduce};
use invigil_ltl::formula::Atom;
use invigil_ltl::{Budget, Label, Logic};
use invigil_test_support::{Rng, at_least, cases};

/// Generates a label: a disjunction of one or two products.
fn random_label(rng: &Rng, logic: &mut Logic, atoms: &[Atom]) -> Label {
    let mut sum = logic.labels.bottom();
    for _ in 0..1 + rng.below(2) {
        let mut product = logic.labels.top();
        for atom in atoms {
            let atom = logic.labels.atom(*atom).unwrap();
            product = match rng.below(3) {
                0 => logic.labels.and(&product, &atom).unwrap(),
                1 => logic.labels.minus(&product, &atom).unwrap(),
                _ => product,
            };
        }
        sum = logic.labels.or(&sum, &product).unwrap();
    }
    sum
}

/// Generates an automaton with up to six states and three acceptance sets.
fn random_automaton(rng: &Rng, logic: &mut Logic, atoms: &[Atom]) -> Automaton {
    let (states, sets, edges) = (1 + rng.below(6), rng.below(4), 1 + rng.below(3));
    let sparsity = 1 + rng.below(3);
    let mut out = |_| {
        let count = rng.below(edges + 1) + 1;
        (0..count)
            .map(|_| Edge {
                label: random_label(rng, logic, atoms),
                marks: (0..sets)
                    .filter(|_| rng.below(sparsity + 1) == 0)
                    .fold(0, |marks, set| marks | 1 << set),
                target: rng.below(states) as u32,
            })
            .collect()
    };
    Automaton { initial: 0, edges: (0..states).map(&mut out).collect(), sets: sets as u32 }
}

fn check_results(repetitions: u64, mut check: impl FnMut(&Rng, &mut Logic, &Automaton) -> Vec<Automaton>) {
    for seed in 0..cases(repetitions) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 14, ..Budget::default() });
        let count = 1 + rng.below(3);
        let atoms = atoms(&mut logic.formulae, count);
        let first = random_automaton(&rng, &mut logic, &atoms);
        let results = check(&rng, &mut logic, &first);
        for _ in 0..60 {
            let word = random_lasso(&rng, &atoms);
            let expected = first.accepts(&logic.labels, &word);
            for (at, result) in results.iter().enumerate() {
                assert_eq!(
                    result.accepts(&logic.labels, &word),
                    expected,
                    "seed {seed}, result {at}: {first:?}\nto {result:?}\non {word:?}"
                );
            }
        }
    }
}

#[test]
fn reduce_preserves_language() {
    let (mut before, mut after) = (0, 0);
    check_results(4000, |_, logic, first| {
        let small = reduce(first, None, logic).unwrap();
        let trimmed = first.trim(&logic.labels).unwrap();
        assert!(small.states() <= trimmed.states());
        (before, after) = (before + trimmed.states(), after + small.states());
        vec![trimmed, small]
    });
    assert!(after * 10 < before * 9, "{before} to {after}");
}

#[test]
fn buchi_preserves_language() {
    check_results(4000, |_, logic, first| {
        let small = buchi(first, None, logic).unwrap();
        assert!(small.is_state_based() && small.sets == 1);
        vec![small]
    });
}

/// Automata of formulae are enlarged, and reduced with an automaton of the negation.
#[test]
fn speculative_reductions_preserve_language() {
    let (mut original, mut enlarged, mut reduced) = (0, 0, 0);
    for seed in 0..cases(500) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 300, ..Budget::default() });
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(16);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, false);
        let not = logic.formulae.not(formula).unwrap();
        let (Ok(first), Ok(negation)) = (logic.translate(formula), logic.translate(not)) else { continue };
        let Ok(large) = first.union(&first, &logic).and_then(|twice| twice.product(&first, &logic)) else {
            continue;
        };
        let small = reduce(&large, Some(&negation), &logic).unwrap();
        let state_based = buchi(&large, Some(&negation), &logic).unwrap();
        assert!(state_based.is_state_based() && state_based.sets == 1);
        original += first.states();
        enlarged += large.states();
        reduced += small.states();
        for _ in 0..40 {
            let word = random_lasso(&rng, &atoms);
            let expected = word.satisfies(&logic.formulae, formula);
            assert_eq!(small.accepts(&logic.labels, &word), expected, "seed {seed} on {word:?}");
            assert_eq!(state_based.accepts(&logic.labels, &word), expected, "seed {seed} on {word:?}");
        }
    }
    assert!(enlarged > 2 * original && reduced * 20 <= original * 21, "{original}, {enlarged}, {reduced}");
}

#[test]
fn obligations_have_minimal_weak_automata_and_complements() {
    let (mut found, mut exact) = (0, 0);
    for seed in 0..cases(600) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 300, ..Budget::default() });
        let count = 1 + rng.below(3);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(12);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, false);
        let not = logic.formulae.not(formula).unwrap();
        let (Ok(automaton), Ok(negation)) = (logic.translate(formula), logic.translate(not)) else {
            continue;
        };
        let Some(weak) = automaton.minimise_obligation(Some(&negation), &logic).unwrap() else { continue };
        found += 1;
        assert!(weak.is_weak() && weak.is_state_based());
        assert!(weak.is_deterministic(&logic.labels).unwrap());
        let complement = weak.complement(&logic).unwrap().unwrap();
        assert!(complement.is_complete(&logic.labels).unwrap());
        for _ in 0..30 {
            let word = random_lasso(&rng, &atoms);
            let expected = word.satisfies(&logic.formulae, formula);
            assert_eq!(weak.accepts(&logic.labels, &word), expected, "seed {seed} on {word:?}");
            assert_eq!(complement.accepts(&logic.labels, &word), !expected, "seed {seed} on {word:?}");
        }
        // The minimal automaton has at most as many states as any weak deterministic one.
        if automaton.is_deterministic(&logic.labels).unwrap() && automaton.is_weak() {
            exact += 1;
            assert!(weak.states() <= automaton.states(), "seed {seed}");
        }
    }
    assert!(found > at_least(300) && exact > at_least(100), "{found}, {exact}");
}

#[test]
fn recurrence_is_not_recognised_as_obligation() {
    let mut logic = Logic::new(Budget::default());
    let a = logic.formulae.name("a").unwrap();
    let finally = logic.formulae.finally(a).unwrap();
    let formula = logic.formulae.globally(finally).unwrap();
    let not = logic.formulae.not(formula).unwrap();
    let (automaton, negation) = (logic.translate(formula).unwrap(), logic.translate(not).unwrap());
    assert_eq!(automaton.minimise_obligation(Some(&negation), &logic).unwrap(), None);
    assert_eq!(automaton.minimise_obligation(None, &logic).unwrap(), None);
    assert!(!automaton.is_weak() && automaton.complement(&logic).unwrap().is_none());
}

/// Automata whose runs are all accepting, and automata with a single accepting sink.
#[test]
fn safety_and_guarantee_automata_are_recognised_as_obligations() {
    check_results(1500, |rng, logic, first| {
        let mut automata = vec![Automaton { sets: 0, ..first.clone() }, first.clone()];
        automata[0].edges.iter_mut().flatten().for_each(|edge| edge.marks = 0);
        automata[1].sets = 1;
        automata[1].edges.iter_mut().flatten().for_each(|edge| edge.marks = 0);
        let last = rng.below(first.states());
        automata[1].edges[last] = vec![Edge { label: logic.labels.top(), marks: 1, target: last as u32 }];
        let atoms: Vec<Atom> = logic.formulae.atoms().map(|(atom, _)| atom).collect();
        for automaton in automata {
            let automaton = automaton.trim(&logic.labels).unwrap();
            let weak = automaton.minimise_obligation(None, logic).unwrap().expect("an obligation");
            assert!(weak.is_deterministic(&logic.labels).unwrap());
            for _ in 0..30 {
                let word = random_lasso(rng, &atoms);
                assert_eq!(
                    weak.accepts(&logic.labels, &word),
                    automaton.accepts(&logic.labels, &word),
                    "{automaton:?}"
                );
            }
        }
        Vec::new()
    });
}

#[test]
fn complete_preserves_language() {
    check_results(1500, |_, logic, first| {
        let complete = first.complete(&logic.labels).unwrap();
        assert!(complete.is_complete(&logic.labels).unwrap());
        vec![complete]
    });
}

/// Two copies of a cycle of forty steps, each with its own atom: too many atoms for bit sets of letters.
#[test]
fn automaton_with_many_atoms_is_reduced() {
    let mut logic = Logic::new(Budget::default());
    let atoms: Vec<Atom> = (0..40)
        .map(|at| logic.formulae.atom_for(invigil_ltl::formula::Proposition::Name(format!("p{at}"))))
        .collect();
    let chain = |from: u32, logic: &mut Logic| -> Vec<Vec<Edge>> {
        let step = |(at, atom): (usize, &Atom)| {
            let label = logic.labels.atom(*atom).unwrap();
            let stay = logic.labels.not(&label).unwrap();
            let here = from + at as u32;
            let next = if at + 1 < 40 { here + 1 } else { from };
            vec![
                Edge { label: stay, marks: 0, target: here },
                Edge { label, marks: u64::from(at == 39), target: next },
            ]
        };
        atoms.iter().enumerate().map(step).collect()
    };
    let mut edges = vec![Vec::new()];
    edges.extend(chain(1, &mut logic));
    edges.extend(chain(41, &mut logic));
    edges[0] = vec![
        Edge { label: logic.labels.top(), marks: 0, target: 1 },
        Edge { label: logic.labels.top(), marks: 0, target: 41 },
    ];
    let twice = Automaton { initial: 0, edges, sets: 1 };
    let small = reduce(&twice, None, &logic).unwrap();
    assert_eq!((small.states(), small.edge_count()), (41, 81));
    assert_eq!(buchi(&twice, None, &logic).unwrap().states(), 41 + 1);
}
