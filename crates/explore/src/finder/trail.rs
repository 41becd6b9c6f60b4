//! The configurations of a search, with the way to each.

use crate::finder::{Execution, Found, Reduction};
use crate::{Incomplete, Limits, Pulse, Totals};
use indexmap::IndexMap;
use indexmap::map::Entry;
use std::collections::{HashSet, hash_map::RandomState};
use std::hash::{BuildHasher, Hash};
use std::time::Instant;

/// How often limits and listeners are asked, in configurations.
const BEAT: u64 = 1 << 10;

/// The configurations that were met, each with the state of what reads along; the way to each is the shortest.
pub(crate) struct Trail<'a, C, A, P> {
    nodes: IndexMap<(C, P), Reached<A>>,
    reduction: Option<&'a Reduction<'a, C>>,
    keys: HashSet<(String, P)>,
    /// The hashes of what was skipped: enough to count it.
    skipped: HashSet<u64>,
    hasher: RandomState,
    limits: Limits,
    pulse: &'a dyn Pulse,
    since: Instant,
    pub(crate) totals: Totals,
    pub(crate) incomplete: Option<Incomplete>,
}

struct Reached<A> {
    /// From where, and by what; by nothing if only the property moved.
    from: Option<(u32, Option<A>)>,
    depth: u64,
}

/// What became of a configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    New(u32),
    Known(u32),
    Skipped,
}

impl<'a, C: Clone + Eq + Hash, A: Clone, P: Clone + Eq + Hash> Trail<'a, C, A, P> {
    pub(crate) fn new(
        limits: Limits,
        pulse: &'a dyn Pulse,
        reduction: Option<&'a Reduction<'a, C>>,
    ) -> Trail<'a, C, A, P> {
        Trail {
            nodes: IndexMap::new(),
            reduction,
            keys: HashSet::new(),
            skipped: HashSet::new(),
            hasher: RandomState::new(),
            limits,
            pulse,
            since: Instant::now(),
            totals: Totals::default(),
            incomplete: None,
        }
    }

    /// Meets a configuration: at the start, or by an action in a configuration.
    pub(crate) fn meet(&mut self, from: Option<(u32, &A)>, config: C, state: P) -> Met {
        self.add(from.map(|(at, action)| (at, Some(action))), config, state)
    }

    /// Meets the same configuration again, with another state of what reads along.
    pub(crate) fn stay(&mut self, at: u32, config: C, state: P) -> Met {
        self.add(Some((at, None)), config, state)
    }

    fn add(&mut self, from: Option<(u32, Option<&A>)>, config: C, state: P) -> Met {
        let depth = from.and_then(|(at, _)| self.nodes.get_index(at as usize));
        let depth = depth.map_or(0, |(_, reached)| reached.depth + 1);
        let key = self.reduction.and_then(|reduction| reduction(&config)).map(|key| (key, state.clone()));
        let skips = key.as_ref().is_some_and(|key| self.keys.contains(key));
        let next = self.nodes.len() as u32;
        match self.nodes.entry((config, state)) {
            Entry::Occupied(known) => Met::Known(known.index() as u32),
            Entry::Vacant(new) if skips => {
                self.skipped.insert(self.hasher.hash_one(new.key()));
                Met::Skipped
            }
            Entry::Vacant(new) => {
                let from = from.map(|(at, action)| (at, action.cloned()));
                new.insert(Reached { from, depth });
                self.keys.extend(key);
                self.totals.states += 1;
                self.totals.depth = self.totals.depth.max(depth);
                Met::New(next)
            }
        }
    }

    /// A configuration by its number.
    pub(crate) fn at(&self, node: u32) -> Option<(C, P)> {
        self.nodes.get_index(node as usize).map(|(key, _)| key.clone())
    }

    /// Whether a configuration may be explored further: it is not too deep.
    pub(crate) fn is_within_depth(&mut self, node: u32) -> bool {
        let depth = self.nodes.get_index(node as usize).map_or(0, |(_, reached)| reached.depth);
        let is_within = self.limits.depth.is_none_or(|most| depth < most);
        if !is_within {
            self.incomplete = self.incomplete.or(Some(Incomplete::Depth));
        }
        is_within
    }

    /// Whether the search must end here; called once for each configuration that is explored.
    pub(crate) fn is_over(&mut self, explored: u32) -> bool {
        let each = size_of::<(C, P)>() + size_of::<Reached<A>>() + size_of::<usize>() * 2;
        self.totals.waiting = (self.nodes.len() as u64).saturating_sub(u64::from(explored));
        self.totals.memory = (self.nodes.len() * each) as u64;
        let beats = u64::from(explored) % BEAT == 0;
        if beats {
            self.pulse.beat(&self.totals);
        }
        let is_stopped = beats && self.pulse.is_stopped();
        let why = if is_stopped { Some(Incomplete::Stopped) } else { None };
        let why = why.or_else(|| self.limits.exceeded(&self.totals, self.since));
        // That something lies too deep is the lesser reason.
        self.incomplete = why.or(self.incomplete);
        why.is_some()
    }

    /// The shortest way to a configuration.
    pub(crate) fn way(&self, node: u32) -> Option<Execution<C, A>> {
        let (mut key, mut reached) = self.nodes.get_index(node as usize)?;
        let mut steps = Vec::new();
        while let Some((from, action)) = &reached.from {
            if let Some(action) = action {
                steps.push((action.clone(), key.0.clone()));
            }
            (key, reached) = self.nodes.get_index(*from as usize)?;
        }
        steps.reverse();
        Some(Execution { start: key.0.clone(), steps, back: None })
    }

    /// The search is over; nothing was found yet.
    pub(crate) fn end(self) -> Found<C, A> {
        Found {
            witnesses: Vec::new(),
            totals: self.totals,
            incomplete: self.incomplete,
            skipped: self.skipped.len() as u64,
            failed: None,
        }
    }
}
