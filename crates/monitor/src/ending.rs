//! Runs that end: what a property that waits for the end has to say then.

use crate::automaton::{AtEnd, Automaton};
use crate::slices::{SliceId, Slices};
use crate::verdict::Verdict;

impl Automaton {
    /// The slices that are violated because the run ends here, and were not before. The root of a sliced
    /// property is no instance of it.
    pub fn violated_at_end<'a>(&'a self, slices: &'a Slices) -> impl Iterator<Item = SliceId> + 'a {
        let root = slices.root().filter(|_| !self.slice_on.is_empty());
        slices.iter().filter(move |slice| {
            let state = &self.states[usize::from(slices.state(*slice))];
            Some(*slice) != root
                && state.at_end == AtEnd::Decided(false)
                && state.verdict != Verdict::NonAccepting
        })
    }
}
