//! Synthesis: splits a formula into monitorable monitors that fit the system, each placed on a component.
//!
//! The formula is cut into subformulae. Each becomes a monitor on a component, and the rest refers to it. Cuts are
//! chosen by three estimated costs; [`Cost`] reports the first two:
//!
//! - **messages**: for each instant, one per reference between components (a referenced monitor reports its verdict for
//!   every instant);
//!
//! - **delay**: instants between an observation and the round in which the last monitor that depends on it has all it
//!   needs: the lookahead of subformulae plus one per link on the way;
//!
//! - **states**: an estimate of the size of all automata, so that none becomes too large.
//!
//! [`Goal::Messages`] minimizes messages, then states, then delay; [`Goal::Delay`] minimizes delay, then messages, then
//! states.
//!
//! Two rules keep the result sound and useful. Below a temporal operator, a subformula moves only if its lookahead is
//! bounded: otherwise its verdict could come as late as the end of the trace. Where only Boolean operators enclose a
//! subformula, its verdict is needed once, so the subformula need only be monitorable. Operands of one conjunction or
//! disjunction that move to the same component form one monitor.
//!
//! The best plan for each subformula on each component is computed bottom-up; groups of operands are chosen greedily.
//! The result is unfolded again and must be the original formula; where automata are small enough, verdicts are
//! compared as well.

mod emit;
mod plan;

use super::equivalence::{Comparison, compare_formula};
use super::monitorability::Monitorability;
use super::{SpecDiagnostic, Specification};
use crate::network::Network;
use crate::system::System;
use invigil_ltl::formula::Proposition;
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Budget, Logic, TooLarge};
use std::fmt;

/// Primary cost to minimize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Number of messages.
    Messages,
    /// Delay.
    Delay,
}

/// Cost of a decentralized specification in the model of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Messages per instant.
    pub messages: u32,
    /// Instants until everything needed is known.
    pub delay: u32,
}

/// Result of a synthesis.
#[derive(Clone, Debug)]
pub struct Split {
    /// The placed monitors.
    pub specification: Specification,
    /// The same monitors as automata.
    pub network: Network,
    /// The cost.
    pub cost: Cost,
    /// Monitorability of the result.
    pub monitorability: Monitorability,
    /// Comparison with the exact monitor of the formula, if that is small enough. Eventual equivalence is certain in
    /// any case: the result unfolds to the formula.
    pub comparison: Option<Comparison>,
}

/// Reason why a formula was not split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitError {
    /// No component observes this name.
    Unknown(String),
    /// The system has no components.
    NoComponents,
    /// The links do not allow all observations to be combined.
    NoPlacement,
    /// The formula is not monitorable.
    NotMonitorable,
    /// A limit was exceeded.
    TooLarge(TooLarge),
    /// The result is wrong: a bug.
    Internal(Vec<SpecDiagnostic>),
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SplitError::Unknown(name) => write!(f, "no component observes `{name}`"),
            SplitError::NoComponents => f.write_str("the system has no components"),
            SplitError::NoPlacement => f.write_str(
                "the links do not allow all observations of the formula to be combined: add links",
            ),
            SplitError::NotMonitorable => {
                f.write_str("the formula is not monitorable: after some observations no verdict is possible")
            }
            SplitError::TooLarge(too_large) => write!(
                f,
                "{too_large}: write the formula as several monitors that refer to each other, or use smaller bounds"
            ),
            SplitError::Internal(diagnostics) => {
                let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
                write!(f, "internal error, the result of the split is wrong: {}", texts.join("; "))
            }
        }
    }
}

impl std::error::Error for SplitError {}

impl From<Vec<SpecDiagnostic>> for SplitError {
    /// An exceeded limit is not a bug.
    fn from(diagnostics: Vec<SpecDiagnostic>) -> SplitError {
        match diagnostics.iter().find_map(|diagnostic| diagnostic.too_large) {
            Some(too_large) => SplitError::TooLarge(too_large),
            None => SplitError::Internal(diagnostics),
        }
    }
}

impl From<TooLarge> for SplitError {
    fn from(too_large: TooLarge) -> SplitError {
        SplitError::TooLarge(too_large)
    }
}

/// Budget for automata that are built only for checks.
const CHECK_BUDGET: Budget = Budget {
    formulae: 1 << 14,
    states: 1 << 8,
    edges: 1 << 11,
    nodes: 1 << 16,
    variables: 1 << 10,
    seconds: Some(2),
};

/// Maximum number of propositions for which verdicts are compared; with more, automata are too large anyway.
const MAX_COMPARED_PROPOSITIONS: usize = 12;

/// Splits a formula over the components of a system.
///
/// ```
/// use invigil_decent::spec::split::{Goal, split};
/// use invigil_decent::system::System;
/// use invigil_ltl::Budget;
/// use invigil_ltl::syntax::SyntaxTree;
///
/// let mut system = System::default();
/// let (switch, bulb) = (system.component("switch")?, system.component("bulb")?);
/// system.proposition(switch, "pressed")?;
/// system.proposition(bulb, "lit")?;
/// let formula = SyntaxTree::parse("G(pressed -> X(lit U !pressed))").unwrap();
/// let split = split(&formula, &system, Goal::Messages, Budget::default()).unwrap();
/// assert_eq!((split.network.monitors.len(), split.cost.messages, split.cost.delay), (2, 1, 1));
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
///
/// # Errors
/// Fails if no component observes a proposition, if the formula is not monitorable, or if no result is found within the
/// budget.
pub fn split(formula: &SyntaxTree, system: &System, goal: Goal, budget: Budget) -> Result<Split, SplitError> {
    let unknown = formula.atoms().find(|(name, _)| match name {
        Proposition::Name(name) => system.find_proposition(name).is_none(),
        _ => true,
    });
    if let Some((name, _)) = unknown {
        return Err(SplitError::Unknown(name.to_string()));
    }
    if system.components().len() == 0 {
        return Err(SplitError::NoComponents);
    }
    let mut logic = Logic::new(budget);
    // Lowering fails only if this limit is exceeded.
    let too_many = TooLarge { resource: "subformulae", limit: budget.formulae };
    let whole = logic.formulae.lower(formula).map_err(|_| too_many)?;
    let plans = plan::Plans::new(&mut logic, system, goal, whole)?;
    let host = plans.host().ok_or(SplitError::NoPlacement)?;
    let specification = emit::emit(&mut logic, system, &plans, host)?;
    if emit::unfold(&mut logic, &specification, too_many)? != Some(whole) {
        return Err(SplitError::Internal(vec![SpecDiagnostic::general("it unfolds to a different formula")]));
    }
    let network = specification.network(budget)?;
    // Equal monitors were merged, so there may be fewer messages than planned.
    let cost = Cost { messages: network.messages_per_instant(), delay: plans.delay(host) };
    let monitorability = network.monitorability(system, CHECK_BUDGET);
    if let Monitorability::NotMonitorable { .. } = monitorability {
        return Err(SplitError::NotMonitorable);
    }
    let small = system.propositions().len() <= MAX_COMPARED_PROPOSITIONS;
    let comparison = small.then(|| compare_formula(system, &network, formula, CHECK_BUDGET).ok()).flatten();
    Ok(Split { specification, network, cost, monitorability, comparison })
}
