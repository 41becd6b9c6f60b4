//! Depth-first search.

use crate::limits::{Incomplete, ProgressListener};
use crate::options::SearchOptions;
use crate::path::Path;
use crate::result::{Finding, FindingKind, SearchResult};
use crate::search_counters::{SearchCounters, ThreadCounts};
use crate::state_space::{BAD, FAULT, StateSpace, Successors, TransitionInfo};
use crate::store::Store;
use crate::visited::VisitedSet;
use invigil_semantics::SplitMix64;
use std::collections::HashSet;

/// Number of expanded configurations between two checks of the limits.
const LIMIT_CHECK_INTERVAL: u64 = 32;

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
/// let result = dfs(&Doubling, &SearchOptions::default(), &());
/// assert_eq!(result.findings[0].path.states.last().map(|last| last[0]), Some(100));
/// ```
pub fn dfs<S: StateSpace, P: ProgressListener>(
    space: &S,
    options: &SearchOptions,
    listener: &P,
) -> SearchResult {
    let store = Store::new(space.width()).with_memory(options.limits.memory.unwrap_or(u64::MAX));
    dfs_with(space, options, listener, store, None).0
}

/// Depth-first search with any visited set, which is returned. With `random`, successors are tried in random order.
pub(crate) fn dfs_with<S: StateSpace, P: ProgressListener, M: VisitedSet>(
    space: &S,
    options: &SearchOptions,
    listener: &P,
    visited: M,
    random: Option<SplitMix64>,
) -> (SearchResult, M) {
    let counters = SearchCounters::new(&options.limits, listener);
    let mut search = DepthFirstSearch {
        space,
        options,
        visited,
        random,
        counts: ThreadCounts::default(),
        pending: Successors::default(),
        frames: Vec::new(),
        keys: Vec::new(),
        successor_order: Vec::new(),
        findings: Vec::new(),
        known_bad: HashSet::new(),
        depth_exceeded: false,
    };
    let incomplete = search.run(&counters).or(search.depth_exceeded.then_some(Incomplete::Depth));
    search.flush_counts(&counters);
    let certainty = search.visited.certainty();
    let result = SearchResult {
        totals: counters.totals(),
        bad: counters.bad(),
        incomplete,
        findings: search.findings,
        certainty,
    };
    (result, search.visited)
}

struct DepthFirstSearch<'a, S, M: VisitedSet> {
    space: &'a S,
    options: &'a SearchOptions,
    visited: M,
    /// Generator for the order of successors, if it is random.
    random: Option<SplitMix64>,
    counts: ThreadCounts,
    /// Pending successors of all configurations on the stack; those of the top are last.
    pending: Successors,
    /// For each configuration on the stack: the index of its first successor and of the next successor to try. The
    /// successor before the latter is the next configuration on the stack.
    frames: Vec<(usize, usize)>,
    /// The keys of the successors of the top of the stack.
    keys: Vec<M::Key>,
    /// The order in which these successors are tried, as indices.
    successor_order: Vec<usize>,
    findings: Vec<Finding>,
    /// The bad configurations among the findings.
    known_bad: HashSet<Box<[u64]>>,
    /// Whether a configuration is deeper than the limit.
    depth_exceeded: bool,
}

