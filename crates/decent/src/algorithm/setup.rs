//! Setup shared by all algorithms.

use crate::automaton::{Automaton, AutomatonError, Machine, MachineError};
use crate::memory::Atom;
use crate::system::{ComponentId, System};
use invigil_ltl::formula::{Formula, Proposition};
use invigil_ltl::{Logic, TooLarge};
use std::fmt;

/// Reason why a specification has no monitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// The automaton cannot be built.
    Automaton(AutomatonError),
    /// The automaton is invalid.
    Machine(MachineError),
    /// The system has no components.
    NoComponents,
    /// The number of monitors exceeds the range of ids.
    TooManyMonitors,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::Automaton(AutomatonError::TooLarge(too_large)) => write!(
                f,
                "{too_large}: split it into a specification with several monitors, or use smaller bounds"
            ),
            SetupError::Automaton(error) => error.fmt(f),
            SetupError::Machine(error) => error.fmt(f),
            SetupError::NoComponents => f.write_str("the system has no components: add one that can observe"),
            SetupError::TooManyMonitors => {
                write!(f, "more than {} monitors, or classes of observations", u32::MAX)
            }
        }
    }
}

impl std::error::Error for SetupError {}

impl From<AutomatonError> for SetupError {
    fn from(error: AutomatonError) -> SetupError {
        SetupError::Automaton(error)
    }
}

impl From<TooLarge> for SetupError {
    fn from(too_large: TooLarge) -> SetupError {
        SetupError::Automaton(AutomatonError::TooLarge(too_large))
    }
}

impl From<MachineError> for SetupError {
    fn from(error: MachineError) -> SetupError {
        SetupError::Machine(error)
    }
}

/// Compiles a formula over the propositions of a system.
///
/// # Errors
/// Fails if the formula contains a proposition that no component observes, or is too large.
pub fn compile_formula(logic: &mut Logic, formula: Formula, system: &System) -> Result<Machine, SetupError> {
    let moore = logic.monitor(formula)?;
    let automaton = Automaton::of(logic, &moore, |name| observed_atom(system, name))?;
    Ok(Machine::new(automaton)?)
}

/// Returns the atom for a proposition. `None` if no component observes it.
pub(super) fn observed_atom(system: &System, name: &Proposition) -> Option<Atom> {
    match name {
        Proposition::Name(name) | Proposition::Expression(name) => {
            system.find_proposition(name).map(Atom::Observed)
        }
        Proposition::Monitor(_) | Proposition::Fresh(_) => None,
    }
}

/// Returns the first component, which hosts monitors that no component's observations constrain.
pub(super) fn first_component(system: &System) -> Result<ComponentId, SetupError> {
    system.components().next().ok_or(SetupError::NoComponents)
}
