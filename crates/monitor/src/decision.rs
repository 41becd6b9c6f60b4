//! Decision diagrams: select one of the transitions of a state.
//!
//! A property generated from a formula evaluates the same few tests on every event, and the transition depends
//! on all results together. Such transitions are not tried in order: a decision diagram leads from test to test
//! to the transition that is taken, and evaluates only the tests that matter.

use crate::automaton::StateId;
use crate::event::EventId;
use alloc::vec::Vec;
use invigil_expr::program::CodeId;
use invigil_expr::value::Value;

/// A Boolean test of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DecisionTest {
    /// The parameter at this index is `True` or 1.
    Parameter(usize),
    /// A block without side effects returns a true value.
    Block {
        /// The block.
        code: CodeId,
        /// The parameters that it reads. If the event lacks one of them, the test is false.
        reads: Vec<usize>,
    },
}

/// Successor in a decision diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DecisionEdge {
    /// The next test, by index in [`DecisionDiagram::nodes`].
    Test(u32),
    /// Take this transition, by index in
    /// [`AutomatonDef::transitions`](crate::automaton::AutomatonDef::transitions).
    Take(u32),
    /// Take no transition.
    Stay,
}

/// A node of a decision diagram: a test with its two successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DecisionNode {
    /// The test, by index in [`DecisionDiagram::tests`].
    pub test: u32,
    /// The successor if the test is true.
    pub yes: DecisionEdge,
    /// The successor if the test is false.
    pub no: DecisionEdge,
}

/// The decision diagrams of a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DecisionDiagram {
    /// The tests.
    pub tests: Vec<DecisionTest>,
    /// The nodes of all diagrams, with shared subdiagrams. **Invariant:** no path visits a node twice.
    pub nodes: Vec<DecisionNode>,
    /// The root for each pair of state and event, sorted. **Invariant:** all transitions that a root leads to
    /// are of its state and event.
    pub roots: Vec<((StateId, EventId), DecisionEdge)>,
}

impl DecisionDiagram {
    /// The root for a state and an event, if there is one.
    pub fn root(&self, state: StateId, event_id: EventId) -> Option<DecisionEdge> {
        let at = self.roots.binary_search_by_key(&(state, event_id), |(of, _)| *of).ok()?;
        Some(self.roots[at].1)
    }
}

/// Whether a parameter of an event is `True` or 1.
#[inline(always)]
pub(crate) fn holds(params: &[Value], at: usize) -> bool {
    params.get(at).is_some_and(|value| value.as_bool().unwrap_or_else(|| value.as_int() == Some(1)))
}
