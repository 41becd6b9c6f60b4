//! Runs that end: what a property that waits for the end has to say then.

use crate::automaton::{AtEnd, Automaton, State};
use crate::slices::{SliceId, Slices};
use crate::verdict::Verdict;

impl Automaton {
    /// The slices that are violated because the run ends here, and were not before. The root of a sliced
    /// property is no instance of it.
    ///
    /// Of slices that were [forgotten](Automaton::forget_gone), [`forgotten_at_end`](Automaton::forgotten_at_end) knows.
    pub fn violated_at_end<'a>(&'a self, slices: &'a Slices) -> impl Iterator<Item = SliceId> + 'a {
        let root = slices.root().filter(|_| !self.slice_on.is_empty());
        slices.iter().filter(move |slice| {
            let state = &self.states[usize::from(slices.state(*slice))];
            Some(*slice) != root && is_violated_at_end(state)
        })
    }

    /// How many more slices there were that are violated because the run ends here, and whose objects are no more.
    pub fn forgotten_at_end(&self, slices: &Slices) -> u64 {
        let violated = (0..).zip(&self.states).filter(|(_, state)| is_violated_at_end(state));
        violated.map(|(at, _)| slices.resting(at)).sum()
    }
}

/// Whether the end of the run, and nothing before it, makes this state a violation.
pub(crate) fn is_violated_at_end(state: &State) -> bool {
    state.at_end == AtEnd::Decided(false) && state.verdict != Verdict::NonAccepting
}
