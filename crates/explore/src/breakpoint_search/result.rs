//! The result of a search for breakpoints.

use crate::breakpoint_search::Execution;
use crate::{Incomplete, Totals};

/// An execution that leads to a breakpoint, or that is accepted as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness<C, A> {
    /// The execution from a start to the breakpoint.
    pub execution: Execution<C, A>,
    /// Indices of the breakpoints that are hit at its end.
    pub hits: Vec<usize>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointSearchResult<C, A> {
    /// The witnesses, shortest first.
    pub witnesses: Vec<Witness<C, A>>,
    /// Statistics of the search.
    pub totals: Totals,
    /// Why the search ended early, if it did. The effect of a reduction is in `skipped`.
    pub incomplete: Option<Incomplete>,
    /// The number of different configurations that were not explored because of an equal reduction key. Breakpoints
    /// reachable only through them are missed.
    pub skipped: u64,
    /// An evaluation error of an infinite breakpoint; the condition counted as false there.
    pub evaluation_error: Option<String>,
}

impl<C, A> BreakpointSearchResult<C, A> {
    /// Whether everything was explored.
    pub fn is_exhaustive(&self) -> bool {
        self.incomplete.is_none() && self.skipped == 0
    }
}
