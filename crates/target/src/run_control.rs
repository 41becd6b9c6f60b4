//! Running, stopping and ending a target.

use crate::breakpoints::BreakpointId;
use crate::error::{TargetResult, Termination};

/// Requester of a stop. If several owners have a stop at one location, they are notified in the order of the
/// variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// The user at the prompt.
    User,
    /// A scenario.
    Scenario,
    /// The monitors: an event occurs here.
    Monitors,
}

/// How far the target runs when it is resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeMode {
    /// Until the next stop.
    Continue,
    /// One machine instruction of the selected thread.
    Instruction,
    /// To the next source line, stepping into functions.
    Line,
    /// To the next source line, stepping over calls.
    NextLine,
    /// Until the selected frame returns.
    Finish,
    /// To a location as in [`BreakpointKind::Location`](crate::BreakpointKind::Location), or until the selected frame
    /// returns.
    Until(String),
}

/// Why the target stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// Needed events occurred: see [`EventSource::events`](crate::EventSource::events).
    Events,
    /// Breakpoints or watchpoints of the user or a scenario were hit, all of one owner.
    Breakpoints {
        /// The owner.
        owner: Owner,
        /// Their numbers.
        breakpoints: Vec<BreakpointId>,
    },
    /// The step that was requested by a [`ResumeMode`] is complete.
    Stepped {
        /// For [`ResumeMode::Finish`], the returned value as text.
        returned: Option<String>,
    },
    /// [`Interrupter::interrupt`] was called.
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
}

/// Stops a running target from another thread or a signal handler.
pub trait Interrupter: Send + Sync {
    /// Makes [`RunControl::resume`] return soon with [`StopReason::Interrupted`].
    fn interrupt(&self);
}

/// Running, stopping and ending a target. Between two calls the target is stopped.
pub trait RunControl {
    /// Whether the process still exists.
    fn is_alive(&self) -> bool;

    /// Runs the target until the next stop. Owners that are still to be notified at the current location come first.
    ///
    /// After [`StopReason::Events`], and after [`StopReason::Breakpoints`] of a scenario, a step stays in progress:
    /// resuming with the same `mode`, or with [`ResumeMode::Continue`], continues it. Every other stop ends the step,
    /// and so does [`RunControl::stop_all`]. A step that hits a breakpoint of the user ends there. A step that reaches
    /// an event reports the event first and then ends, if it ends at that location.
    fn resume(&mut self, mode: &ResumeMode) -> TargetResult<StopReason>;

    /// Stops all threads. An event is reported as soon as its own thread stops; the other threads may keep running
    /// until they have to be stopped. A step in progress is cancelled.
    ///
    /// # Errors
    /// If the program cannot be controlled.
    fn stop_all(&mut self) -> TargetResult;

    /// The thread that stopped, or that was selected since.
    fn current_thread(&self) -> u32;

    /// A handle that can stop the running target.
    fn interrupter(&self) -> Box<dyn Interrupter>;

    /// Kills the target and the processes of its checkpoints.
    fn kill(&mut self) -> TargetResult;

    /// Detaches from the target, which keeps running.
    fn detach(&mut self) -> TargetResult;
}
