//! Syntax tree of a scenario: names are not resolved and blocks are still text.

pub use crate::prop::ast::{Block, Name};
use invigil_expr::diag::Span;

/// A whole scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// The block that runs before the first event.
    pub initialization: Option<Block>,
    /// The reactions, in source order.
    pub reactions: Vec<Reaction>,
}

/// A reaction to a state change of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// Whether it reacts to entering or to leaving a state.
    pub trigger: Trigger,
    /// The states that it applies to.
    pub selector: StateSelector,
    /// The property that it applies to; all properties if absent.
    pub property: Option<Name>,
    /// The block that it runs.
    pub block: Block,
    /// From the word `on` to the block.
    pub span: Span,
}

/// Whether entering or leaving a state triggers a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The new state is selected.
    Entering,
    /// The old state is selected.
    Leaving,
}

impl Trigger {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Trigger::Entering => "entering",
            Trigger::Leaving => "leaving",
        }
    }
}

/// The states that trigger a reaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateSelector {
    /// The state of this name.
    State(Name),
    /// Accepting states.
    Accepting,
    /// Non-accepting states: the property is violated.
    NonAccepting,
    /// The initial state.
    Initial,
}
