//! ω-automata over the executions of a model.

use crate::expression::Expression;

/// A generalised Büchi automaton with acceptance marks on edges, whose labels are expressions over the model.
///
/// It starts in `initial` and reads the configurations one after the other, including the first one: for `s0 s1 s2 …`
/// it takes one edge for each, whose label must hold there. Labels over steps ([`Expression::Before`],
/// [`Expression::Happens`]) refer to the step by which the configuration was reached. An execution is accepted if some
/// run takes edges of each acceptance set infinitely often. A finite execution is extended by repeating its last
/// configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmegaAutomaton {
    /// Display name of what it accepts: the violated property.
    pub name: String,
    /// The initial state.
    pub initial: u32,
    /// The edges of each state.
    pub edges: Vec<Vec<OmegaEdge>>,
    /// The number of acceptance sets, at most 64. With none, every infinite run is accepting.
    pub sets: u32,
    /// Whether the automaton is insensitive to steps that change nothing its labels read. Then partial-order reduction
    /// applies. `false` is always safe.
    pub is_stutter_invariant: bool,
}

/// An edge of an [`OmegaAutomaton`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmegaEdge {
    /// The condition of the edge.
    pub label: Expression,
    /// The acceptance sets that contain the edge, one bit each.
    pub marks: u64,
    /// The target state.
    pub target: u32,
}
