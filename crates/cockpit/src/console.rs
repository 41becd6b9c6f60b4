//! The terminal that the debugger shares with the target.

/// Switches the terminal between the debugger's and the target's settings.
pub trait Console {
    /// Restores the target's terminal settings. Called before the target is resumed.
    fn give_to_program(&self);

    /// Saves the target's terminal settings and restores the debugger's. Called after the target has stopped or exited.
    fn take_back(&self);

    /// Discards the saved settings: a new target starts with the debugger's.
    fn reset(&self);
}
