//! What belongs together: formulae, the labels over their atoms, and how much all of it may cost.

use crate::Budget;
use crate::formula::Formulae;
use crate::label::Labels;

/// Formulae and labels over the same atoms.
///
/// ```
/// use invigil_ltl::{Budget, Logic, TooLarge};
/// # fn main() -> Result<(), TooLarge> {
/// let mut logic = Logic::new(Budget::default());
/// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
/// let later = logic.formulae.finally(b)?;
/// let response = logic.formulae.implies(a, later)?;
/// let always = logic.formulae.globally(response)?;
/// assert_eq!(logic.formulae.within(always).len(), 6);
/// # Ok(())
/// # }
/// ```
pub struct Logic {
    /// The formulae.
    pub formulae: Formulae,
    /// The labels of automata.
    pub labels: Labels,
    /// What may be spent.
    pub budget: Budget,
}

impl Logic {
    /// Nothing yet.
    pub fn new(budget: Budget) -> Logic {
        Logic { formulae: Formulae::new(&budget), labels: Labels::new(&budget), budget }
    }
}
