//! Breakpoints and watchpoints.

use crate::error::TargetResult;
use crate::run_control::Owner;

/// Number of a breakpoint or watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BreakpointId(pub u32);

/// Location or access at which a breakpoint stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakpointKind {
    /// Before the code at this location is executed: a function (`queue_push`), a line (`faulty.c:32`, `32`) or an
    /// address (`*0x401000`).
    Location(String),
    /// Before this function returns.
    Return(String),
    /// When the memory that an expression denotes is read or written (a watchpoint).
    Watch {
        /// The expression, in the target's language.
        expression: String,
        /// Whether reads count.
        read: bool,
        /// Whether writes count.
        write: bool,
    },
}

/// A request for a breakpoint, with the conditions under which it stops the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointSpec {
    /// The location or access.
    pub kind: BreakpointKind,
    /// An expression of the target's language that must be true.
    pub condition: Option<String>,
    /// Number of hits that are ignored first.
    pub ignore: u64,
    /// Whether it is removed at its first stop.
    pub once: bool,
}

impl BreakpointSpec {
    /// A breakpoint without conditions.
    pub fn new(kind: BreakpointKind) -> BreakpointSpec {
        BreakpointSpec { kind, condition: None, ignore: 0, once: false }
    }
}

/// A breakpoint that is set, with its present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Its number.
    pub id: BreakpointId,
    /// Its owner.
    pub owner: Owner,
    /// The request.
    pub spec: BreakpointSpec,
    /// Its locations as text (addresses and lines); empty until code that has such a location is loaded.
    pub locations: Vec<String>,
    /// Number of times it was hit.
    pub hits: u64,
    /// Whether it is enabled.
    pub enabled: bool,
}

/// Breakpoints and watchpoints of the user and the scenarios.
pub trait Breakpoints {
    /// Sets a breakpoint for the user or a scenario.
    fn set_breakpoint(&mut self, owner: Owner, spec: &BreakpointSpec) -> TargetResult<BreakpointId>;

    /// Removes a breakpoint.
    fn remove_breakpoint(&mut self, id: BreakpointId) -> TargetResult;

    /// Enables or disables a breakpoint.
    fn set_breakpoint_enabled(&mut self, id: BreakpointId, enabled: bool) -> TargetResult;

    /// All breakpoints of the user and the scenarios.
    fn breakpoints(&mut self) -> Vec<Breakpoint>;
}
