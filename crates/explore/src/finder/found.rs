//! What a search for breakpoints tells.

use crate::finder::Execution;
use crate::{Incomplete, Totals};

/// An execution that leads to a breakpoint, or that is what a breakpoint looks for as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness<C, A> {
    /// From the start to the breakpoint.
    pub execution: Execution<C, A>,
    /// Which of the breakpoints are hit at its end, by their places in the list that was looked for.
    pub hits: Vec<usize>,
}

/// What came of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<C, A> {
    /// What was found, the shortest first.
    pub witnesses: Vec<Witness<C, A>>,
    /// What was looked at.
    pub totals: Totals,
    /// Why there may be more than was looked at, if the search ended early. A reduction is told by `skipped`.
    pub incomplete: Option<Incomplete>,
    /// How many different configurations were not explored because another one of the same key was. Breakpoints
    /// that can only be reached through these were missed.
    pub skipped: u64,
    /// Why some condition of an infinite breakpoint could not be evaluated somewhere; there it counted as false.
    pub failed: Option<String>,
}

impl<C, A> Found<C, A> {
    /// Whether all that there is was found: the search saw everything.
    pub fn is_all(&self) -> bool {
        self.incomplete.is_none() && self.skipped == 0
    }
}
