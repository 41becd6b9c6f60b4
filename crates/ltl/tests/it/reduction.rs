//! Reductions keep the language: random automata, before and after, on random words.

use crate::common::{atoms, formula, lasso};
use invigil_ltl::automaton::{Automaton, Edge, buchi, reduce};
use invigil_ltl::formula::Atom;
use invigil_ltl::{Budget, Label, Logic};
use invigil_test_support::{Rng, cases};

/// A label: a disjunction of one or two products.
fn label(rng: &Rng, logic: &mut Logic, atoms: &[Atom]) -> Label {
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

/// Up to six states, up to three sets.
fn automaton(rng: &Rng, logic: &mut Logic, atoms: &[Atom]) -> Automaton {
    let (states, sets, edges) = (1 + rng.below(6), rng.below(4), 1 + rng.below(3));
    let thin = 1 + rng.below(3);
    let mut out = |_| {
        let count = rng.below(edges + 1) + 1;
        (0..count)
            .map(|_| Edge {
                label: label(rng, logic, atoms),
                marks: (0..sets).filter(|_| rng.below(thin + 1) == 0).fold(0, |marks, set| marks | 1 << set),
                target: rng.below(states) as u32,
            })
            .collect()
    };
    Automaton { initial: 0, edges: (0..states).map(&mut out).collect(), sets: sets as u32 }
}

fn each(cases: u64, mut check: impl FnMut(&Rng, &mut Logic, &Automaton) -> Vec<Automaton>) {
    let cases = invigil_test_support::cases(cases);
    for seed in 0..cases {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 14, ..Budget::default() });
        let count = 1 + rng.below(3);
        let atoms = atoms(&mut logic.formulae, count);
        let first = automaton(&rng, &mut logic, &atoms);
        let results = check(&rng, &mut logic, &first);
        for _ in 0..60 {
            let word = lasso(&rng, &atoms);
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
fn reduced() {
    let (mut before, mut after) = (0, 0);
    each(4000, |_, logic, first| {
        let small = reduce(first, None, logic).unwrap();
        let trimmed = first.trim(&logic.labels).unwrap();
        assert!(small.states() <= trimmed.states());
        (before, after) = (before + trimmed.states(), after + small.states());
        vec![trimmed, small]
    });
    assert!(after * 10 < before * 9, "{before} to {after}");
}

#[test]
fn buchi_with_marks_on_states() {
    each(4000, |_, logic, first| {
        let small = buchi(first, None, logic).unwrap();
        assert!(small.is_state_based() && small.sets == 1);
        vec![small]
    });
}

/// Automata of formulae are blown up, and reduced with the negation's automaton as a judge.
#[test]
fn judged_by_the_negation() {
    let (mut known, mut blown, mut back) = (0, 0, 0);
    for seed in 0..cases(500) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 300, ..Budget::default() });
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(16);
        let wanted = formula(&rng, &mut logic.formulae, &atoms, size, false);
        let not = logic.formulae.not(wanted).unwrap();
        let (Ok(first), Ok(negation)) = (logic.translate(wanted), logic.translate(not)) else { continue };
        let Ok(large) = first.union(&first, &logic).and_then(|twice| twice.product(&first, &logic)) else {
            continue;
        };
        let small = reduce(&large, Some(&negation), &logic).unwrap();
        let state_based = buchi(&large, Some(&negation), &logic).unwrap();
        assert!(state_based.is_state_based() && state_based.sets == 1);
        (known, blown, back) = (known + first.states(), blown + large.states(), back + small.states());
        for _ in 0..40 {
            let word = lasso(&rng, &atoms);
            let expected = word.satisfies(&logic.formulae, wanted);
            assert_eq!(small.accepts(&logic.labels, &word), expected, "seed {seed} on {word:?}");
            assert_eq!(state_based.accepts(&logic.labels, &word), expected, "seed {seed} on {word:?}");
        }
    }
    assert!(blown > 2 * known && back * 20 <= known * 21, "{known}, {blown}, {back}");
}

