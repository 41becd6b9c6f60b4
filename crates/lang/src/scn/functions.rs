//! What a scenario's blocks can call and read besides their own.

use invigil_expr::compile::HostFunction;

/// A function of the session that blocks can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Keeps the program and the monitors as they are now; gives the number of the checkpoint.
    Checkpoint,
    /// The number of a checkpoint; of a list of them, that of the last.
    CheckpointId,
    /// Brings a checkpoint back.
    Restore,
    /// Drops a checkpoint.
    Forget,
    /// Gives the developer the prompt when the event has been dealt with.
    Suspend,
    /// Calls a function when the event has been dealt with.
    AfterBreakpoint,
    /// Sets a breakpoint; gives its number.
    SetBreakpoint,
    /// Sets a watchpoint; gives its number.
    SetWatchpoint,
    /// Removes a point.
    UnsetPoint,
    /// Runs a command of the prompt; gives what it says.
    Debugger,
    /// The value of an expression of the program's language.
    Value,
    /// Ends the program.
    Stop,
}

impl Function {
    /// All functions with their names in blocks, in the order of [`HOST_FUNCTIONS`].
    const ALL: [(Function, HostFunction); 14] = [
        (Function::Checkpoint, HostFunction::new("checkpoint", 0)),
        (Function::CheckpointId, HostFunction::new("checkpoint_get_id", 1)),
        (Function::Restore, HostFunction::new("restore", 1)),
        (Function::Restore, HostFunction::new("restore_checkpoint", 1)),
        (Function::Forget, HostFunction::new("forget_checkpoint", 1)),
        (Function::Suspend, HostFunction::new("suspend_execution", 0)),
        (Function::AfterBreakpoint, HostFunction::new("after_breakpoint", 1).calling(0, 0)),
        (Function::SetBreakpoint, HostFunction::ranging("set_breakpoint", 1, 2).calling(1, 1)),
        (Function::UnsetPoint, HostFunction::new("unset_breakpoint", 1)),
        (Function::SetWatchpoint, HostFunction::ranging("set_watchpoint", 2, 3).calling(2, 1)),
        (Function::UnsetPoint, HostFunction::new("unset_watchpoint", 1)),
        (Function::Debugger, HostFunction::new("debugger", 1)),
        (Function::Value, HostFunction::new("value", 1)),
        (Function::Stop, HostFunction::new("stop_execution", 0)),
    ];

    /// The function that a compiled block calls by this number.
    pub fn numbered(number: usize) -> Option<Function> {
        Function::ALL.get(number).map(|(function, _)| *function)
    }
}

/// The functions that blocks can call, as the compiler knows them.
pub const HOST_FUNCTIONS: &[HostFunction] = &{
    let mut all = [Function::ALL[0].1; Function::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = Function::ALL[at].1;
        at += 1;
    }
    all
};

/// The variables that the session sets for every reaction, by their positions: the states, the property and
/// the slice in question.
pub const IMPLICIT: [&str; 4] = ["old_state", "new_state", "property", "slice"];
