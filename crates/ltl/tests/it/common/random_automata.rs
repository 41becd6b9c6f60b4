//! Random automata.

use invigil_ltl::Logic;
use invigil_ltl::automaton::{Automaton, Edge};
use invigil_ltl::formula::Atom;
use invigil_ltl::label::{Label, Variable};
use invigil_test_support::Rng;

/// Generates a label: a few products, or true.
fn random_label(rng: &Rng, logic: &mut Logic, atoms: &[Atom]) -> Label {
    let mut sum = logic.labels.bottom();
    for _ in 0..1 + rng.below(2) {
        let cube: Vec<_> = atoms
            .iter()
            .filter_map(|atom| match rng.below(4) {
                0 => Some((Variable::Atom(*atom), true)),
                1 => Some((Variable::Atom(*atom), false)),
                _ => None,
            })
            .collect();
        let cube = logic.labels.cube(&cube).unwrap();
        sum = logic.labels.or(&sum, &cube).unwrap();
    }
    sum
}

/// Generates an automaton with up to six states and three acceptance sets.
pub(crate) fn random_automaton(rng: &Rng, logic: &mut Logic, atoms: &[Atom]) -> Automaton {
    let (states, sets) = (1 + rng.below(6), rng.below(4) as u32);
    let is_state_based = rng.below(3) == 0;
    let mut edges = Vec::new();
    for _ in 0..states {
        let state_marks = rng.below(1 << sets) as u64;
        let mut from = Vec::new();
        for _ in 0..rng.below(4) {
            let label = random_label(rng, logic, atoms);
            // At most one mark per edge, so that accepting cycles are not too frequent.
            let edge_marks = if sets > 0 && rng.below(3) == 0 { 1 << rng.below(sets as usize) } else { 0 };
            let marks = if is_state_based { state_marks } else { edge_marks };
            from.push(Edge { label, marks, target: rng.below(states) as u32 });
        }
        edges.push(from);
    }
    Automaton { initial: rng.below(states) as u32, edges, sets }
}
