//! Results of starting and running a session.

use invigil_monitor::verdict::{MonitorFault, Verdict};
use invigil_target::{BreakpointId, TargetError, Termination, UnresolvedEvent};
use std::fmt;

/// Why the target is stopped and the user has to decide how to continue.
#[derive(Clone, Debug, PartialEq)]
pub enum RunOutcome {
    /// Scenarios or properties suspended the target, for these reasons.
    Suspended(Vec<SuspendReason>),
    /// Breakpoints of the user were hit.
    Breakpoints(Vec<BreakpointId>),
    /// The requested step is complete.
    Stepped {
        /// The value that the frame returned, as text.
        returned: Option<String>,
    },
    /// The user interrupted the target.
    Interrupted,
    /// A signal that would normally end the program is about to be delivered.
    Signal {
        /// The signal's name.
        name: String,
        /// Its cause, such as the address of an invalid access.
        detail: String,
    },
    /// The target has ended.
    Ended(Termination),
    /// A scenario or a property requested that the target be killed.
    KilledOnRequest,
}

/// Why a session suspended the target.
#[derive(Clone, Debug, PartialEq)]
pub enum SuspendReason {
    /// A scenario reacted to this change.
    StateChange(StateChange),
    /// A scenario breakpoint without a handler was hit, or its handler requested the stop.
    Breakpoint(BreakpointId),
    /// A scenario's initialization requested the stop.
    Start,
    /// A property requested the stop: it is in step mode, or a callback requested it.
    Property(usize),
    /// A block of a property raised a fault; its monitor has ended.
    PropertyFailed {
        /// The property.
        property: usize,
        /// The fault, with its position in the property.
        failure: MonitorFault,
    },
    /// A block of a scenario raised a fault.
    ScenarioFailed {
        /// The scenario.
        scenario: usize,
        /// The fault, with its position in the scenario.
        failure: MonitorFault,
    },
}

/// A change of a slice's state that scenarios can react to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The position of the property.
    pub property: usize,
    /// The slice as text: `queue = 7`; empty if the property is not sliced.
    pub slice: String,
    /// The state that was left; empty at the start.
    pub from: String,
    /// The state that was entered.
    pub to: String,
    /// The verdict of the state that was entered.
    pub verdict: Verdict,
    /// Whether the change violates the property: the state that was left is not also non-accepting.
    pub is_violation: bool,
    /// The number of the event; zero at the start.
    pub event: u64,
}

impl fmt::Display for StateChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.from.is_empty() {
            write!(f, "{} -> ", self.from)?;
        }
        write!(f, "{} ({})", self.to, self.verdict)?;
        if !self.slice.is_empty() {
            write!(f, " for {}", self.slice)?;
        }
        Ok(())
    }
}

/// Result of a successful start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartOutcome {
    /// Events that the target cannot supply yet, but may later.
    pub pending: Vec<UnresolvedEvent>,
    /// The outcome of the scenarios' reactions to the initial verdicts; `None` if the target is ready to run.
    pub outcome: Option<RunOutcome>,
}

/// Why a session could not start.
#[derive(Clone, Debug, PartialEq)]
pub enum StartError {
    /// Events or parameters that the target does not have.
    Unresolved(Vec<UnresolvedEvent>),
    /// The target could not be prepared.
    Target(TargetError),
}

impl From<TargetError> for StartError {
    fn from(error: TargetError) -> StartError {
        StartError::Target(error)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Target(error) => error.fmt(f),
            StartError::Unresolved(unresolved) => {
                for (at, event) in unresolved.iter().enumerate() {
                    let separator = if at > 0 { "\n" } else { "" };
                    write!(f, "{separator}{}", event.reason)?;
                    if !event.help.is_empty() {
                        write!(f, ": {}", event.help)?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for StartError {}
