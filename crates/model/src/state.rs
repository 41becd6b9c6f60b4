//! Configurations of a model.

use crate::fault::Fault;

/// A configuration: the words with the variables ([`layout`](crate::layout)), and the fault if an action raised one.
/// The words are then those of the configuration in which the action was executed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The words with the variables.
    pub words: Box<[u64]>,
    /// The fault; no action is enabled any more.
    pub fault: Option<Box<Fault>>,
}

impl State {
    /// A configuration without a fault.
    pub fn without_fault(words: &[u64]) -> State {
        State { words: words.into(), fault: None }
    }
}
