//! Walks by chance: nothing is stored, so no subject is too large, and nothing is ever proved.

use crate::limits::{Incomplete, Pulse};
use crate::path::Path;
use crate::random::Random;
use crate::report::{Certainty, Found, Report, What};
use crate::search::Search;
use crate::space::{BAD, FAULT, Space, Successors};
use crate::tally::{Counts, Tally};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// How many walks, and how far. The same seed gives the same walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walks {
    /// What chance begins with.
    pub seed: u64,
    /// The number of walks.
    pub walks: u64,
    /// The most steps of each.
    pub steps: u64,
}

impl Default for Walks {
    fn default() -> Walks {
        Walks { seed: 0, walks: 1000, steps: 1000 }
    }
}

/// Steps between two looks at the limits.
const TELL: u64 = 256;

/// Follows executions of `space` by chance. A walk ends where it can go nowhere, at what is found, or after so many
/// steps. What is found is that of the first walks that find something, whatever the number of threads.
///
/// The report counts every configuration and step as often as it was met, and is never whole. It gives
/// [`Incomplete::Found`] or a limit if that ended it before all walks were made.
///
/// ```
/// # use invigil_explore::{Space, Successors, Taken};
/// # struct Drunk;
/// # impl Space for Drunk {
/// #     fn width(&self) -> usize { 1 }
/// #     fn initial(&self, out: &mut Successors) { out.push(&[5], Taken::default()); }
/// #     fn successors(&self, state: &[u64], out: &mut Successors) {
/// #         if state[0] > 0 {
/// #             out.push(&[state[0] - 1], Taken { action: 0, flags: 0 });
/// #             out.push(&[state[0] + 1], Taken { action: 1, flags: 0 });
/// #         }
/// #     }
/// # }
/// use invigil_explore::{Search, Walks, walk};
/// // `Drunk` goes left or right until he falls into the water.
/// let report = walk(&Drunk, &Walks::default(), &Search::default(), &());
/// assert_eq!(report.found[0].path.states.last().map(|last| last[0]), Some(0));
/// assert!(!report.is_whole());
/// ```
pub fn walk<S: Space, P: Pulse>(space: &S, walks: &Walks, search: &Search, pulse: &P) -> Report {
    let tally = Tally::new(&search.limits, pulse);
    let (next, hits) = (AtomicU64::new(0), AtomicUsize::new(0));
    let found = Mutex::new(Vec::new());
    // Walks are begun in order and finished once begun, so the first that find something are always among them.
    let work = || {
        while search.whole || hits.load(Relaxed) < search.most {
            let number = next.fetch_add(1, Relaxed);
            if number >= walks.walks || is_ended(&tally) {
                return;
            }
            let mut walker = Walker { space, search, tally: &tally, counts: Counts::default(), end: None };
            walker.walk(number, walks);
            tally.tell(&mut walker.counts);
            if let Some(end) = walker.end {
                hits.fetch_add(1, Relaxed);
                found.lock().unwrap_or_else(PoisonError::into_inner).push((number, end));
            }
        }
        tally.halt(Incomplete::Found);
    };
    std::thread::scope(|scope| {
        for _ in 1..search.threads {
            scope.spawn(work);
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(number, _)| *number);
    let found = found.into_iter().map(|(_, found)| found).take(search.most).collect();
    let mut totals = tally.totals();
    totals.waiting = 0;
    let certainty = Certainty::Sampled;
    Report { totals, bad: tally.bad(), incomplete: tally.halted(), found, certainty }
}

/// Whether a limit was reached. Walks that were begun are finished if another has found something.
fn is_ended<P: Pulse>(tally: &Tally<'_, P>) -> bool {
    tally.halted().is_some_and(|reason| reason != Incomplete::Found)
}

struct Walker<'a, S, P> {
    space: &'a S,
    search: &'a Search,
    tally: &'a Tally<'a, P>,
    counts: Counts,
    end: Option<Found>,
}

impl<S: Space, P: Pulse> Walker<'_, S, P> {
    fn walk(&mut self, number: u64, walks: &Walks) {
        let width = self.space.width();
        // Two draws apart, so that neither neighbouring seeds nor neighbouring walks are alike.
        let mut random = Random::new(Random::new(walks.seed).draw() ^ Random::new(number).draw());
        let mut path = Path { states: Vec::new(), actions: Vec::new(), back: None, fault: None };
        let mut out = Successors::default();
        self.space.initial(&mut out);
        let most = self.search.limits.depth.unwrap_or(u64::MAX).min(walks.steps);
        loop {
            let is_begun = !path.states.is_empty();
            if self.space.failure().is_some() {
                self.tally.halt(Incomplete::Failed);
                return;
            }
            if out.is_empty() {
                self.counts.deadlocks += u64::from(is_begun);
                if self.search.wanted.deadlocks && is_begun {
                    self.end = Some(Found { what: What::Deadlock, path });
                }
                return;
            }
            if is_begun && path.actions.len() as u64 >= most {
                return;
            }
            let at = random.below(out.len());
            let taken = out.taken[at];
            if taken.flags & FAULT != 0 {
                self.counts.faults += 1;
                path.fault = Some(taken.action);
                if self.search.wanted.faults {
                    self.end = Some(Found { what: What::Fault, path });
                }
                return;
            }
            if is_begun {
                path.actions.push(taken.action);
                self.counts.transitions += 1;
            }
            path.states.push(out.state(at, width).into());
            self.counts.states += 1;
            self.counts.expanded += 1;
            if taken.flags & BAD != 0 {
                self.counts.bad += 1;
                if self.search.wanted.bad {
                    self.end = Some(Found { what: What::Bad, path });
                    return;
                }
            }
            self.tally.reach(path.actions.len() as u64);
            if self.counts.expanded == TELL {
                self.tally.tell(&mut self.counts);
                if is_ended(self.tally) {
                    return;
                }
            }
            out.clear();
            if let Some(state) = path.states.last() {
                self.space.successors(state, &mut out);
            }
        }
    }
}
