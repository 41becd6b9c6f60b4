//! Formulae while a model runs: whether what happened so far can still go on so that a formula is satisfied.

use invigil_model::{Model, Omega, Step};

/// How far an automaton came that accepts what satisfies a formula.
pub(crate) struct Prefix<'a> {
    model: &'a Model,
    omega: &'a Omega,
    /// From where something can be accepted.
    is_live: Vec<bool>,
    /// Where it can be: none if nothing that may come would be accepted.
    at: Vec<u32>,
}

impl<'a> Prefix<'a> {
    pub(crate) fn new(model: &'a Model, omega: &'a Omega) -> Prefix<'a> {
        Prefix { model, omega, is_live: live(omega), at: vec![omega.initial] }
    }

    /// Reads a step; says whether the formula can still be satisfied. A label that cannot be evaluated may hold.
    pub(crate) fn read(&mut self, step: Step<'_>) -> bool {
        let mut next: Vec<u32> = Vec::new();
        for edge in self.at.iter().flat_map(|at| &self.omega.edges[*at as usize]) {
            let is_live = self.is_live[edge.target as usize];
            if is_live && !next.contains(&edge.target) && self.model.holds(&edge.label, step).unwrap_or(true)
            {
                next.push(edge.target);
            }
        }
        self.at = next;
        !self.at.is_empty()
    }
}

/// The states from which an infinite run takes edges of each acceptance set for ever: the largest set of states each
/// of which comes, inside the set, to an edge of each acceptance set.
fn live(omega: &Omega) -> Vec<bool> {
    let mut live = vec![true; omega.edges.len()];
    loop {
        let before = live.clone();
        for set in 0..omega.sets.max(1) {
            let is_wanted = |marks: u64| omega.sets == 0 || marks >> set & 1 == 1;
            let mut comes = vec![false; live.len()];
            loop {
                let mut is_changed = false;
                for (state, edges) in omega.edges.iter().enumerate().filter(|(state, _)| live[*state]) {
                    let there = edges.iter().filter(|edge| live[edge.target as usize]);
                    let mut there = there.map(|edge| is_wanted(edge.marks) || comes[edge.target as usize]);
                    if !comes[state] && there.any(|comes| comes) {
                        (comes[state], is_changed) = (true, true);
                    }
                }
                if !is_changed {
                    break;
                }
            }
            live = comes;
        }
        if live == before {
            return live;
        }
    }
}
