//! Functions put in the place of variables, and variables put away from conjunctions.

use super::{Label, Labels, Variable};
use crate::TooLarge;
use oxidd::bcdd::BCDDFunction;
use oxidd::{BooleanFunctionQuant, BooleanOperator, FunctionSubst, Subst};

/// What takes the place of some variables, of all of them at once.
pub struct Substitution(Subst<BCDDFunction>);

impl Labels {
    /// A variable as a function, if some label has spoken of it.
    pub(crate) fn known(&self, variable: Variable) -> Option<Label> {
        self.variables.get(&variable).cloned()
    }

    /// Each function in the place of its variable.
    ///
    /// # Errors
    /// If there is no room.
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

    /// `a` with functions in the place of variables.
    ///
    /// # Errors
    /// If there is no room.
    pub fn substitute(&self, a: &Label, by: &Substitution) -> Result<Label, TooLarge> {
        self.own(|| a.0.substitute(&by.0))
    }

    /// `a & b` with the variables of the cube (all positive) put away: true where it is for some value of them.
    ///
    /// # Errors
    /// If there is no room.
    pub fn exists_both(&self, a: &Label, b: &Label, variables: &Label) -> Result<Label, TooLarge> {
        self.own(|| a.0.apply_exists(BooleanOperator::And, &b.0, &variables.0))
    }

    /// `a <-> b`
    ///
    /// # Errors
    /// If there is no room.
    pub fn same(&self, a: &Label, b: &Label) -> Result<Label, TooLarge> {
        self.choose(a, b, &self.not(b)?)
    }
}
