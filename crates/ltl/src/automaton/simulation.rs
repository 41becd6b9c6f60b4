//! Simulation: a state is as good as another if it can do what the other does, with the same marks or more.

use super::Automaton;
use super::game::{Arena, Relation};
use crate::TooLarge;
use crate::label::Labels;

/// Comparisons of edges that fair simulation may cost.
const FAIR: usize = 1 << 11;

impl Automaton {
    /// Pairs of states of which the second has an answer to every edge of the first, letter by letter: with
    /// its marks at least, to a state that goes on to have them. None if it takes too long.
    pub(super) fn simulation(&self, labels: &Labels) -> Result<Option<Relation>, TooLarge> {
        let Some(arena) = Arena::new(labels, self, self)? else { return Ok(None) };
        arena.greatest(arena.everything(), |step, answer, all| {
            step.marks & !answer.marks == 0 && all.has(step.target, answer.target)
        })
    }

    /// The same backwards: every way to the first is matched by a way to the second. If marks belong to states,
    /// the second has those of the first.
    pub(super) fn reverse_simulation(
        &self,
        labels: &Labels,
        on_states: bool,
    ) -> Result<Option<Relation>, TooLarge> {
        let Some(arena) = Arena::new(labels, self, self)? else { return Ok(None) };
        let arena = arena.reversed();
        let mut start = arena.everything();
        let marks = |state: usize| self.edges[state].first().map_or(0, |edge| edge.marks);
        for left in 0..self.states() {
            for right in 0..self.states() {
                let begins = left != self.initial as usize || right == self.initial as usize;
                if !begins || on_states && marks(left) & !marks(right) != 0 {
                    start.set(left, right, false);
                }
            }
        }
        arena.greatest(start, |step, answer, all| {
            step.marks & !answer.marks == 0 && all.has(step.target, answer.target)
        })
    }

    /// Pairs of a state here and a state there such that the second accepts the words that the first accepts:
    /// fair simulation. What one run does, step by step, the other can follow, and is accepting if the one is.
    /// None if it takes too long.
    pub(super) fn fair_simulation(
        &self,
        other: &Automaton,
        labels: &Labels,
    ) -> Result<Option<Relation>, TooLarge> {
        let Some(arena) = Arena::new(labels, self, other)? else { return Ok(None) };
        let arena = arena.with_effort(FAIR);
        // Without sets, every run is accepting: as if there were one that is everywhere.
        let marked = |marks: u64, set: u32, sets: u32| sets == 0 || marks >> set & 1 == 1;
        let mut all = arena.everything();
        loop {
            let before = all.clone();
            for goal in 0..other.sets.max(1) {
                // From where the goal is reached, or some set on the left is never met again.
                let mut reached = arena.nothing();
                loop {
                    let mut more = reached.clone();
                    for missed in 0..self.sets.max(1) {
                        let found = arena.greatest(all.clone(), |step, answer, stay| {
                            let (left, right) = (step.target, answer.target);
                            marked(answer.marks, goal, other.sets) && all.has(left, right)
                                || reached.has(left, right)
                                || !marked(step.marks, missed, self.sets) && stay.has(left, right)
                        })?;
                        match found {
                            Some(found) => more.join(&found),
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
