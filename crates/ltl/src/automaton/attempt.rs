//! Changes that may or may not keep the language: they are tried, and kept if they turn out to do so.

use super::marks::Place;
use super::meeting::Meeting;
use super::{Automaton, State};
use crate::{Logic, TooLarge};

/// How a change is judged.
pub(super) struct Judge<'a> {
    pub(super) logic: &'a Logic,
    /// Accepts just the words that are not in the language.
    pub(super) negation: &'a Automaton,
}

impl Judge<'_> {
    /// Whether nothing new is accepted.
    fn nothing_new(&self, after: &Automaton) -> Result<bool, TooLarge> {
        Ok(!after.meets(self.negation, self.logic)?)
    }

    /// Whether nothing is lost, as far as can be seen.
    fn nothing_lost(&self, before: &Automaton, after: &Automaton) -> Result<bool, TooLarge> {
        before.is_included(after, self.logic)
    }

    /// Merges states, as long as nothing new is accepted. What two states together cannot be, they cannot be
    /// when others are merged as well: each pair is tried once.
    pub(super) fn merge(&self, automaton: &Automaton, place: Place) -> Result<Automaton, TooLarge> {
        let labels = &self.logic.labels;
        let mut class: Vec<State> = (0..automaton.states() as State).collect();
        let meeting = Meeting::new(automaton, self.negation, place, labels)?;
        for one in 1..automaton.states() as State {
            for other in 0..one {
                if class[other as usize] != other {
                    continue;
                }
                class[one as usize] = other;
                if !meeting.meets(&class) {
                    break;
                }
                class[one as usize] = one;
            }
        }
        automaton.quotient(&class, labels)?.with_place(place).trim(labels)
    }

    /// The automaton without a state, or with another one in its place.
    pub(super) fn without_one(&self, automaton: &Automaton) -> Result<Option<Automaton>, TooLarge> {
        let labels = &self.logic.labels;
        let all = 0..automaton.states() as State;
        for state in all.clone().filter(|state| *state != automaton.initial) {
            let without = automaton.only(|other| other != state).trim(labels)?;
            if self.nothing_lost(automaton, &without)? {
                return Ok(Some(without));
            }
        }
        let Some(included) = automaton.fair_simulation(automaton, labels)? else { return Ok(None) };
        for one in all.clone() {
            for other in all.clone() {
                if one == other || !included.has(one as usize, other as usize) {
                    continue;
                }
                let mut replaced = automaton.clone();
                replaced.redirect(one, other);
                let replaced = replaced.trim(labels)?;
                if self.nothing_lost(automaton, &replaced)? && self.nothing_new(&replaced)? {
                    return Ok(Some(replaced));
                }
            }
        }
        Ok(None)
    }
}

impl Automaton {
    /// Where marks belong to states, those of one edge are those of all of its state.
    fn with_place(mut self, place: Place) -> Automaton {
        if place == Place::States {
            for edges in &mut self.edges {
                let marks = edges.iter().fold(0, |all, edge| all | edge.marks);
                edges.iter_mut().for_each(|edge| edge.marks = marks);
            }
        }
        self
    }
}
