//! Synthesis: from one formula to monitors that are placed, monitorable and fit the system.
//!
//! A formula is cut into subformulae, each a monitor of its own on a component, to which the rest refers. Where to cut is
//! chosen by what it costs ([`Cost`]):
//!
//! - **messages**: for each instant, one for each reference from one component to another (a monitor that is referred to says
//!   what it found of every instant);
//! - **delay**: how many instants after an observation the last monitor that depends on it knows what it needs: the
//!   instants that a subformula looks ahead, and one for each link on the way;
//! - **states**: an estimate of the states of all automata, so that none becomes too large.
//!
//! With [`Goal::Messages`] the first counts, then states, then delay; with [`Goal::Delay`] the second, then messages, then
//! states.
//!
//! Two rules keep what comes out sound and useful. Under a temporal operator, a subformula is moved only if it looks ahead for
//! a bounded number of instants: else its verdict may come as late as the end of the trace. Under Boolean operators alone, its
//! verdict is needed once, so it is enough that it is monitorable. Operands of one conjunction or disjunction that go to the
//! same component go there together.
//!
//! For each subformula and component the best way to have it there is found from the inside out; which operands go together is
//! chosen greedily. The result is unfolded again and must be the formula; where machines are small enough, verdicts are
//! compared, too.

mod emit;
mod plan;

use super::equivalent::{Comparison, compare_formula};
use super::monitorable::Monitorability;
use super::{Problem, Specification};
use crate::network::Network;
use crate::system::System;
use invigil_ltl::formula::Proposition;
use invigil_ltl::syntax::Tree;
use invigil_ltl::{Budget, Logic, TooLarge};
use std::fmt;

/// What to have little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Messages.
    Messages,
    /// Delay.
    Delay,
}

/// What a decentralized specification costs, by the model of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Messages for each instant.
    pub messages: u32,
    /// Instants after which everything needed is known.
    pub delay: u32,
}

/// What was made of a formula.
#[derive(Clone, Debug)]
pub struct Split {
    /// The monitors, each placed.
    pub specification: Specification,
    /// The same as automata.
    pub network: Network,
    /// What it costs.
    pub cost: Cost,
    /// Whether a verdict can always still come.
    pub monitorability: Monitorability,
    /// How its verdicts compare with those of the exact monitor of the formula, where that is small enough. That it means the
    /// same in the end is certain in any case: unfolded, it is the formula.
    pub comparison: Option<Comparison>,
}

/// Why a formula was not split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A name that no component observes.
    Unknown(String),
    /// There are no components.
    NoComponents,
    /// The links do not allow all that is observed to come together.
    NoWay,
    /// No observation can ever lead to a verdict, or some make it impossible.
    Blind,
    /// It would take too much.
    TooLarge(TooLarge),
    /// What came out is not right, which is a bug.
    Wrong(Vec<Problem>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unknown(name) => write!(f, "no component observes `{name}`"),
            Refusal::NoComponents => f.write_str("the system has no components"),
            Refusal::NoWay => {
                f.write_str("no way was found to bring together all that the formula speaks of: add links")
            }
            Refusal::Blind => f.write_str("the formula is not monitorable: a verdict can become impossible"),
            Refusal::TooLarge(too_large) => write!(
                f,
                "{too_large}: write the formula as monitors that refer to each other, each with a part of it, or take \
                 smaller bounds"
            ),
            Refusal::Wrong(problems) => {
                f.write_str("what was made of the formula is wrong: ")?;
                problems.iter().try_for_each(|problem| write!(f, "{problem}; "))
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Vec<Problem>> for Refusal {
    /// What is too large is no bug.
    fn from(problems: Vec<Problem>) -> Refusal {
        match problems.iter().find_map(|problem| problem.too_large) {
            Some(too_large) => Refusal::TooLarge(too_large),
            None => Refusal::Wrong(problems),
        }
    }
}

impl From<TooLarge> for Refusal {
    fn from(too_large: TooLarge) -> Refusal {
        Refusal::TooLarge(too_large)
    }
}

/// How large machines may become that are made for checks alone.
const CHECKED: Budget = Budget {
    formulae: 1 << 14,
    states: 1 << 8,
    edges: 1 << 11,
    nodes: 1 << 16,
    variables: 1 << 10,
    seconds: Some(2),
};

/// The most propositions for which verdicts are compared: beyond, machines are too large anyway.
const COMPARED: usize = 12;

/// Splits a formula over the components of a system.
///
/// ```
/// use invigil_decent::spec::split::{Goal, split};
/// use invigil_decent::system::System;
/// use invigil_ltl::Budget;
/// use invigil_ltl::syntax::Tree;
///
/// let mut system = System::default();
/// let (switch, bulb) = (system.component("switch")?, system.component("bulb")?);
/// system.proposition(switch, "pressed")?;
/// system.proposition(bulb, "lit")?;
/// let formula = Tree::parse("G(pressed -> X(lit U !pressed))").unwrap();
/// let split = split(&formula, &system, Goal::Messages, Budget::default()).unwrap();
/// assert_eq!((split.network.parts.len(), split.cost.messages, split.cost.delay), (2, 1, 1));
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
///
/// # Errors
/// If the formula speaks of what nobody observes, is not monitorable, or if there is no way within the budget.
pub fn split(formula: &Tree, system: &System, goal: Goal, budget: Budget) -> Result<Split, Refusal> {
    let unknown = formula.atoms().find(|(name, _)| match name {
        Proposition::Name(name) => system.find(name).is_none(),
        _ => true,
    });
    if let Some((name, _)) = unknown {
        return Err(Refusal::Unknown(name.to_string()));
    }
    if system.components().len() == 0 {
        return Err(Refusal::NoComponents);
    }
    let mut logic = Logic::new(budget);
    // There is no other reason why a tree has no formula.
    let too_many = TooLarge { what: "subformulae", limit: budget.formulae };
    let whole = logic.formulae.make(formula).map_err(|_| too_many)?;
    let plans = plan::Plans::new(&mut logic, system, goal, whole)?;
    let host = plans.host().ok_or(Refusal::NoWay)?;
    let specification = emit::emit(&mut logic, system, &plans, host)?;
    if emit::unfold(&mut logic, &specification, too_many)? != Some(whole) {
        return Err(Refusal::Wrong(vec![Problem::general("unfolded, it is another formula")]));
    }
    let network = specification.network(budget)?;
    // Monitors that are the same have become one: there may be fewer messages than were planned.
    let cost = Cost { messages: network.messages(), delay: plans.delay(host) };
    let monitorability = network.monitorability(system, CHECKED);
    if let Monitorability::Blind { .. } = monitorability {
        return Err(Refusal::Blind);
    }
    let small = system.propositions().len() <= COMPARED;
    let comparison = small.then(|| compare_formula(system, &network, formula, CHECKED).ok()).flatten();
    Ok(Split { specification, network, cost, monitorability, comparison })
}
