//! Configurations of a model.

use crate::fault::Fault;

/// A configuration: the words that hold the variables ([`layout`](crate::layout)), and the fault, if an action went
/// wrong. The words are then those of the configuration in which it was tried.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The variables.
    pub words: Box<[u64]>,
    /// What went wrong; nothing can happen any more.
    pub fault: Option<Box<Fault>>,
}

impl State {
    /// A configuration in which all is well.
    pub fn sound(words: &[u64]) -> State {
        State { words: words.into(), fault: None }
    }
}
