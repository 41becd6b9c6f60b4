//! What a debugger knows, and what can be done with it.

use std::hash::{Hash, Hasher};

/// What can be done with a debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act<C, A> {
    /// The subject executes an action; where that leads is selected next.
    Step(A),
    /// One of the options becomes the current configuration.
    Select(C),
    /// A configuration that was seen before, at that place of the history, becomes the current one.
    Jump(usize),
    /// The subject runs to the nearest breakpoint.
    Run,
}

/// The configuration of a debugger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debugging<C, A, H> {
    /// Where the subject is; none as long as there are options to select from.
    pub current: Option<C>,
    /// What was seen.
    pub history: H,
    /// Where the subject may be next.
    pub options: Vec<C>,
    /// What the options come from: the action, and the configuration in which it was executed. None if they are
    /// those the subject may start in.
    pub from: Option<(C, A)>,
}

/// Actions need not have a hash, so they have no part in this one.
impl<C: Hash, A, H: Hash> Hash for Debugging<C, A, H> {
    fn hash<T: Hasher>(&self, state: &mut T) {
        (&self.current, &self.history, &self.options).hash(state);
        self.from.as_ref().map(|(config, _)| config).hash(state);
    }
}
