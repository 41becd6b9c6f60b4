//! Invariants of machines.

use invigil_ltl::Logic;
use invigil_ltl::formula::Atom;
use invigil_ltl::moore::Moore;
use invigil_ltl::word::Letter;
use std::fmt::Debug;

/// Returns all letters over some atoms.
pub(crate) fn letters(atoms: &[Atom]) -> Vec<Letter> {
    let letter =
        |bits: usize| (0..atoms.len()).filter(|at| bits >> at & 1 == 1).map(|at| atoms[at]).collect();
    (0..1 << atoms.len()).map(letter).collect()
}

/// Checks that a machine is deterministic, complete and minimal, that its states are reachable, and that no two edges of a
/// state have the same target.
pub(crate) fn check_form<Output: Copy + Eq + Debug>(logic: &Logic, machine: &Moore<Output>) {
    let labels = &logic.labels;
    for edges in &machine.edges {
        let mut all = labels.bottom();
        let mut targets: Vec<u32> = edges.iter().map(|(_, target)| *target).collect();
        for (label, _) in edges {
            assert!(!label.is_false() && !labels.intersects(&all, label).unwrap());
            all = labels.or(&all, label).unwrap();
        }
        assert!(all.is_true());
        targets.sort_unstable();
        targets.dedup();
        assert_eq!(targets.len(), edges.len());
    }
    let count = machine.states();
    let mut differ = vec![vec![false; count]; count];
    loop {
        let mut changed = false;
        for one in 0..count {
            for two in 0..one {
                if differ[one][two] {
                    continue;
                }
                let is_separated = || {
                    machine.edges[one].iter().any(|(first, first_target)| {
                        machine.edges[two].iter().any(|(second, second_target)| {
                            differ[*first_target.max(second_target) as usize]
                                [*first_target.min(second_target) as usize]
                                && labels.intersects(first, second).unwrap()
                        })
                    })
                };
                if machine.outputs[one] != machine.outputs[two] || is_separated() {
                    differ[one][two] = true;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    assert!((0..count).all(|one| (0..one).all(|two| differ[one][two])), "two states are equivalent");
    let mut seen = vec![false; count];
    let mut open = vec![machine.initial as usize];
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut seen[state], true) {
            open.extend(machine.edges[state].iter().map(|(_, target)| *target as usize));
        }
    }
    assert!(seen.iter().all(|seen| *seen));
}
