//! Depth-first search.

use crate::limits::{Incomplete, ProgressListener};
use crate::options::SearchOptions;
use crate::path::Path;
use crate::result::{Finding, FindingKind, SearchResult};
use crate::state_space::{BAD, FAULT, StateSpace, Successors, TransitionInfo};
use crate::store::Store;
use crate::tally::{Counts, Tally};
use crate::visited::VisitedSet;
use invigil_semantics::SplitMix64;
use std::collections::HashSet;

/// Number of expanded configurations between two checks of the limits.
const REPORT_INTERVAL: u64 = 32;

/// Explores every configuration of `space` depth-first.
///
/// Paths of findings are not shortest. With a limit on the depth, a configuration that is first reached by a long path
/// can hide successors that a shorter path would reach within the limit; the result is incomplete in this case.
///
/// ```
/// use invigil_explore::{SearchOptions, StateSpace, Successors, TransitionInfo, dfs};
///
/// /// Doubles or adds one, up to a hundred.
/// struct Doubling;
/// impl StateSpace for Doubling {
///     fn width(&self) -> usize {
///         1
///     }
///     fn initial(&self, out: &mut Successors) {
///         out.push(&[1], TransitionInfo::default());
///     }
///     fn successors(&self, state: &[u64], out: &mut Successors) {
///         for (action, next) in [2 * state[0], state[0] + 1].into_iter().enumerate() {
///             if next <= 100 {
///                 out.push(&[next], TransitionInfo { action: action as u32, flags: 0 });
///             }
///         }
///     }
/// }
/// let report = dfs(&Doubling, &SearchOptions::default(), &());
/// assert_eq!(report.findings[0].path.states.last().map(|last| last[0]), Some(100));
/// ```
pub fn dfs<S: StateSpace, P: ProgressListener>(
    space: &S,
    search: &SearchOptions,
    listener: &P,
) -> SearchResult {
    let store = Store::new(space.width()).with_memory(search.limits.memory.unwrap_or(u64::MAX));
    dfs_with(space, search, listener, store, None).0
}

/// Depth-first search with any visited set, which is returned. With `order`, successors are tried in random order.
pub(crate) fn dfs_with<S: StateSpace, P: ProgressListener, M: VisitedSet>(
    space: &S,
    search: &SearchOptions,
    listener: &P,
    seen: M,
    order: Option<SplitMix64>,
) -> (SearchResult, M) {
    let tally = Tally::new(&search.limits, listener);
    let mut search_state = DepthFirstSearch {
        space,
        search,
        seen,
        order,
        counts: Counts::default(),
        pending: Successors::default(),
        frames: Vec::new(),
        keys: Vec::new(),
        order_of_successors: Vec::new(),
        findings: Vec::new(),
        known_bad: HashSet::new(),
        depth_exceeded: false,
    };
    let ended = search_state.run(&tally).or(search_state.depth_exceeded.then_some(Incomplete::Depth));
    search_state.report(&tally);
    let certainty = search_state.seen.certainty();
    let report = SearchResult {
        totals: tally.totals(),
        bad: tally.bad(),
        incomplete: ended,
        findings: search_state.findings,
        certainty,
    };
    (report, search_state.seen)
}

struct DepthFirstSearch<'a, S, M: VisitedSet> {
    space: &'a S,
    search: &'a SearchOptions,
    seen: M,
    order: Option<SplitMix64>,
    counts: Counts,
    /// Pending successors of all configurations on the stack; those of the top are last.
    pending: Successors,
    /// For each configuration on the stack: the index of its first successor and of the next successor to try. The
    /// successor before the latter is the next configuration on the stack.
    frames: Vec<(usize, usize)>,
    /// For the successors of the top of the stack: their keys, and the order in which they are tried.
    keys: Vec<M::Key>,
    order_of_successors: Vec<usize>,
    findings: Vec<Finding>,
    /// The bad configurations among the findings.
    known_bad: HashSet<Box<[u64]>>,
    /// Whether a configuration is deeper than the limit.
    depth_exceeded: bool,
}

