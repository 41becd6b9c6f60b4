//! Substitution of functions for variables, and relational products.

use super::{Label, Labels, Variable};
use crate::TooLarge;
use oxidd::bcdd::BCDDFunction;
use oxidd::{BooleanFunctionQuant, BooleanOperator, FunctionSubst, Subst};

/// Simultaneous substitution of functions for variables.
pub struct Substitution(Subst<BCDDFunction>);

impl Labels {
    /// Returns the function of a variable, if the variable exists.
    pub(crate) fn known_variable(&self, variable: Variable) -> Option<Label> {
        self.variables.get(&variable).cloned()
    }

    /// Creates a substitution.
    ///
    /// # Errors
    /// Fails if there are too many nodes.
    pub fn substitution(&mut self, pairs: &[(Variable, Label)]) -> Result<Substitution, TooLarge> {
        let (mut numbers, mut functions) = (Vec::new(), Vec::new());
        for (variable, function) in pairs {
            self.variable(*variable)?;
            if let Some(number) = self.variables.get_index_of(variable) {
                numbers.push(number as u32);
                functions.push(function.0.clone());
            }
        }
        Ok(Substitution(Subst::new(numbers, functions)))
    }

    /// Applies a substitution.
    ///
    /// # Errors
    /// Fails if there are too many nodes.
    pub fn substitute(&self, a: &Label, by: &Substitution) -> Result<Label, TooLarge> {
        self.perform(|| a.0.substitute(&by.0))
    }

    /// Computes the relational product: `a & b` with the variables of a positive cube quantified existentially.
    ///
    /// # Errors
    /// Fails if there are too many nodes.
    pub fn and_exists(&self, a: &Label, b: &Label, variables: &Label) -> Result<Label, TooLarge> {
        self.perform(|| a.0.apply_exists(BooleanOperator::And, &b.0, &variables.0))
    }

    /// `a <-> b`
    ///
    /// # Errors
    /// Fails if there are too many nodes.
    pub fn iff(&self, a: &Label, b: &Label) -> Result<Label, TooLarge> {
        self.ite(a, b, &self.not(b)?)
    }
}
