//! Why a session stands still, and what became of its start.

use crate::subject::{Ending, PointId, Trouble, Unknown};
use invigil_monitor::verdict::{Failure, Verdict};
use std::fmt;

/// Why the program stands still and the developer is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The scenario or a property asked for it: all who did.
    Suspended(Vec<Reason>),
    /// Points of the developer were reached.
    Points(Vec<PointId>),
    /// The step that was asked for is done.
    Stepped {
        /// The value that the frame returned, in words.
        returned: Option<String>,
    },
    /// It was interrupted.
    Interrupted,
    /// A signal that would do harm is about to be delivered.
    Signal {
        /// Its name.
        name: String,
        /// What it is about.
        detail: String,
    },
    /// The program is no more.
    Ended(Ending),
    /// The scenario or a property ended the program.
    Stopped,
}

/// Who suspended the program, and why.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The scenario reacted to this change.
    Verdict(VerdictChange),
    /// A point of the scenario was reached: it has no function, or its function asked for it.
    Point(PointId),
    /// The scenario's initialization asked for it.
    Start,
    /// A property asked for the prompt: it is followed step by step, or a callback said so.
    Property(usize),
    /// A block of a property failed; its monitor has ended.
    PropertyFailed {
        /// The property.
        property: usize,
        /// What went wrong, and where in the property.
        failure: Failure,
    },
    /// A block of a scenario failed.
    ScenarioFailed {
        /// The scenario.
        scenario: usize,
        /// What went wrong, and where in the scenario.
        failure: Failure,
    },
}

/// A change of states that a scenario reacts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictChange {
    /// The property, by its position.
    pub property: usize,
    /// Which slice it was: `queue = 7`; empty if the property is not sliced.
    pub slice: String,
    /// The state that was left; empty at the start.
    pub from: String,
    /// The state that was entered.
    pub to: String,
    /// What that state means.
    pub verdict: Verdict,
    /// The number of the event; zero at the start.
    pub event: u64,
}

impl fmt::Display for VerdictChange {
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

/// What became of the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Started {
    /// Events that the program cannot show yet, but may later.
    pub pending: Vec<Unknown>,
    /// What the scenario made of the initial verdicts, if the program is not simply ready to run.
    pub outcome: Option<Outcome>,
}

/// Why a session could not start.
#[derive(Clone, Debug, PartialEq)]
pub enum StartError {
    /// Events or parameters that the program does not have.
    Unknown(Vec<Unknown>),
    /// The subject could not be prepared.
    Trouble(Trouble),
}

impl From<Trouble> for StartError {
    fn from(trouble: Trouble) -> StartError {
        StartError::Trouble(trouble)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Trouble(trouble) => trouble.fmt(f),
            StartError::Unknown(unknown) => {
                for (at, unknown) in unknown.iter().enumerate() {
                    let line = if at > 0 { "\n" } else { "" };
                    write!(f, "{line}{}", unknown.reason)?;
                    if !unknown.help.is_empty() {
                        write!(f, ": {}", unknown.help)?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for StartError {}
