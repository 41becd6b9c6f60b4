//! The hierarchy of Manna and Pnueli: what it takes to know that a formula holds, or does not.

use super::kind::{Kinds, kinds};
use crate::automaton::Automaton;
use crate::formula::{Formula, Formulae};
use crate::{Logic, TooLarge};
use std::fmt;

/// A class of the temporal hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Both safety and guarantee: the first few instants decide.
    Bounded,
    /// Nothing bad happens: `G a`. A finite prefix shows that it does not hold.
    Safety,
    /// Something good happens: `F a`. A finite prefix shows that it holds.
    Guarantee,
    /// A Boolean combination of those: `G a | F b`.
    Obligation,
    /// Something good happens again and again: `G F a`.
    Recurrence,
    /// From some instant on nothing bad happens: `F G a`.
    Persistence,
    /// A Boolean combination of those, as every formula is: `G F a | F G b`.
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

/// Where a formula stands in the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The smallest class that we know it to be in.
    pub class: Class,
    /// Whether it is in no smaller one; if not, the budget did not allow to find out.
    pub exact: bool,
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exact {
            true => self.class.fmt(f),
            false => write!(f, "at most {} (not decided)", self.class),
        }
    }
}

impl Formulae {
    /// A class that a formula is surely in, by its form. It may also be in a smaller one.
    pub fn class(&self, formula: Formula) -> Class {
        kinds(self, formula).class()
    }
}

impl Logic {
    /// The class of a formula.
    ///
    /// ```
    /// use invigil_ltl::questions::Class;
    /// use invigil_ltl::{Budget, Logic, TooLarge};
    /// # fn main() -> Result<(), TooLarge> {
    /// let mut logic = Logic::new(Budget::default());
    /// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
    /// let later = logic.formulae.finally(b)?;
    /// let response = logic.formulae.implies(a, later)?;
    /// let always = logic.formulae.globally(response)?;
    /// assert_eq!(logic.class(always).class, Class::Recurrence);
    /// assert_eq!(logic.class(always).to_string(), "recurrence");
    /// # Ok(())
    /// # }
    /// ```
    pub fn class(&mut self, formula: Formula) -> Placed {
        let mut known = kinds(&self.formulae, formula);
        // What was found out before something was too large stays true.
        let exact = self.place(formula, &mut known).is_ok();
        Placed { class: known.class(), exact }
    }

    /// Adds the classes that only the language shows.
    fn place(&mut self, formula: Formula, known: &mut Kinds) -> Result<(), TooLarge> {
        if known.class() == Class::Bounded {
            return Ok(());
        }
        let not = self.formulae.not(formula)?;
        let (yes, no) = (self.translate(formula)?, self.translate(not)?);
        known.safety = known.safety || yes.is_closed(&no, self)?;
        known.guarantee = known.guarantee || no.is_closed(&yes, self)?;
        known.obligation = known.obligation || known.safety || known.guarantee;
        if known.obligation || yes.obligation(Some(&no), self)?.is_some() {
            known.obligation = true;
            return Ok(());
        }
        if known.recurrence && known.persistence {
            return Ok(());
        }
        // The one with fewer states is easier to determinise; what it says of the other one is the reverse.
        let reverse = no.states() < yes.states();
        let parity = if reverse { no.parity(self)? } else { yes.parity(self)? };
        let (recurrence, persistence) = (parity.is_recurrence(), parity.is_persistence());
        (known.recurrence, known.persistence) =
            if reverse { (persistence, recurrence) } else { (recurrence, persistence) };
        Ok(())
    }
}

impl Automaton {
    /// Whether a word all of whose beginnings are those of accepted words is accepted: whether the language is
    /// one of safety. `negation` accepts just the other words.
    ///
    /// # Errors
    /// If there is not enough room.
    pub fn is_closed(&self, negation: &Automaton, logic: &Logic) -> Result<bool, TooLarge> {
        let mut closure = self.trim(&logic.labels)?;
        closure.sets = 0;
        closure.edges.iter_mut().flatten().for_each(|edge| edge.marks = 0);
        Ok(!closure.meets(negation, logic)?)
    }
}
