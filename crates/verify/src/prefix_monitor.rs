//! Runtime monitoring of formulae: whether the execution so far can be extended to one that satisfies a formula.

use invigil_model::{Model, OmegaAutomaton, Step};

/// The states that the automaton of a formula may be in after the steps so far.
pub(crate) struct PrefixMonitor<'a> {
    model: &'a Model,
    omega: &'a OmegaAutomaton,
    /// For each state, whether some continuation is accepted from it.
    is_live: Vec<bool>,
    /// The possible states; empty if no continuation is accepted.
    states: Vec<u32>,
}

impl<'a> PrefixMonitor<'a> {
    pub(crate) fn new(model: &'a Model, omega: &'a OmegaAutomaton) -> PrefixMonitor<'a> {
        PrefixMonitor { model, omega, is_live: live(omega), states: vec![omega.initial] }
    }

    /// Reads a step. Returns whether the formula can still be satisfied. A label that cannot be evaluated counts as
    /// true.
    pub(crate) fn read(&mut self, step: Step<'_>) -> bool {
        let mut next: Vec<u32> = Vec::new();
        for edge in self.states.iter().flat_map(|state| &self.omega.edges[*state as usize]) {
            let is_live = self.is_live[edge.target as usize];
            if is_live && !next.contains(&edge.target) && self.model.holds(&edge.label, step).unwrap_or(true)
            {
                next.push(edge.target);
            }
        }
        self.states = next;
        !self.states.is_empty()
    }
}

/// The states from which an infinite run takes edges of each acceptance set infinitely often: the largest set of states
/// from each of which an edge of each acceptance set can be reached inside the set.
fn live(omega: &OmegaAutomaton) -> Vec<bool> {
    let mut live = vec![true; omega.edges.len()];
    loop {
        let before = live.clone();
        for set in 0..omega.sets.max(1) {
            let has_mark = |marks: u64| omega.sets == 0 || marks >> set & 1 == 1;
            let mut can_reach = vec![false; live.len()];
            loop {
                let mut is_changed = false;
                for (state, edges) in omega.edges.iter().enumerate().filter(|(state, _)| live[*state]) {
                    let targets = edges.iter().filter(|edge| live[edge.target as usize]);
                    let mut reaching =
                        targets.map(|edge| has_mark(edge.marks) || can_reach[edge.target as usize]);
                    if !can_reach[state] && reaching.any(|reaches| reaches) {
                        (can_reach[state], is_changed) = (true, true);
                    }
                }
                if !is_changed {
                    break;
                }
            }
            live = can_reach;
        }
        if live == before {
            return live;
        }
    }
}
