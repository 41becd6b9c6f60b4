//! Translation of formulae to automata (after Couvreur).
//!
//! | module | contents |
//! | --- | --- |
//! | `past_removal` | past operators are replaced by fresh atoms |
//! | `expansion` | a formula as a Boolean function of the current letter, the next position and promises |
//! | `tableau` | the automaton whose states are formulae |

mod expansion;
mod past_removal;
mod tableau;

use crate::automaton::{self, Automaton};
use crate::formula::{Atom, Formula};
use crate::{Effort, Logic, TooLarge};
use tableau::SplitMode;

/// Maximum number of states for which a second translation is tried.
const MAX_STATES_FOR_SECOND: usize = 200;

impl Logic {
    /// Translates a formula to a small automaton.
    ///
    /// # Errors
    /// Fails if the automaton outgrows the budget.
    pub fn translate(&mut self, formula: Formula) -> Result<Automaton, TooLarge> {
        let (candidates, negation) = self.candidates(formula)?;
        let mut automata = Vec::new();
        for candidate in candidates {
            automata.push(automaton::reduce(&candidate, negation.as_ref(), self)?);
        }
        automata.sort_by_key(size);
        Ok(automata.swap_remove(0))
    }

    /// Translates a formula to a small state-based Büchi automaton.
    ///
    /// # Errors
    /// Fails if the automaton outgrows the budget.
    pub fn buchi(&mut self, formula: Formula) -> Result<Automaton, TooLarge> {
        let (candidates, negation) = self.candidates(formula)?;
        let mut automata = Vec::new();
        for candidate in candidates {
            automata.push(automaton::buchi(&candidate, negation.as_ref(), self)?);
        }
        automata.sort_by_key(size);
        Ok(automata.swap_remove(0))
    }

    /// Translates a formula in different ways, because it is hard to predict which one is the smallest; at least one result.
    /// Also translates the negation, for the check of speculative reductions, unless it is too large.
    fn candidates(&mut self, formula: Formula) -> Result<(Vec<Automaton>, Option<Automaton>), TooLarge> {
        let (simple, hidden) = self.prepare(formula)?;
        let first = tableau::build(self, simple, &hidden, SplitMode::Products)?;
        if first.states() > MAX_STATES_FOR_SECOND {
            return Ok((vec![first], None));
        }
        let not = self.formulae.not(formula)?;
        let negation = self.with_state_limit(MAX_STATES_FOR_SECOND, |logic| {
            let (simple, hidden) = logic.prepare(not)?;
            tableau::build(logic, simple, &hidden, SplitMode::Products)
        });
        let negation = match negation {
            Ok(negation) => Some(automaton::reduce_once(&negation, self)?),
            Err(_) => None,
        };
        let second = tableau::build(self, simple, &hidden, SplitMode::Letters)?;
        Ok((vec![first, second], negation))
    }

    /// Removes past operators and simplifies. Returns the formula and the atoms that were added.
    fn prepare(&mut self, formula: Formula) -> Result<(Formula, Vec<Atom>), TooLarge> {
        let (formula, added) = past_removal::remove(&mut self.formulae, formula)?;
        Ok((self.simplify(formula, Effort::Language)?, added))
    }

    /// Runs a closure with a smaller limit on states.
    fn with_state_limit<T>(&mut self, states: usize, work: impl FnOnce(&mut Logic) -> T) -> T {
        let budget = self.budget;
        self.budget.states = states.min(budget.states);
        self.budget.edges = (states * states).min(budget.edges);
        let result = work(self);
        self.budget = budget;
        result
    }

    /// Whether a formula in negation normal form, without past, is found to be unsatisfiable with an automaton of at most
    /// `states` states.
    pub(crate) fn is_contradiction(&mut self, formula: Formula, states: usize) -> Result<bool, TooLarge> {
        let automaton =
            self.with_state_limit(states, |logic| tableau::build(logic, formula, &[], SplitMode::Products));
        // If the automaton is larger, nothing is known.
        Ok(automaton.is_ok_and(|automaton| automaton.is_empty()))
    }
}

/// Returns the measure of an automaton: states, then edges, then acceptance sets.
fn size(automaton: &Automaton) -> (usize, usize, u32) {
    (automaton.states(), automaton.edge_count(), automaton.sets)
}
