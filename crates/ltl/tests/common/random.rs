//! Random automata.

use super::Dice;
use invigil_ltl::Logic;
use invigil_ltl::automaton::{Automaton, Edge};
use invigil_ltl::formula::Atom;
use invigil_ltl::label::{Label, Variable};

/// A label: a few products, or true.
fn label(dice: &mut Dice, logic: &mut Logic, atoms: &[Atom]) -> Label {
    let mut sum = logic.labels.bottom();
    for _ in 0..1 + dice.below(2) {
        let cube: Vec<_> = atoms
            .iter()
            .filter_map(|atom| match dice.below(4) {
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

/// An automaton of up to six states and three sets.
pub(crate) fn automaton(dice: &mut Dice, logic: &mut Logic, atoms: &[Atom]) -> Automaton {
    let (states, sets) = (1 + dice.below(6), dice.below(4) as u32);
    let by_state = dice.below(3) == 0;
    let mut edges = Vec::new();
    for _ in 0..states {
        let of_state = dice.below(1 << sets) as u64;
        let mut from = Vec::new();
        for _ in 0..dice.below(4) {
            let label = label(dice, logic, atoms);
            // One mark at a time makes it hard enough to have all.
            let of_edge = if sets > 0 && dice.below(3) == 0 { 1 << dice.below(sets as usize) } else { 0 };
            let marks = if by_state { of_state } else { of_edge };
            from.push(Edge { label, marks, target: dice.below(states) as u32 });
        }
        edges.push(from);
    }
    Automaton { initial: dice.below(states) as u32, edges, sets }
}
