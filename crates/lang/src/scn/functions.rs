//! Functions and variables that the session provides to the blocks of a scenario.

use invigil_expr::compile::HostFunction;

/// A function of the session that blocks can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScenarioFunction {
    /// Takes a checkpoint of target and monitors; returns its number.
    Checkpoint,
    /// Returns the number of a checkpoint; for a list, that of its last element.
    CheckpointId,
    /// Restores a checkpoint.
    Restore,
    /// Deletes a checkpoint.
    DropCheckpoint,
    /// Suspends the target and opens the prompt after the event has been handled.
    Suspend,
    /// Calls a function after the event has been handled.
    AfterBreakpoint,
    /// Sets a breakpoint; returns its number.
    SetBreakpoint,
    /// Sets a watchpoint; returns its number.
    SetWatchpoint,
    /// Removes a breakpoint or watchpoint.
    RemoveBreakpoint,
    /// Runs a prompt command; returns its output.
    Debugger,
    /// Evaluates an expression of the target's language.
    Value,
    /// Kills the target.
    Kill,
}

impl ScenarioFunction {
    /// All functions with their names in blocks, in the order of [`HOST_FUNCTIONS`].
    const ALL: [(ScenarioFunction, HostFunction); 14] = [
        (ScenarioFunction::Checkpoint, HostFunction::new("checkpoint", 0)),
        (ScenarioFunction::CheckpointId, HostFunction::new("checkpoint_get_id", 1)),
        (ScenarioFunction::Restore, HostFunction::new("restore", 1)),
        (ScenarioFunction::Restore, HostFunction::new("restore_checkpoint", 1)),
        (ScenarioFunction::DropCheckpoint, HostFunction::new("forget_checkpoint", 1)),
        (ScenarioFunction::Suspend, HostFunction::new("suspend_execution", 0)),
        (ScenarioFunction::AfterBreakpoint, HostFunction::new("after_breakpoint", 1).calling(0, 0)),
        (ScenarioFunction::SetBreakpoint, HostFunction::ranging("set_breakpoint", 1, 2).calling(1, 1)),
        (ScenarioFunction::RemoveBreakpoint, HostFunction::new("unset_breakpoint", 1)),
        (ScenarioFunction::SetWatchpoint, HostFunction::ranging("set_watchpoint", 2, 3).calling(2, 1)),
        (ScenarioFunction::RemoveBreakpoint, HostFunction::new("unset_watchpoint", 1)),
        (ScenarioFunction::Debugger, HostFunction::new("debugger", 1)),
        (ScenarioFunction::Value, HostFunction::new("value", 1)),
        (ScenarioFunction::Kill, HostFunction::new("stop_execution", 0)),
    ];

    /// Returns the function that a compiled block calls by this number.
    pub fn from_number(number: usize) -> Option<ScenarioFunction> {
        ScenarioFunction::ALL.get(number).map(|(function, _)| *function)
    }
}

/// The functions in the compiler's form.
pub const HOST_FUNCTIONS: &[HostFunction] = &{
    let mut all = [ScenarioFunction::ALL[0].1; ScenarioFunction::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = ScenarioFunction::ALL[at].1;
        at += 1;
    }
    all
};

/// The variables that the session sets before each reaction, by position: the old and the new state, the property
/// and the slice.
pub const IMPLICIT_VARIABLES: [&str; 4] = ["old_state", "new_state", "property", "slice"];
