//! Questions about formulae: whether one holds always or sometimes, whether two say the same, of what class one
//! is, and whether it counts how often something is repeated. A no comes with words that show it.

mod class;
mod kind;
mod stutter;

pub use class::{Class, Placed};
pub use stutter::Stuttering;

use crate::formula::Formula;
use crate::word::Lasso;
use crate::{Logic, TooLarge};

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No, as this word shows.
    No(Lasso),
}

impl Answer {
    /// Whether it is a yes.
    pub fn is_yes(&self) -> bool {
        *self == Answer::Yes
    }
}

impl Logic {
    /// A word on which a formula holds, if there is one.
    ///
    /// # Errors
    /// If the automaton would be too large, here as below.
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
    /// assert_eq!(logic.satisfiable(both)?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn satisfiable(&mut self, formula: Formula) -> Result<Option<Lasso>, TooLarge> {
        Ok(self.translate(formula)?.word(&self.labels))
    }

    /// Whether a formula holds on all words.
    ///
    /// # Errors
    /// If the automaton would be too large.
    pub fn valid(&mut self, formula: Formula) -> Result<Answer, TooLarge> {
        let not = self.formulae.not(formula)?;
        Ok(self.satisfiable(not)?.map_or(Answer::Yes, Answer::No))
    }

    /// Whether the second formula holds wherever the first one does.
    ///
    /// # Errors
    /// If the automaton would be too large.
    pub fn implies(&mut self, if_this: Formula, then_that: Formula) -> Result<Answer, TooLarge> {
        let implication = self.formulae.implies(if_this, then_that)?;
        self.valid(implication)
    }

    /// Whether two formulae hold on the same words.
    ///
    /// # Errors
    /// If the automaton would be too large.
    pub fn equivalent(&mut self, one: Formula, other: Formula) -> Result<Answer, TooLarge> {
        match self.implies(one, other)? {
            Answer::Yes => self.implies(other, one),
            no => Ok(no),
        }
    }
}
