//! The temporal hierarchy of Manna and Pnueli, and the classification of formulae in it.

use super::class_set::{ClassSet, syntactic_classes};
use crate::automaton::Automaton;
use crate::formula::{Formula, Formulae};
use crate::{Logic, TooLarge};
use std::fmt;

/// A class of the temporal hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Both safety and guarantee: decided by a finite prefix of bounded length.
    Bounded,
    /// Nothing bad happens: `G a`. A finite prefix refutes it.
    Safety,
    /// Something good happens: `F a`. A finite prefix confirms it.
    Guarantee,
    /// A Boolean combination of safety and guarantee properties: `G a | F b`.
    Obligation,
    /// Something good happens infinitely often: `G F a`.
    Recurrence,
    /// From some position on, nothing bad happens: `F G a`.
    Persistence,
    /// A Boolean combination of recurrence and persistence properties, as every formula is: `G F a | F G b`.
    Reactivity,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Bounded => "safety and guarantee",
            Class::Safety => "safety",
            Class::Guarantee => "guarantee",
            Class::Obligation => "obligation",
            Class::Recurrence => "recurrence",
            Class::Persistence => "persistence",
            Class::Reactivity => "reactivity",
        })
    }
}

/// Class of a formula in the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// The smallest class that the formula is known to belong to.
    pub class: Class,
    /// Whether the class is the smallest one; if not, the budget was exceeded before this was decided.
    pub is_exact: bool,
}

impl fmt::Display for Classification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_exact {
            true => self.class.fmt(f),
            false => write!(f, "at most {} (not decided)", self.class),
        }
    }
}

impl Formulae {
    /// Returns a class that a formula belongs to according to its syntax. It may also belong to a smaller class.
    pub fn syntactic_class(&self, formula: Formula) -> Class {
        syntactic_classes(self, formula).class()
    }
}

impl Logic {
    /// Classifies a formula by its language.
    ///
    /// ```
    /// use invigil_ltl::analysis::Class;
    /// use invigil_ltl::{Budget, Logic, TooLarge};
    /// # fn main() -> Result<(), TooLarge> {
    /// let mut logic = Logic::new(Budget::default());
    /// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
    /// let later = logic.formulae.finally(b)?;
    /// let response = logic.formulae.implies(a, later)?;
    /// let always = logic.formulae.globally(response)?;
    /// assert_eq!(logic.classify(always).class, Class::Recurrence);
    /// assert_eq!(logic.classify(always).to_string(), "recurrence");
    /// # Ok(())
    /// # }
    /// ```
    pub fn classify(&mut self, formula: Formula) -> Classification {
        let mut classes = syntactic_classes(&self.formulae, formula);
        // Classes found before the budget was exceeded remain valid.
        let is_exact = self.refine_classes(formula, &mut classes).is_ok();
        Classification { class: classes.class(), is_exact }
    }

    /// Adds the classes that follow from the language, not from the syntax, by means of automata.
    fn refine_classes(&mut self, formula: Formula, classes: &mut ClassSet) -> Result<(), TooLarge> {
        if classes.class() == Class::Bounded {
            return Ok(());
        }
        let not = self.formulae.not(formula)?;
        let (yes, no) = (self.translate(formula)?, self.translate(not)?);
        classes.safety = classes.safety || yes.is_closed(&no, self)?;
        classes.guarantee = classes.guarantee || no.is_closed(&yes, self)?;
        classes.obligation = classes.obligation || classes.safety || classes.guarantee;
        if classes.obligation || yes.minimise_obligation(Some(&no), self)?.is_some() {
            classes.obligation = true;
            return Ok(());
        }
        if classes.recurrence && classes.persistence {
            return Ok(());
        }
        // The smaller automaton is easier to determinise. For the negation, recurrence and persistence are swapped.
        let negated = no.states() < yes.states();
        let parity = if negated { no.determinise(self)? } else { yes.determinise(self)? };
        let (recurrence, persistence) = (parity.is_recurrence(), parity.is_persistence());
        (classes.recurrence, classes.persistence) =
            if negated { (persistence, recurrence) } else { (recurrence, persistence) };
        Ok(())
    }
}

impl Automaton {
    /// Whether the language is a safety language: a word is accepted if all its prefixes are prefixes of accepted words.
    /// `negation` accepts the complement.
    ///
    /// # Errors
    /// Fails if the product exceeds the budget.
    pub fn is_closed(&self, negation: &Automaton, logic: &Logic) -> Result<bool, TooLarge> {
        let mut closure = self.trim(&logic.labels)?;
        closure.sets = 0;
        closure.edges.iter_mut().flatten().for_each(|edge| edge.marks = 0);
        Ok(!closure.intersects(negation, logic)?)
    }
}
