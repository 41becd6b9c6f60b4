//! From a formula to an automaton that accepts the words on which it holds (after Couvreur).

mod expand;
mod past;
mod tableau;

use crate::automaton::{self, Automaton};
use crate::formula::{Atom, Formula};
use crate::{Effort, Logic, TooLarge};
use tableau::Split;

/// Automata with more states than this are not made a second time in another way.
const WORTH_ANOTHER: usize = 200;

impl Logic {
    /// A small automaton for a formula.
    ///
    /// # Errors
    /// If it would be too large.
    pub fn translate(&mut self, formula: Formula) -> Result<Automaton, TooLarge> {
        let (candidates, negation) = self.candidates(formula)?;
        let mut made = Vec::new();
        for candidate in candidates {
            made.push(automaton::reduce(&candidate, negation.as_ref(), self)?);
        }
        made.sort_by_key(size);
        Ok(made.swap_remove(0))
    }

    /// A small Büchi automaton for a formula: one acceptance set, marks on states.
    ///
    /// # Errors
    /// If it would be too large.
    pub fn buchi(&mut self, formula: Formula) -> Result<Automaton, TooLarge> {
        let (candidates, negation) = self.candidates(formula)?;
        let mut made = Vec::new();
        for candidate in candidates {
            made.push(automaton::buchi(&candidate, negation.as_ref(), self)?);
        }
        made.sort_by_key(size);
        Ok(made.swap_remove(0))
    }

    /// Automata for a formula, made in different ways; at least one. Which is the smallest is hard to foresee.
    /// And one for its negation, which judges whether a change keeps the language, if it is not too large.
    fn candidates(&mut self, formula: Formula) -> Result<(Vec<Automaton>, Option<Automaton>), TooLarge> {
        let (simple, hidden) = self.prepared(formula)?;
        let first = tableau::build(self, simple, &hidden, Split::Products)?;
        if first.states() > WORTH_ANOTHER {
            return Ok((vec![first], None));
        }
        let not = self.formulae.not(formula)?;
        let judge = self.within(WORTH_ANOTHER, |logic| {
            let (simple, hidden) = logic.prepared(not)?;
            tableau::build(logic, simple, &hidden, Split::Products)
        });
        let negation = match judge {
            Ok(judge) => Some(automaton::tidy(&judge, self)?),
            Err(_) => None,
        };
        let second = tableau::build(self, simple, &hidden, Split::Letters)?;
        Ok((vec![first, second], negation))
    }

    /// A formula without past operators that says the same, made simple, and the atoms that were added.
    fn prepared(&mut self, formula: Formula) -> Result<(Formula, Vec<Atom>), TooLarge> {
        let (formula, added) = past::remove(&mut self.formulae, formula)?;
        Ok((self.simplify(formula, Effort::Language)?, added))
    }

    /// Does something with a budget of so many states.
    fn within<T>(&mut self, states: usize, work: impl FnOnce(&mut Logic) -> T) -> T {
        let budget = self.budget;
        self.budget.states = states.min(budget.states);
        self.budget.edges = (states * states).min(budget.edges);
        let result = work(self);
        self.budget = budget;
        result
    }

    /// Whether a formula (in negation normal form, without past) surely holds on no word. An automaton of more
    /// than `states` is not worth it.
    pub(crate) fn is_contradiction(&mut self, formula: Formula, states: usize) -> Result<bool, TooLarge> {
        let made = self.within(states, |logic| tableau::build(logic, formula, &[], Split::Products));
        // Not within these limits is no answer.
        Ok(made.is_ok_and(|automaton| automaton.is_empty()))
    }
}

/// What counts: states, then edges, then acceptance sets.
fn size(automaton: &Automaton) -> (usize, usize, u32) {
    (automaton.states(), automaton.edge_count(), automaton.sets)
}
