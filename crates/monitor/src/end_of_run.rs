//! Verdicts at the end of a run.

use crate::automaton::{Automaton, EndVerdict, State};
use crate::slices::{SliceId, SliceTable};
use crate::verdict::Verdict;

impl Automaton {
    /// The slices in which the end of the run is a violation, and which are not violated already.
    ///
    /// The root of a sliced property does not count. Slices that were [collected](Automaton::collect_slices)
    /// are counted by [`collected_violated_at_end`](Automaton::collected_violated_at_end).
    pub fn violated_at_end<'a>(&'a self, slices: &'a SliceTable) -> impl Iterator<Item = SliceId> + 'a {
        let root = slices.root().filter(|_| !self.slice_on.is_empty());
        slices.iter().filter(move |slice| {
            let state = &self.states[usize::from(slices.state(*slice))];
            Some(*slice) != root && is_violated_at_end(state)
        })
    }

    /// The number of collected slices in which the end of the run is a violation.
    pub fn collected_violated_at_end(&self, slices: &SliceTable) -> u64 {
        let violated = (0..).zip(&self.states).filter(|(_, state)| is_violated_at_end(state));
        violated.map(|(at, _)| slices.collected(at)).sum()
    }
}

/// Whether the end of the run, and no earlier event, makes this state a violation.
pub(crate) fn is_violated_at_end(state: &State) -> bool {
    state.at_end == EndVerdict::Decided(false) && state.verdict != Verdict::NonAccepting
}
