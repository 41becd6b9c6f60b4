//! The context of all algorithms.

use crate::Budget;
use crate::formula::Formulae;
use crate::label::Labels;

/// Formulae, labels over the same atoms, and the budget of all algorithms on them.
///
/// The algorithms are methods: `translate`, `monitor`, `satisfying_word` and so on, in their modules.
///
/// ```
/// use invigil_ltl::{Budget, Logic, TooLarge};
/// # fn main() -> Result<(), TooLarge> {
/// let mut logic = Logic::new(Budget::default());
/// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
/// let later = logic.formulae.finally(b)?;
/// let response = logic.formulae.implies(a, later)?;
/// let always = logic.formulae.globally(response)?;
/// assert_eq!(logic.formulae.subformulae(always).len(), 6);
/// # Ok(())
/// # }
/// ```
pub struct Logic {
    /// Formulae and their atoms.
    pub formulae: Formulae,
    /// Labels of automata.
    pub labels: Labels,
    /// Limits of each construction.
    pub budget: Budget,
}

impl Logic {
    /// Creates a logic without atoms.
    pub fn new(budget: Budget) -> Logic {
        Logic { formulae: Formulae::new(&budget), labels: Labels::new(&budget), budget }
    }
}