impl<S: StateSpace, M: VisitedSet> DepthFirstSearch<'_, S, M> {
    fn run<P: ProgressListener>(&mut self, counters: &SearchCounters<'_, P>) -> Option<Incomplete> {
        let width = self.space.width();
        let (mut state, mut out) = (vec![0; width], Successors::default());
        self.space.initial(&mut out);
        if self.space.failure().is_some() {
            return Some(Incomplete::Failed);
        }
        self.push(&out);
        while let Some((first, next)) = self.frames.last_mut() {
            if *next == self.pending.len() {
                self.pending.words.truncate(*first * width);
                self.pending.transitions.truncate(*first);
                self.frames.pop();
                continue;
            }
            state.copy_from_slice(self.pending.state(*next, width));
            *next += 1;
            match self.visited.insert(&state, self.visited.key(&state)) {
                Ok(true) => self.counts.states += 1,
                Ok(false) => continue,
                Err(_) => return Some(Incomplete::Memory),
            }
            counters.reached_depth(self.frames.len() as u64 - 1);
            out.clear();
            self.space.successors(&state, &mut out);
            if self.space.failure().is_some() {
                return Some(Incomplete::Failed);
            }
            self.counts.transitions += out.len() as u64;
            self.counts.expanded += 1;
            if out.is_empty() {
                self.counts.deadlocks += 1;
                if self.options.kinds.deadlocks {
                    self.add_finding(FindingKind::Deadlock, None);
                }
            }
            self.push(&out);
            if !self.options.exhaustive && self.findings.len() >= self.options.max_findings {
                return Some(Incomplete::Found);
            }
            if self.counts.expanded == LIMIT_CHECK_INTERVAL {
                self.flush_counts(counters);
                if let Some(reason) = counters.halt_reason() {
                    return Some(reason);
                }
            }
        }
        None
    }

    /// Pushes the successors of the top of the stack that have not been visited.
    fn push(&mut self, out: &Successors) {
        let width = self.space.width();
        // Only the initial configurations, which are not successors, are pushed on an empty stack.
        let steps = self.frames.len() as u64;
        let is_deepest = steps > 0 && self.options.limits.depth.is_some_and(|max_depth| steps > max_depth);
        let first = self.pending.len();
        self.keys.clear();
        for state in out.words.chunks_exact(width) {
            let key = self.visited.key(state);
            self.visited.prefetch(key);
            self.keys.push(key);
        }
        self.order_successors(out.len());
        let mut has_fault = false;
        for position in 0..out.len() {
            let index = self.successor_order[position];
            let (state, transition) = (out.state(index, width), out.transitions[index]);
            if transition.flags & FAULT != 0 {
                self.counts.faults += 1;
                self.counts.transitions = self.counts.transitions.saturating_sub(u64::from(steps > 0));
                if self.options.kinds.faults && !has_fault {
                    self.add_finding(FindingKind::Fault, Some((&[], transition)));
                }
                has_fault = true;
                continue;
            }
            if transition.flags & BAD != 0 {
                self.counts.bad += 1;
                // The step exceeds the limit; its target may still have been visited by a shorter path.
                self.depth_exceeded |= is_deepest;
                if self.options.kinds.bad && !is_deepest {
                    self.add_finding(FindingKind::Bad, Some((state, transition)));
                }
            }
            if !self.visited.contains(state, self.keys[index]) {
                self.depth_exceeded |= is_deepest;
                if !is_deepest {
                    self.pending.push(state, transition);
                }
            }
        }
        self.frames.push((first, first));
    }

    /// Determines the order in which `count` successors are tried: random if requested.
    fn order_successors(&mut self, count: usize) {
        self.successor_order.clear();
        self.successor_order.extend(0..count);
        if let Some(random) = &mut self.random {
            for at in (1..count).rev() {
                self.successor_order.swap(at, random.below(at + 1));
            }
        }
    }

    /// Adds a finding at the top of the stack. `last_step` is a step that is not on the stack.
    fn add_finding(&mut self, kind: FindingKind, last_step: Option<(&[u64], TransitionInfo)>) {
        if self.findings.len() >= self.options.max_findings {
            return;
        }
        if let (FindingKind::Bad, Some((state, _))) = (kind, last_step)
            && !self.known_bad.insert(state.into())
        {
            return;
        }
        let mut path = Path { states: Vec::new(), actions: Vec::new(), loop_back: None, fault: None };
        let stack = self.frames.iter().map(|(_, next)| next - 1);
        let steps = stack
            .map(|index| (self.pending.state(index, self.space.width()), self.pending.transitions[index]));
        let final_step = last_step.filter(|_| kind == FindingKind::Bad);
        for (state, transition) in steps.chain(final_step) {
            if !path.states.is_empty() {
                path.actions.push(transition.action);
            }
            path.states.push(state.into());
        }
        if kind == FindingKind::Fault {
            path.fault = last_step.map(|(_, transition)| transition.action);
        }
        self.findings.push(Finding { kind, path });
    }

    /// Adds the counts to those of the search.
    fn flush_counts<P: ProgressListener>(&mut self, counters: &SearchCounters<'_, P>) {
        let stack = self.pending.words.len() * 8 + self.pending.len() * 8 + self.frames.len() * 16;
        self.counts.memory = self.visited.memory() + stack as u64;
        counters.add(&mut self.counts);
    }
}
