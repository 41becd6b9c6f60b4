//! Deciding between all transitions of a state at once.
//!
//! A property that was made from a formula asks the same few questions of every event: does this name hold,
//! is that expression true? What a state does depends on the answers together. So the transitions of such a
//! state are not tried one after the other: a decision diagram leads from question to question to the
//! transition that is taken, and asks no more than it must.

use crate::automaton::StateId;
use crate::event::SymbolId;
use alloc::vec::Vec;
use invigil_expr::program::CodeId;
use invigil_expr::value::Value;

/// Something that is true or false of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Test {
    /// The parameter at this position is `True` or 1.
    Parameter(usize),
    /// A block that changes nothing returns something true.
    Block {
        /// The block.
        code: CodeId,
        /// The parameters that it reads. Where the event lacks one of them, the answer is no.
        reads: Vec<usize>,
    },
}

/// Where a decision goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Next {
    /// Another question, by its position in [`Decisions::forks`].
    Ask(u32),
    /// It is made: this transition is taken, by its position in
    /// [`Parts::transitions`](crate::automaton::Parts::transitions).
    Take(u32),
    /// It is made: nothing changes.
    Stay,
}

/// A question with what follows from the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fork {
    /// The question, by its position in [`Decisions::tests`].
    pub test: u32,
    /// When the answer is yes.
    pub yes: Next,
    /// When the answer is no.
    pub no: Next,
}

/// The decisions of a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decisions {
    /// The questions.
    pub tests: Vec<Test>,
    /// The diagrams of all decisions; they share what they have in common. No way through them comes to the
    /// same fork twice.
    pub forks: Vec<Fork>,
    /// Where the decision of a state on an event starts, sorted by both. All transitions that a decision leads
    /// to are of its state and event.
    pub firsts: Vec<((StateId, SymbolId), Next)>,
}

impl Decisions {
    /// Where the decision of a state on an event starts, if there is one.
    pub fn first(&self, state: StateId, symbol: SymbolId) -> Option<Next> {
        let at = self.firsts.binary_search_by_key(&(state, symbol), |(of, _)| *of).ok()?;
        Some(self.firsts[at].1)
    }
}

/// Whether a parameter of an event is `True` or 1.
#[inline(always)]
pub(crate) fn holds(params: &[Value], at: usize) -> bool {
    params.get(at).is_some_and(|value| value.as_bool().unwrap_or_else(|| value.as_int() == Some(1)))
}
