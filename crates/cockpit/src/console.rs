//! A terminal that is used by two: by us, and by the program while it runs.

/// Keeps apart what the program and we make of one terminal.
pub trait Console {
    /// The program goes on: it finds the terminal as it left it.
    fn theirs(&self);

    /// The program stands still or has ended: the terminal is ours again, and what the program made of it is kept.
    fn ours(&self);

    /// Another program is to run, which finds the terminal as we have it.
    fn forget(&self);
}
