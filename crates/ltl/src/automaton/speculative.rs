//! Speculative reductions: changes that are applied first, and kept if a check shows that the language is preserved.

use super::marks::MarkCarrier;
use super::quotient_product::QuotientProduct;
use super::{Automaton, State};
use crate::{Logic, TooLarge};

/// Reductions of automata for one language, checked against its complement.
pub(super) struct SpeculativeReducer<'a> {
    pub(super) logic: &'a Logic,
    /// Automaton of the complement of the language.
    pub(super) negation: &'a Automaton,
}

impl SpeculativeReducer<'_> {
    /// Whether the changed automaton accepts only words of the language. Exact.
    fn is_sound(&self, changed: &Automaton) -> Result<bool, TooLarge> {
        Ok(!changed.intersects(self.negation, self.logic)?)
    }

    /// Whether the changed automaton still accepts all words of the language. Checked by simulation, so `false` may be
    /// wrong.
    fn is_complete(&self, original: &Automaton, changed: &Automaton) -> Result<bool, TooLarge> {
        original.is_simulated_by(changed, self.logic)
    }

    /// Merges states while the automaton stays within the language.
    ///
    /// Merging never removes words, so soundness suffices. Two states that cannot be merged now cannot be merged after
    /// further merges either: each pair is tried once.
    pub(super) fn merge_states(
        &self,
        automaton: &Automaton,
        carrier: MarkCarrier,
    ) -> Result<Automaton, TooLarge> {
        let labels = &self.logic.labels;
        let mut class: Vec<State> = (0..automaton.states() as State).collect();
        let product = QuotientProduct::new(automaton, self.negation, carrier, labels)?;
        for one in 1..automaton.states() as State {
            for other in 0..one {
                if class[other as usize] != other {
                    continue;
                }
                class[one as usize] = other;
                if !product.intersects(&class) {
                    break;
                }
                class[one as usize] = one;
            }
        }
        automaton.quotient(&class, labels)?.with_uniform_marks(carrier).trim(labels)
    }

    /// Removes one state, or replaces it by another one, if some choice preserves the language.
    pub(super) fn remove_state(&self, automaton: &Automaton) -> Result<Option<Automaton>, TooLarge> {
        let labels = &self.logic.labels;
        let all = 0..automaton.states() as State;
        for state in all.clone().filter(|state| *state != automaton.initial) {
            let without = automaton.restricted_to(|other| other != state).trim(labels)?;
            if self.is_complete(automaton, &without)? {
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
                if self.is_complete(automaton, &replaced)? && self.is_sound(&replaced)? {
                    return Ok(Some(replaced));
                }
            }
        }
        Ok(None)
    }
}

impl Automaton {
    /// Gives all edges of a state the union of their marks, if states carry the marks.
    fn with_uniform_marks(mut self, carrier: MarkCarrier) -> Automaton {
        if carrier == MarkCarrier::States {
            for edges in &mut self.edges {
                let marks = edges.iter().fold(0, |all, edge| all | edge.marks);
                edges.iter_mut().for_each(|edge| edge.marks = marks);
            }
        }
        self
    }
}
