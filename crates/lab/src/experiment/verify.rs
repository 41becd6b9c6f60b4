//! Before an experiment: which formulae can be monitored at all.

use invigil_ltl::monitor::monitorability;
use invigil_ltl::moore::Truth;
use invigil_ltl::{Budget, Logic};
use std::fmt;

/// Why a formula is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discarded {
    /// It is no formula.
    Unreadable(String),
    /// Its monitor would cost too much.
    TooLarge(String),
    /// It is decided before anything is observed.
    Constant(Truth),
    /// After some observations, no verdict can come any more.
    Blind,
}

impl fmt::Display for Discarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Discarded::Unreadable(words) => f.write_str(words),
            Discarded::TooLarge(words) => {
                write!(f, "{words}: write it as a specification, whose monitors each have a part of it")
            }
            Discarded::Constant(Truth::True) => f.write_str("it holds, whatever is observed"),
            Discarded::Constant(_) => f.write_str("it does not hold, whatever is observed"),
            Discarded::Blind => {
                f.write_str("not monitorable: after some observations no verdict can come any more")
            }
        }
    }
}

/// Formulae, those that are kept and those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Those that can be monitored.
    pub keep: Vec<String>,
    /// Those that cannot, and why.
    pub discard: Vec<(String, Discarded)>,
}

impl Verified {
    /// Looks at formulae one by one.
    ///
    /// ```
    /// use invigil_lab::experiment::Verified;
    /// use invigil_ltl::Budget;
    ///
    /// let list = ["G (a -> b)", "G F a", "a | !a", "a &"];
    /// let found = Verified::of(list.map(str::to_owned), Budget::default());
    /// assert_eq!(found.keep, ["G (a -> b)"]);
    /// assert_eq!(found.discard[0].1.to_string(), "not monitorable: after some observations no verdict can come any more");
    /// assert_eq!(found.discard[1].1.to_string(), "it holds, whatever is observed");
    /// ```
    pub fn of(formulae: impl IntoIterator<Item = String>, budget: Budget) -> Verified {
        let mut verified = Verified::default();
        for formula in formulae {
            match verify(&mut Logic::new(budget), &formula) {
                Ok(()) => verified.keep.push(formula),
                Err(reason) => verified.discard.push((formula, reason)),
            }
        }
        verified
    }
}

/// Whether a formula has a monitor, from every state of which a verdict can still come.
///
/// # Errors
/// Why it has not.
pub fn verify(logic: &mut Logic, formula: &str) -> Result<(), Discarded> {
    let formula = logic.parse(formula).map_err(|wrong| Discarded::Unreadable(wrong.to_string()))?;
    let monitor = logic.monitor(formula).map_err(|wrong| Discarded::TooLarge(wrong.to_string()))?;
    match monitor.outputs.get(monitor.initial as usize) {
        Some(Truth::Unknown) => {}
        decided => return Err(Discarded::Constant(decided.copied().unwrap_or(Truth::Unknown))),
    }
    match monitorability(&monitor, &logic.labels).is_monitorable() {
        true => Ok(()),
        false => Err(Discarded::Blind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_left_out_with_a_remedy() {
        let budget = Budget { states: 100, ..Budget::default() };
        let found = Verified::of(["F(a & X[8] b)".to_owned()], budget);
        assert_eq!(
            found.discard[0].1.to_string(),
            "too large: more than 100 states of a monitor: write it as a specification, whose monitors each have a part of it"
        );
    }
}
