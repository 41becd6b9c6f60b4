//! Automata that read the executions of a model.

use crate::expression::Expression;

/// An automaton on infinite executions: a generalised Büchi automaton with marks on edges, whose labels are
/// expressions over the model.
///
/// It begins in `initial` and reads the configurations one after the other, the first one included: in a run
/// `s0 s1 s2 …` it takes one edge for each, whose label must hold there. Labels that look at steps
/// ([`Expression::Before`], [`Expression::Happens`]) see the step by which the configuration was reached. An
/// execution is accepted if some run takes edges of each acceptance set for ever. Executions that end stay in their
/// last configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omega {
    /// What it accepts, for people: the property that is violated.
    pub name: String,
    /// Where runs begin.
    pub initial: u32,
    /// The edges of each state.
    pub edges: Vec<Vec<OmegaEdge>>,
    /// The number of acceptance sets, at most 64. With none, every infinite run will do.
    pub sets: u32,
    /// Whether steps that change nothing its labels look at make no difference to it: then orders of independent
    /// actions may be left out. False is always right.
    pub stutters: bool,
}

/// An edge of an [`Omega`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmegaEdge {
    /// When it may be taken.
    pub label: Expression,
    /// The acceptance sets that it is in, one bit for each.
    pub marks: u64,
    /// Where it leads.
    pub target: u32,
}