/// A Boolean combination of safety formulae is recognised by a weak deterministic automaton, and its
/// complement by the one with the marks turned round.
#[test]
fn obligations() {
    let (mut found, mut exact) = (0, 0);
    for seed in 0..cases(600) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 300, ..Budget::default() });
        let count = 1 + rng.below(3);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(12);
        let wanted = formula(&rng, &mut logic.formulae, &atoms, size, false);
        let not = logic.formulae.not(wanted).unwrap();
        let (Ok(automaton), Ok(negation)) = (logic.translate(wanted), logic.translate(not)) else { continue };
        let Some(weak) = automaton.obligation(Some(&negation), &logic).unwrap() else { continue };
        found += 1;
        assert!(weak.is_weak() && weak.is_state_based());
        assert!(weak.is_deterministic(&logic.labels).unwrap());
        let complement = weak.complement(&logic).unwrap().unwrap();
        assert!(complement.is_complete(&logic.labels).unwrap());
        for _ in 0..30 {
            let word = lasso(&rng, &atoms);
            let expected = word.satisfies(&logic.formulae, wanted);
            assert_eq!(weak.accepts(&logic.labels, &word), expected, "seed {seed} on {word:?}");
            assert_eq!(complement.accepts(&logic.labels, &word), !expected, "seed {seed} on {word:?}");
        }
        // The smallest one has no more states than any other deterministic one.
        if automaton.is_deterministic(&logic.labels).unwrap() && automaton.is_weak() {
            exact += 1;
            assert!(weak.states() <= automaton.states(), "seed {seed}");
        }
    }
    assert!(found > 300 && exact > 100, "{found}, {exact}");
}

/// What is not an obligation is not taken for one: infinitely often.
#[test]
fn no_obligation() {
    let mut logic = Logic::new(Budget::default());
    let a = logic.formulae.name("a").unwrap();
    let finally = logic.formulae.finally(a).unwrap();
    let wanted = logic.formulae.globally(finally).unwrap();
    let not = logic.formulae.not(wanted).unwrap();
    let (automaton, negation) = (logic.translate(wanted).unwrap(), logic.translate(not).unwrap());
    assert_eq!(automaton.obligation(Some(&negation), &logic).unwrap(), None);
    assert_eq!(automaton.obligation(None, &logic).unwrap(), None);
    assert!(!automaton.is_weak() && automaton.complement(&logic).unwrap().is_none());
}

/// Automata in which every run is accepting, and such that accept as soon as they come to one state.
#[test]
fn safety_and_guarantee() {
    each(1500, |rng, logic, first| {
        let mut kinds = vec![Automaton { sets: 0, ..first.clone() }, first.clone()];
        kinds[0].edges.iter_mut().flatten().for_each(|edge| edge.marks = 0);
        kinds[1].sets = 1;
        kinds[1].edges.iter_mut().flatten().for_each(|edge| edge.marks = 0);
        let last = rng.below(first.states());
        kinds[1].edges[last] = vec![Edge { label: logic.labels.top(), marks: 1, target: last as u32 }];
        let atoms: Vec<Atom> = logic.formulae.atoms().map(|(atom, _)| atom).collect();
        for kind in kinds {
            let kind = kind.trim(&logic.labels).unwrap();
            let weak = kind.obligation(None, logic).unwrap().expect("an obligation");
            assert!(weak.is_deterministic(&logic.labels).unwrap());
            for _ in 0..30 {
                let word = lasso(rng, &atoms);
                assert_eq!(
                    weak.accepts(&logic.labels, &word),
                    kind.accepts(&logic.labels, &word),
                    "{kind:?}"
                );
            }
        }
        Vec::new()
    });
}

/// Completing changes nothing.
#[test]
fn completed() {
    each(1500, |_, logic, first| {
        let complete = first.complete(&logic.labels).unwrap();
        assert!(complete.is_complete(&logic.labels).unwrap());
        vec![complete]
    });
}

/// Many atoms: labels stay diagrams. A chain of forty steps, each with its own atom, twice.
#[test]
fn many_atoms() {
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
