//! The configurations of a search and the shortest path to each.

use crate::breakpoint_search::{BreakpointSearchResult, Execution, ReductionKey};
use crate::{Incomplete, Limits, ProgressListener, Totals};
use indexmap::IndexMap;
use indexmap::map::Entry;
use std::collections::{HashSet, hash_map::RandomState};
use std::hash::{BuildHasher, Hash};
use std::time::Instant;

/// Number of explored configurations between two progress reports.
const PROGRESS_INTERVAL: u64 = 1 << 10;

/// The discovered configurations, each with the state of the property; the path to each is shortest.
pub(crate) struct SearchTree<'a, C, A, P> {
    nodes: IndexMap<(C, P), NodeInfo<A>>,
    reduction: Option<&'a ReductionKey<'a, C>>,
    keys: HashSet<(String, P)>,
    /// Hashes of the skipped configurations, which suffice for counting them.
    skipped: HashSet<u64>,
    hasher: RandomState,
    limits: Limits,
    listener: &'a dyn ProgressListener,
    start: Instant,
    pub(crate) totals: Totals,
    pub(crate) incomplete: Option<Incomplete>,
}

struct NodeInfo<A> {
    /// The predecessor and the action; no action if only the property moved.
    from: Option<(u32, Option<A>)>,
    depth: u64,
}

/// The result of an insertion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Insertion {
    New(u32),
    Known(u32),
    Skipped,
}

impl<'a, C: Clone + Eq + Hash, A: Clone, P: Clone + Eq + Hash> SearchTree<'a, C, A, P> {
    pub(crate) fn new(
        limits: Limits,
        listener: &'a dyn ProgressListener,
        reduction: Option<&'a ReductionKey<'a, C>>,
    ) -> SearchTree<'a, C, A, P> {
        SearchTree {
            nodes: IndexMap::new(),
            reduction,
            keys: HashSet::new(),
            skipped: HashSet::new(),
            hasher: RandomState::new(),
            limits,
            listener,
            start: Instant::now(),
            totals: Totals::default(),
            incomplete: None,
        }
    }

    /// Inserts an initial configuration, or one that an action leads to.
    pub(crate) fn insert(&mut self, from: Option<(u32, &A)>, config: C, state: P) -> Insertion {
        self.add(from.map(|(at, action)| (at, Some(action))), config, state)
    }

    /// Inserts the same configuration with another state of the property.
    pub(crate) fn insert_idle(&mut self, at: u32, config: C, state: P) -> Insertion {
        self.add(Some((at, None)), config, state)
    }

    fn add(&mut self, from: Option<(u32, Option<&A>)>, config: C, state: P) -> Insertion {
        let depth = from.and_then(|(at, _)| self.nodes.get_index(at as usize));
        let depth = depth.map_or(0, |(_, info)| info.depth + 1);
        let key = self.reduction.and_then(|reduction| reduction(&config)).map(|key| (key, state.clone()));
        let is_skipped = key.as_ref().is_some_and(|key| self.keys.contains(key));
        let next = self.nodes.len() as u32;
        match self.nodes.entry((config, state)) {
            Entry::Occupied(known) => Insertion::Known(known.index() as u32),
            Entry::Vacant(new) if is_skipped => {
                self.skipped.insert(self.hasher.hash_one(new.key()));
                Insertion::Skipped
            }
            Entry::Vacant(new) => {
                let from = from.map(|(at, action)| (at, action.cloned()));
                new.insert(NodeInfo { from, depth });
                self.keys.extend(key);
                self.totals.states += 1;
                self.totals.depth = self.totals.depth.max(depth);
                Insertion::New(next)
            }
        }
    }

    /// The configuration of a node.
    pub(crate) fn node(&self, node: u32) -> Option<(C, P)> {
        self.nodes.get_index(node as usize).map(|(key, _)| key.clone())
    }

    /// Whether the node is within the depth limit.
    pub(crate) fn is_within_depth(&mut self, node: u32) -> bool {
        let depth = self.nodes.get_index(node as usize).map_or(0, |(_, info)| info.depth);
        let is_within = self.limits.depth.is_none_or(|max_depth| depth < max_depth);
        if !is_within {
            self.incomplete = self.incomplete.or(Some(Incomplete::Depth));
        }
        is_within
    }

    /// Whether a limit ends the search. Called once for each explored configuration.
    pub(crate) fn exceeds_limits(&mut self, explored: u32) -> bool {
        let each = size_of::<(C, P)>() + size_of::<NodeInfo<A>>() + size_of::<usize>() * 2;
        self.totals.waiting = (self.nodes.len() as u64).saturating_sub(u64::from(explored));
        self.totals.memory = (self.nodes.len() * each) as u64;
        let is_progress_due = u64::from(explored) % PROGRESS_INTERVAL == 0;
        if is_progress_due {
            self.listener.progress(&self.totals);
        }
        let is_stopped = is_progress_due && self.listener.is_stopped();
        let reason = if is_stopped { Some(Incomplete::Stopped) } else { None };
        let reason = reason.or_else(|| self.limits.exceeded(&self.totals, self.start));
        // The depth limit is the least important reason.
        self.incomplete = reason.or(self.incomplete);
        reason.is_some()
    }

    /// The shortest execution to a node.
    pub(crate) fn path_to(&self, node: u32) -> Option<Execution<C, A>> {
        let (mut key, mut info) = self.nodes.get_index(node as usize)?;
        let mut steps = Vec::new();
        while let Some((from, action)) = &info.from {
            if let Some(action) = action {
                steps.push((action.clone(), key.0.clone()));
            }
            (key, info) = self.nodes.get_index(*from as usize)?;
        }
        steps.reverse();
        Some(Execution { start: key.0.clone(), steps, loop_back: None })
    }

    /// The result of the search, without witnesses yet.
    pub(crate) fn finish(self) -> BreakpointSearchResult<C, A> {
        BreakpointSearchResult {
            witnesses: Vec::new(),
            totals: self.totals,
            incomplete: self.incomplete,
            skipped: self.skipped.len() as u64,
            evaluation_error: None,
        }
    }
}
