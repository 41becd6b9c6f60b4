//! Configurations and actions of the debugger.

use std::hash::{Hash, Hasher};

/// An action of the debugger's user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DebugAction<C, A> {
    /// Executes an action of the subject. Its outcomes become the options.
    Step(A),
    /// Makes one of the options the current configuration.
    Select(C),
    /// Makes the configuration of a history entry the current one.
    Jump(usize),
    /// Runs the subject to the nearest breakpoint.
    Run,
}

/// A configuration of the debugger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugConfig<C, A, H> {
    /// The current configuration of the subject; none while there are options to select from.
    pub current: Option<C>,
    /// The configurations visited so far.
    pub history: H,
    /// The possible next configurations.
    pub options: Vec<C>,
    /// The origin of the options: the configuration and the action executed in it. None if they are the initial
    /// configurations.
    pub from: Option<(C, A)>,
}

/// Actions need not be hashable, so the hash ignores them.
impl<C: Hash, A, H: Hash> Hash for DebugConfig<C, A, H> {
    fn hash<T: Hasher>(&self, state: &mut T) {
        (&self.current, &self.history, &self.options).hash(state);
        self.from.as_ref().map(|(config, _)| config).hash(state);
    }
}
