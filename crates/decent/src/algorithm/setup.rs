//! What all algorithms need before the first round.

use crate::automaton::{Automaton, Flaw, Machine, Refused};
use crate::memory::Atom;
use crate::system::{ComponentId, System};
use invigil_ltl::formula::{Formula, Proposition};
use invigil_ltl::{Logic, TooLarge};
use std::fmt;

/// Why there are no monitors for a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSetup {
    /// There is no automaton.
    Refused(Refused),
    /// The automaton cannot run.
    Flaw(Flaw),
    /// Nobody is there to monitor.
    NoComponents,
    /// There are more monitors than can be numbered.
    TooMany,
}

impl fmt::Display for NoSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSetup::Refused(Refused::TooLarge(too_large)) => write!(
                f,
                "{too_large}: write the formula as a specification, whose monitors each have a part of it, or take smaller \
                 bounds"
            ),
            NoSetup::Refused(refused) => refused.fmt(f),
            NoSetup::Flaw(flaw) => flaw.fmt(f),
            NoSetup::NoComponents => f.write_str("the system has no components: add one that can observe"),
            NoSetup::TooMany => f.write_str("there are more monitors than can be numbered"),
        }
    }
}

impl std::error::Error for NoSetup {}

impl From<Refused> for NoSetup {
    fn from(refused: Refused) -> NoSetup {
        NoSetup::Refused(refused)
    }
}

impl From<TooLarge> for NoSetup {
    fn from(too_large: TooLarge) -> NoSetup {
        NoSetup::Refused(Refused::TooLarge(too_large))
    }
}

impl From<Flaw> for NoSetup {
    fn from(flaw: Flaw) -> NoSetup {
        NoSetup::Flaw(flaw)
    }
}

/// The monitor of a formula over the propositions of a system.
///
/// # Errors
/// If it names what nobody observes, or if it is too large.
pub fn machine(logic: &mut Logic, formula: Formula, system: &System) -> Result<Machine, NoSetup> {
    let moore = logic.monitor(formula)?;
    let automaton = Automaton::of(logic, &moore, |name| observed(system, name))?;
    Ok(Machine::new(automaton)?)
}

/// The atom that is observed under this name.
pub(super) fn observed(system: &System, name: &Proposition) -> Option<Atom> {
    match name {
        Proposition::Name(name) | Proposition::Expression(name) => system.find(name).map(Atom::Observed),
        Proposition::Monitor(_) | Proposition::Fresh(_) => None,
    }
}

/// The first component, on which whatever is not about any other can run.
pub(super) fn first(system: &System) -> Result<ComponentId, NoSetup> {
    system.components().next().ok_or(NoSetup::NoComponents)
}