impl<S: StateSpace, M: VisitedSet> DepthFirstSearch<'_, S, M> {
    fn run<P: ProgressListener>(&mut self, tally: &Tally<'_, P>) -> Option<Incomplete> {
        let width = self.space.width();
        let (mut state, mut out) = (vec![0; width], Successors::default());
        self.space.initial(&mut out);
        if self.space.failure().is_some() {
            return Some(Incomplete::Failed);
        }
        self.push(&out);
        while let Some((begin, next)) = self.frames.last_mut() {
            if *next == self.pending.len() {
                self.pending.words.truncate(*begin * width);
                self.pending.transitions.truncate(*begin);
                self.frames.pop();
                continue;
            }
            state.copy_from_slice(self.pending.state(*next, width));
            *next += 1;
            match self.seen.insert(&state, self.seen.key(&state)) {
                Ok(true) => self.counts.states += 1,
                Ok(false) => continue,
                Err(_) => return Some(Incomplete::Memory),
            }
            tally.reached_depth(self.frames.len() as u64 - 1);
            out.clear();
            self.space.successors(&state, &mut out);
            if self.space.failure().is_some() {
                return Some(Incomplete::Failed);
            }
            self.counts.transitions += out.len() as u64;
            self.counts.expanded += 1;
            if out.is_empty() {
                self.counts.deadlocks += 1;
                if self.search.kinds.deadlocks {
                    self.add_finding(FindingKind::Deadlock, None);
                }
            }
            self.push(&out);
            if !self.search.exhaustive && self.findings.len() >= self.search.max_findings {
                return Some(Incomplete::Found);
            }
            if self.counts.expanded == REPORT_INTERVAL {
                self.report(tally);
                if let Some(reason) = tally.halted() {
                    return Some(reason);
                }
            }
        }
        None
    }

    /// Pushes the successors of the top of the stack that have not been visited.
    fn push(&mut self, out: &Successors) {
        let width = self.space.width();
        // Only the initial configurations, which are no successors, are pushed on an empty stack.
        let steps = self.frames.len() as u64;
        let is_deepest = steps > 0 && self.search.limits.depth.is_some_and(|most| steps > most);
        let begin = self.pending.len();
        self.keys.clear();
        for state in out.words.chunks_exact(width) {
            let key = self.seen.key(state);
            self.seen.prefetch(key);
            self.keys.push(key);
        }
        self.order_successors(out.len());
        let mut has_fault = false;
        for number in 0..out.len() {
            let at = self.order_of_successors[number];
            let (state, taken) = (out.state(at, width), out.transitions[at]);
            if taken.flags & FAULT != 0 {
                self.counts.faults += 1;
                self.counts.transitions = self.counts.transitions.saturating_sub(u64::from(steps > 0));
                if self.search.kinds.faults && !has_fault {
                    self.add_finding(FindingKind::Fault, Some((&[], taken)));
                }
                has_fault = true;
                continue;
            }
            if taken.flags & BAD != 0 {
                self.counts.bad += 1;
                // The step exceeds the limit; its target may still have been visited by a shorter path.
                self.depth_exceeded |= is_deepest;
                if self.search.kinds.bad && !is_deepest {
                    self.add_finding(FindingKind::Bad, Some((state, taken)));
                }
            }
            if !self.seen.contains(state, self.keys[at]) {
                self.depth_exceeded |= is_deepest;
                if !is_deepest {
                    self.pending.push(state, taken);
                }
            }
        }
        self.frames.push((begin, begin));
    }

    /// Determines the order in which `count` successors are tried: random if requested.
    fn order_successors(&mut self, count: usize) {
        self.order_of_successors.clear();
        self.order_of_successors.extend(0..count);
        if let Some(random) = &mut self.order {
            for at in (1..count).rev() {
                self.order_of_successors.swap(at, random.below(at + 1));
            }
        }
    }

    /// Adds a finding at the top of the stack. `last` is a final step that is not on the stack.
    fn add_finding(&mut self, kind: FindingKind, last: Option<(&[u64], TransitionInfo)>) {
        if self.findings.len() >= self.search.max_findings {
            return;
        }
        if let (FindingKind::Bad, Some((state, _))) = (kind, last)
            && !self.known_bad.insert(state.into())
        {
            return;
        }
        let mut path = Path { states: Vec::new(), actions: Vec::new(), back: None, fault: None };
        let on_the_way = self.frames.iter().map(|(_, next)| next - 1);
        let steps =
            on_the_way.map(|at| (self.pending.state(at, self.space.width()), self.pending.transitions[at]));
        let end = last.filter(|_| kind == FindingKind::Bad);
        for (state, taken) in steps.chain(end) {
            if !path.states.is_empty() {
                path.actions.push(taken.action);
            }
            path.states.push(state.into());
        }
        if kind == FindingKind::Fault {
            path.fault = last.map(|(_, taken)| taken.action);
        }
        self.findings.push(Finding { kind, path });
    }

    fn report<P: ProgressListener>(&mut self, tally: &Tally<'_, P>) {
        let stack = self.pending.words.len() * 8 + self.pending.len() * 8 + self.frames.len() * 16;
        self.counts.memory = self.seen.memory() + stack as u64;
        tally.add(&mut self.counts);
    }
}
