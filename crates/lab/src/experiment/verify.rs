//! Verification phase of an experiment: which formulae can be monitored.

use invigil_ltl::monitor::monitorability;
use invigil_ltl::moore::Truth;
use invigil_ltl::{Budget, Logic};
use std::fmt;

/// Reason why a formula is discarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiscardReason {
    /// It is not a formula.
    Syntax(String),
    /// Its monitor exceeds the budget.
    TooLarge(String),
    /// It is decided before the first observation.
    Constant(Truth),
    /// After some observations no verdict is possible.
    NotMonitorable,
}

impl fmt::Display for DiscardReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiscardReason::Syntax(message) => f.write_str(message),
            DiscardReason::TooLarge(message) => {
                write!(f, "{message}: split it into a specification with several monitors")
            }
            DiscardReason::Constant(Truth::True) => f.write_str("it holds for all observations"),
            DiscardReason::Constant(_) => f.write_str("it does not hold for any observations"),
            DiscardReason::NotMonitorable => {
                f.write_str("not monitorable: after some observations no verdict is possible")
            }
        }
    }
}

/// Formulae that can be monitored, and those that cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedFormulae {
    /// Formulae that can be monitored.
    pub keep: Vec<String>,
    /// Formulae that cannot, and why.
    pub discard: Vec<(String, DiscardReason)>,
}

impl VerifiedFormulae {
    /// Checks formulae one by one.
    ///
    /// ```
    /// use invigil_lab::experiment::VerifiedFormulae;
    /// use invigil_ltl::Budget;
    ///
    /// let list = ["G (a -> b)", "G F a", "a | !a", "a &"];
    /// let found = VerifiedFormulae::of(list.map(str::to_owned), Budget::default());
    /// assert_eq!(found.keep, ["G (a -> b)"]);
    /// assert_eq!(found.discard[0].1.to_string(), "not monitorable: after some observations no verdict is possible");
    /// assert_eq!(found.discard[1].1.to_string(), "it holds for all observations");
    /// ```
    pub fn of(formulae: impl IntoIterator<Item = String>, budget: Budget) -> VerifiedFormulae {
        let mut verified = VerifiedFormulae::default();
        for formula in formulae {
            match check_monitorable(&mut Logic::new(budget), &formula) {
                Ok(()) => verified.keep.push(formula),
                Err(reason) => verified.discard.push((formula, reason)),
            }
        }
        verified
    }
}

/// Checks that a formula has a monitor and is monitorable.
///
/// # Errors
/// Returns the reason to discard it.
pub fn check_monitorable(logic: &mut Logic, formula: &str) -> Result<(), DiscardReason> {
    let formula = logic.parse(formula).map_err(|error| DiscardReason::Syntax(error.to_string()))?;
    let monitor = logic.monitor(formula).map_err(|error| DiscardReason::TooLarge(error.to_string()))?;
    match monitor.outputs.get(monitor.initial as usize) {
        Some(Truth::Unknown) => {}
        decided => return Err(DiscardReason::Constant(decided.copied().unwrap_or(Truth::Unknown))),
    }
    match monitorability(&monitor, &logic.labels).is_monitorable() {
        true => Ok(()),
        false => Err(DiscardReason::NotMonitorable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_large_formula_is_discarded_with_remedy() {
        let budget = Budget { states: 100, ..Budget::default() };
        let found = VerifiedFormulae::of(["F(a & X[8] b)".to_owned()], budget);
        assert_eq!(
            found.discard[0].1.to_string(),
            "too large: more than 100 states of a monitor: split it into a specification with several monitors"
        );
    }
}
