//! Random walks (simulation): they store nothing, so they work for any size, but they prove nothing.

use crate::limits::{Incomplete, ProgressListener};
use crate::options::SearchOptions;
use crate::path::Path;
use crate::result::{Certainty, Finding, FindingKind, SearchResult};
use crate::search_counters::{SearchCounters, ThreadCounts};
use crate::state_space::{BAD, FAULT, StateSpace, Successors};
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
const LIMIT_CHECK_INTERVAL: u64 = 256;

/// Follows random executions of `space`. A walk ends at a configuration without successors, at a finding, or at its
/// maximum length. The findings are those of the first walks that have one, for any number of threads.
///
/// The statistics count each configuration and step as often as it occurs, and the result is never exhaustive. It is
/// incomplete with [`Incomplete::Found`] or a limit if that ended the search before the last walk.
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
/// let result = random_walk(&Drunk, &WalkOptions::default(), &SearchOptions::default(), &());
/// assert_eq!(result.findings[0].path.states.last().map(|last| last[0]), Some(0));
/// assert!(!result.is_exhaustive());
/// ```
pub fn random_walk<S: StateSpace, P: ProgressListener>(
    space: &S,
    walk: &WalkOptions,
    options: &SearchOptions,
    listener: &P,
) -> SearchResult {
    let counters = SearchCounters::new(&options.limits, listener);
    let (next, found) = (AtomicU64::new(0), AtomicUsize::new(0));
    let findings = Mutex::new(Vec::new());
    // Walks are started in order and always finished, so the first ones with a finding are always among them.
    let work = || {
        let mut counts = ThreadCounts::default();
        while options.exhaustive || found.load(Relaxed) < options.max_findings {
            let number = next.fetch_add(1, Relaxed);
            if number >= walk.walks || is_halted(&counters) {
                return;
            }
            let mut walker =
                Walker { space, options, counters: &counters, counts: &mut counts, finding: None };
            walker.walk(number, walk);
            let finding = walker.finding;
            counters.add(&mut counts);
            if let Some(finding) = finding {
                found.fetch_add(1, Relaxed);
                findings.lock().unwrap_or_else(PoisonError::into_inner).push((number, finding));
            }
        }
        counters.halt(Incomplete::Found);
    };
    std::thread::scope(|scope| {
        for _ in 1..options.threads {
            scope.spawn(work);
        }
        work();
    });
    let mut findings = findings.into_inner().unwrap_or_else(PoisonError::into_inner);
    findings.sort_by_key(|(number, _)| *number);
    let findings = findings.into_iter().map(|(_, finding)| finding).take(options.max_findings).collect();
    let mut totals = counters.totals();
    totals.waiting = 0;
    let certainty = Certainty::Sampled;
    SearchResult { totals, bad: counters.bad(), incomplete: counters.halt_reason(), findings, certainty }
}

/// Whether a limit was reached. Running walks are finished after another walk has a finding.
fn is_halted<P: ProgressListener>(counters: &SearchCounters<'_, P>) -> bool {
    counters.halt_reason().is_some_and(|reason| reason != Incomplete::Found)
}

/// One random walk.
struct Walker<'a, S, P> {
    space: &'a S,
    options: &'a SearchOptions,
    counters: &'a SearchCounters<'a, P>,
    /// Of the thread, for all of its walks.
    counts: &'a mut ThreadCounts,
    finding: Option<Finding>,
}

impl<S: StateSpace, P: ProgressListener> Walker<'_, S, P> {
    fn walk(&mut self, number: u64, walk: &WalkOptions) {
        let width = self.space.width();
        // Two independent draws decorrelate neighbouring seeds and neighbouring walks.
        let mut random = SplitMix64::new(SplitMix64::new(walk.seed).draw() ^ SplitMix64::new(number).draw());
        let mut path = Path { states: Vec::new(), actions: Vec::new(), loop_back: None, fault: None };
        let mut out = Successors::default();
        self.space.initial(&mut out);
        let max_steps = self.options.limits.depth.unwrap_or(u64::MAX).min(walk.steps);
        loop {
            let is_started = !path.states.is_empty();
            if self.space.failure().is_some() {
                self.counters.halt(Incomplete::Failed);
                return;
            }
            if out.is_empty() {
                self.counts.deadlocks += u64::from(is_started);
                if self.options.kinds.deadlocks && is_started {
                    self.finding = Some(Finding { kind: FindingKind::Deadlock, path });
                }
                return;
            }
            if is_started && path.actions.len() as u64 >= max_steps {
                return;
            }
            let index = random.below(out.len());
            let transition = out.transitions[index];
            if transition.flags & FAULT != 0 {
                self.counts.faults += 1;
                path.fault = Some(transition.action);
                if self.options.kinds.faults {
                    self.finding = Some(Finding { kind: FindingKind::Fault, path });
                }
                return;
            }
            if is_started {
                path.actions.push(transition.action);
                self.counts.transitions += 1;
            }
            path.states.push(out.state(index, width).into());
            self.counts.states += 1;
            self.counts.expanded += 1;
            if transition.flags & BAD != 0 {
                self.counts.bad += 1;
                if self.options.kinds.bad {
                    self.finding = Some(Finding { kind: FindingKind::Bad, path });
                    return;
                }
            }
            self.counters.reached_depth(path.actions.len() as u64);
            if self.counts.expanded == LIMIT_CHECK_INTERVAL {
                self.counters.add(self.counts);
                if is_halted(self.counters) {
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
