//! Direct, reverse and fair simulation relations.

use super::Automaton;
use super::game::{Arena, StateRelation};
use crate::TooLarge;
use crate::label::Labels;

/// Maximum number of comparisons of edges for fair simulation.
const MAX_FAIR_EFFORT: usize = 1 << 11;

impl Automaton {
    /// Computes direct simulation: the second state of a pair matches every edge of the first, letter by letter, with at least
    /// its marks, to a state that again simulates the target. `None` if it costs too much.
    pub(super) fn simulation(&self, labels: &Labels) -> Result<Option<StateRelation>, TooLarge> {
        let Some(arena) = Arena::new(labels, self, self)? else { return Ok(None) };
        arena.greatest_fixpoint(arena.full_relation(), |step, answer, all| {
            step.marks & !answer.marks == 0 && all.has(step.target, answer.target)
        })
    }

    /// Computes reverse simulation: the second state of a pair matches every edge into the first. If states carry the marks,
    /// the second state has at least those of the first. `None` if it costs too much.
    pub(super) fn reverse_simulation(
        &self,
        labels: &Labels,
        on_states: bool,
    ) -> Result<Option<StateRelation>, TooLarge> {
        let Some(arena) = Arena::new(labels, self, self)? else { return Ok(None) };
        let arena = arena.reversed();
        let mut start = arena.full_relation();
        let marks = |state: usize| self.edges[state].first().map_or(0, |edge| edge.marks);
        for left in 0..self.states() {
            for right in 0..self.states() {
                let is_start_matched = left != self.initial as usize || right == self.initial as usize;
                if !is_start_matched || on_states && marks(left) & !marks(right) != 0 {
                    start.set(left, right, false);
                }
            }
        }
        arena.greatest_fixpoint(start, |step, answer, all| {
            step.marks & !answer.marks == 0 && all.has(step.target, answer.target)
        })
    }

    /// Computes fair simulation between two automata: the second state of a pair follows every run of the first such that
    /// its run is accepting if the first one is. This implies language inclusion. `None` if it costs too much.
    pub(super) fn fair_simulation(
        &self,
        other: &Automaton,
        labels: &Labels,
    ) -> Result<Option<StateRelation>, TooLarge> {
        let Some(arena) = Arena::new(labels, self, other)? else { return Ok(None) };
        let arena = arena.with_effort(MAX_FAIR_EFFORT);
        // An automaton without acceptance sets is treated as one whose edges are all in a single set.
        let marked = |marks: u64, set: u32, sets: u32| sets == 0 || marks >> set & 1 == 1;
        let mut all = arena.full_relation();
        loop {
            let before = all.clone();
            for goal in 0..other.sets.max(1) {
                // Pairs from which the goal is reached, or some set on the left is avoided forever.
                let mut reached = arena.empty_relation();
                loop {
                    let mut more = reached.clone();
                    for missed in 0..self.sets.max(1) {
                        let relation = arena.greatest_fixpoint(all.clone(), |step, answer, stay| {
                            let (left, right) = (step.target, answer.target);
                            marked(answer.marks, goal, other.sets) && all.has(left, right)
                                || reached.has(left, right)
                                || !marked(step.marks, missed, self.sets) && stay.has(left, right)
                        })?;
                        match relation {
                            Some(relation) => more.union_with(&relation),
                            None => return Ok(None),
                        }
                    }
                    if more == reached {
                        break;
                    }
                    reached = more;
                }
                all = reached;
            }
            if all == before {
                return Ok(Some(all));
            }
        }
    }
}
