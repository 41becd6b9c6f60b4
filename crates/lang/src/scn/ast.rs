//! A scenario as it is written: names are not resolved, and blocks are still text.

pub use crate::prop::ast::{Block, Name};
use invigil_expr::diag::Span;

/// A whole scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// What is done before anything happens.
    pub initialization: Option<Block>,
    /// The reactions, in the order written.
    pub reactions: Vec<Reaction>,
}

/// What to do when a property changes its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// Which end of the change counts.
    pub moment: Moment,
    /// The states that it is about.
    pub which: Which,
    /// The property that it is about; without one, every property.
    pub property: Option<Name>,
    /// What to do.
    pub block: Block,
    /// From the word `on` to the block.
    pub span: Span,
}

/// Which end of a change of states a reaction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// The state that is entered counts.
    Entering,
    /// The state that is left counts.
    Leaving,
}

impl Moment {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Moment::Entering => "entering",
            Moment::Leaving => "leaving",
        }
    }
}

/// The states that a reaction is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one of this name.
    State(Name),
    /// Those in which all is well.
    Accepting,
    /// Those in which the property is violated.
    NonAccepting,
    /// The one that the property starts in.
    Initial,
}
