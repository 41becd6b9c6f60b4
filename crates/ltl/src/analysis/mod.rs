//! Analyses of formulae: satisfiability, validity, implication, equivalence, class in the temporal hierarchy, and stutter
//! invariance. Negative results include words as counterexamples.

mod class;
mod class_set;
mod stuttering;

pub use class::{Class, Classification};
pub use stuttering::Stuttering;

use crate::formula::Formula;
use crate::word::Lasso;
use crate::{Logic, TooLarge};

/// Answer of an analysis: yes, or a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No, with a word as counterexample.
    No(Lasso),
}

impl Answer {
    /// Whether the answer is yes.
    pub fn is_yes(&self) -> bool {
        *self == Answer::Yes
    }
}

impl Logic {
    /// Returns a word on which the formula holds, if it is satisfiable.
    ///
    /// # Errors
    /// Fails if the automaton exceeds the budget.
    ///
    /// ```
    /// use invigil_ltl::{Budget, Logic, TooLarge};
    /// # fn main() -> Result<(), TooLarge> {
    /// let mut logic = Logic::new(Budget::default());
    /// let a = logic.formulae.name("a")?;
    /// let always = logic.formulae.globally(a)?;
    /// let later = logic.formulae.next(a)?;
    /// assert!(logic.implies(always, later)?.is_yes());
    /// assert!(!logic.equivalent(always, later)?.is_yes());
    /// let not = logic.formulae.not(later)?;
    /// let both = logic.formulae.and([always, not])?;
    /// assert_eq!(logic.satisfying_word(both)?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn satisfying_word(&mut self, formula: Formula) -> Result<Option<Lasso>, TooLarge> {
        Ok(self.translate(formula)?.accepting_word(&self.labels))
    }

    /// Whether the formula holds on all words.
    ///
    /// # Errors
    /// Fails if the automaton exceeds the budget.
    pub fn valid(&mut self, formula: Formula) -> Result<Answer, TooLarge> {
        let not = self.formulae.not(formula)?;
        Ok(self.satisfying_word(not)?.map_or(Answer::Yes, Answer::No))
    }

    /// Whether `conclusion` holds on all words on which `premise` holds.
    ///
    /// # Errors
    /// Fails if the automaton exceeds the budget.
    pub fn implies(&mut self, premise: Formula, conclusion: Formula) -> Result<Answer, TooLarge> {
        let implication = self.formulae.implies(premise, conclusion)?;
        self.valid(implication)
    }

    /// Whether two formulae hold on the same words.
    ///
    /// # Errors
    /// Fails if the automaton exceeds the budget.
    pub fn equivalent(&mut self, one: Formula, other: Formula) -> Result<Answer, TooLarge> {
        match self.implies(one, other)? {
            Answer::Yes => self.implies(other, one),
            refuted => Ok(refuted),
        }
    }
}
