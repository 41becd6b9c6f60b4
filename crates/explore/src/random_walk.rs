//! Random walks (simulation): they store nothing, so they work for any size, but they prove nothing.

use crate::limits::{Incomplete, ProgressListener};
use crate::options::SearchOptions;
use crate::path::Path;
use crate::result::{Certainty, Finding, FindingKind, SearchResult};
use crate::state_space::{BAD, FAULT, StateSpace, Successors};
use crate::tally::{Counts, Tally};
use invigil_semantics::SplitMix64;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Number and length of the walks. Equal seeds give equal walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkOptions {
    /// Seed of the generator.
    pub seed: u64,
    /// Number of walks.
    pub walks: u64,
    /// Maximum number of steps of each walk.
    pub steps: u64,
}

impl Default for WalkOptions {
    fn default() -> WalkOptions {
        WalkOptions { seed: 0, walks: 1000, steps: 1000 }
    }
}

/// Number of steps between two checks of the limits.
const REPORT_INTERVAL: u64 = 256;

/// Follows random executions of `space`. A walk ends at a configuration without successors, at a finding, or at its
/// maximum length. The findings are those of the first walks that have one, for any number of threads.
///
/// The statistics count each configuration and step as often as it occurs, and the result is never exhaustive. It is
/// incomplete with [`Incomplete::Found`] or a limit if that ended the search before all walks were made.
///
/// ```
/// # use invigil_explore::{StateSpace, Successors, TransitionInfo};
/// # struct Drunk;
/// # impl StateSpace for Drunk {
/// #     fn width(&self) -> usize { 1 }
/// #     fn initial(&self, out: &mut Successors) { out.push(&[5], TransitionInfo::default()); }
/// #     fn successors(&self, state: &[u64], out: &mut Successors) {
/// #         if state[0] > 0 {
/// #             out.push(&[state[0] - 1], TransitionInfo { action: 0, flags: 0 });
/// #             out.push(&[state[0] + 1], TransitionInfo { action: 1, flags: 0 });
/// #         }
/// #     }
/// # }
/// use invigil_explore::{SearchOptions, WalkOptions, random_walk};
/// // `Drunk` goes left or right until he falls into the water.
/// let report = random_walk(&Drunk, &WalkOptions::default(), &SearchOptions::default(), &());
/// assert_eq!(report.findings[0].path.states.last().map(|last| last[0]), Some(0));
/// assert!(!report.is_exhaustive());
/// ```
pub fn random_walk<S: StateSpace, P: ProgressListener>(
    space: &S,
    options: &WalkOptions,
    search: &SearchOptions,
    listener: &P,
) -> SearchResult {
    let tally = Tally::new(&search.limits, listener);
    let (next, hits) = (AtomicU64::new(0), AtomicUsize::new(0));
    let findings = Mutex::new(Vec::new());
    // Walks are started in order and always finished, so the first ones with a finding are always among them.
    let work = || {
        while search.exhaustive || hits.load(Relaxed) < search.max_findings {
            let number = next.fetch_add(1, Relaxed);
            if number >= options.walks || is_halted(&tally) {
                return;
            }
            let mut walker = Walker { space, search, tally: &tally, counts: Counts::default(), end: None };
            walker.walk(number, options);
            tally.add(&mut walker.counts);
            if let Some(end) = walker.end {
                hits.fetch_add(1, Relaxed);
                findings.lock().unwrap_or_else(PoisonError::into_inner).push((number, end));
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
    let mut findings = findings.into_inner().unwrap_or_else(PoisonError::into_inner);
    findings.sort_by_key(|(number, _)| *number);
    let findings = findings.into_iter().map(|(_, findings)| findings).take(search.max_findings).collect();
    let mut totals = tally.totals();
    totals.waiting = 0;
    let certainty = Certainty::Sampled;
    SearchResult { totals, bad: tally.bad(), incomplete: tally.halted(), findings, certainty }
}

/// Whether a limit was reached. Running walks are finished after another walk has a finding.
fn is_halted<P: ProgressListener>(tally: &Tally<'_, P>) -> bool {
    tally.halted().is_some_and(|reason| reason != Incomplete::Found)
}

struct Walker<'a, S, P> {
    space: &'a S,
    search: &'a SearchOptions,
    tally: &'a Tally<'a, P>,
    counts: Counts,
    end: Option<Finding>,
}

impl<S: StateSpace, P: ProgressListener> Walker<'_, S, P> {
    fn walk(&mut self, number: u64, options: &WalkOptions) {
        let width = self.space.width();
        // Two independent draws decorrelate neighbouring seeds and neighbouring walks.
        let mut random =
            SplitMix64::new(SplitMix64::new(options.seed).draw() ^ SplitMix64::new(number).draw());
        let mut path = Path { states: Vec::new(), actions: Vec::new(), back: None, fault: None };
        let mut out = Successors::default();
        self.space.initial(&mut out);
        let most = self.search.limits.depth.unwrap_or(u64::MAX).min(options.steps);
        loop {
            let is_begun = !path.states.is_empty();
            if self.space.failure().is_some() {
                self.tally.halt(Incomplete::Failed);
                return;
            }
            if out.is_empty() {
                self.counts.deadlocks += u64::from(is_begun);
                if self.search.kinds.deadlocks && is_begun {
                    self.end = Some(Finding { kind: FindingKind::Deadlock, path });
                }
                return;
            }
            if is_begun && path.actions.len() as u64 >= most {
                return;
            }
            let at = random.below(out.len());
            let taken = out.transitions[at];
            if taken.flags & FAULT != 0 {
                self.counts.faults += 1;
                path.fault = Some(taken.action);
                if self.search.kinds.faults {
                    self.end = Some(Finding { kind: FindingKind::Fault, path });
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
                if self.search.kinds.bad {
                    self.end = Some(Finding { kind: FindingKind::Bad, path });
                    return;
                }
            }
            self.tally.reached_depth(path.actions.len() as u64);
            if self.counts.expanded == REPORT_INTERVAL {
                self.tally.add(&mut self.counts);
                if is_halted(self.tally) {
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
