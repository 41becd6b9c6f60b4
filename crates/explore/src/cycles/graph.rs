//! The configurations of a search, with their numbers.

use super::components::{Edge, EdgeSource, SearchExtent};
use crate::limits::{Incomplete, Limits, ProgressListener, Totals};
use crate::state_space::{FAULT, IDLE, StateSpace, Successors, TransitionInfo};
use crate::store::{Store, StoreFull};
use std::time::Instant;

/// Number of expansions between two progress reports and checks of all limits.
const PROGRESS_INTERVAL: u64 = 1 << 10;

/// A space whose configurations are numbered in the order of discovery.
pub(super) struct Graph<'a, S, P> {
    space: &'a S,
    limits: &'a Limits,
    listener: &'a P,
    started: Instant,
    totals: Totals,
    store: Store,
    pub(super) starts: Vec<u32>,
    out: Successors,
    found: Vec<(u32, bool)>,
    /// Number of expansions, repeated ones included.
    expansions: u64,
    depth_exceeded: bool,
}

impl<'a, S: StateSpace, P: ProgressListener> Graph<'a, S, P> {
    pub(super) fn new(space: &'a S, limits: &'a Limits, listener: &'a P) -> Graph<'a, S, P> {
        Graph {
            space,
            limits,
            listener,
            started: Instant::now(),
            totals: Totals::default(),
            store: Store::new(space.width()).with_memory(limits.memory.unwrap_or(u64::MAX)),
            starts: Vec::new(),
            out: Successors::default(),
            found: Vec::new(),
            expansions: 0,
            depth_exceeded: false,
        }
    }

    /// Inserts the initial configurations. Returns their numbers.
    pub(super) fn start(&mut self) -> Result<Vec<u32>, Incomplete> {
        self.space.initial(&mut self.out);
        self.totals.faults += self.number()?;
        self.starts = self.found.iter().map(|(number, _)| *number).collect();
        Ok(self.starts.clone())
    }

    /// Removes faults from `out` and numbers the remaining configurations. Returns the number of faults.
    fn number(&mut self) -> Result<u64, Incomplete> {
        if self.space.failure().is_some() {
            return Err(Incomplete::Failed);
        }
        let before = self.out.len();
        if self.out.transitions.iter().any(|transition| transition.flags & FAULT != 0) {
            remove_faults(&mut self.out, self.space.width());
        }
        self.found.clear();
        let full = |StoreFull| Incomplete::Memory;
        self.store.insert_all(&self.out.words, &mut self.found).map_err(full)?;
        Ok((before - self.out.len()) as u64)
    }

    /// The number of configurations.
    pub(super) fn len(&self) -> usize {
        self.store.len()
    }

    pub(super) fn state(&self, number: u32) -> &[u64] {
        self.store.get(number)
    }

    /// The totals. The visit numbers are stored elsewhere, so they are added to the memory.
    pub(super) fn totals(&self, numbers: &[u32]) -> Totals {
        let states = self.store.len() as u64;
        let memory = self.totals.memory.max(self.store.memory() + size_of_val(numbers) as u64);
        Totals { states, waiting: states.saturating_sub(self.totals.waiting), memory, ..self.totals }
    }

    /// The depth limit, if it was exceeded.
    pub(super) fn exceeded_depth_limit(&self) -> Option<Incomplete> {
        self.depth_exceeded.then_some(Incomplete::Depth)
    }

    /// Checks the limits.
    pub(super) fn check_limits(&mut self, extent: &SearchExtent) -> Result<(), Incomplete> {
        self.totals.depth = self.totals.depth.max(extent.depth);
        self.expansions += 1;
        if self.expansions.is_multiple_of(PROGRESS_INTERVAL) {
            let others = self.store.len() * size_of::<u32>() + extent.bytes;
            self.totals.memory = self.store.memory() + others as u64;
            self.listener.progress(&self.totals(&[]));
            if self.listener.is_stopped() {
                return Err(Incomplete::Stopped);
            }
            return self.limits.exceeded(&self.totals(&[]), self.started).map_or(Ok(()), Err);
        }
        match self.limits.states {
            Some(most) if self.store.len() as u64 > most => Err(Incomplete::States),
            _ => Ok(()),
        }
    }

    /// Visits the steps of a configuration; numbers new targets. Returns the number of faults.
    pub(super) fn expand(
        &mut self,
        number: u32,
        mut visit: impl FnMut(TransitionInfo, Edge),
    ) -> Result<u64, Incomplete> {
        self.out.clear();
        self.space.successors(self.store.get(number), &mut self.out);
        let faults = self.number()?;
        for (at, (transition, (target, _))) in self.out.transitions.iter().zip(&self.found).enumerate() {
            visit(*transition, Edge { target: *target, marks: marks_of(&self.out, at) });
        }
        Ok(faults)
    }

    /// Visits the steps of a configuration whose targets are already known.
    pub(super) fn revisit(&mut self, number: u32, mut visit: impl FnMut(TransitionInfo, Edge)) {
        self.out.clear();
        self.space.successors(self.store.get(number), &mut self.out);
        for (at, transition) in self.out.transitions.iter().enumerate() {
            let target = self.out.state(at, self.space.width());
            if transition.flags & FAULT == 0
                && let Some(target) = self.store.find(target)
            {
                visit(*transition, Edge { target, marks: marks_of(&self.out, at) });
            }
        }
    }
}

fn marks_of(out: &Successors, at: usize) -> u64 {
    out.marks.get(at).copied().unwrap_or(0)
}

/// Removes successors with faults.
fn remove_faults(out: &mut Successors, width: usize) {
    let mut kept = Successors::default();
    for (at, transition) in
        out.transitions.iter().enumerate().filter(|(_, transition)| transition.flags & FAULT == 0)
    {
        kept.push(out.state(at, width), *transition);
        kept.marks.extend(out.marks.get(at));
    }
    *out = kept;
}

impl<S: StateSpace, P: ProgressListener> EdgeSource for Graph<'_, S, P> {
    fn edges(&mut self, number: u32, extent: SearchExtent, out: &mut Vec<Edge>) -> Result<(), Incomplete> {
        self.check_limits(&extent)?;
        // Here, `waiting` counts the expanded configurations; `totals` subtracts them from all.
        self.totals.waiting += 1;
        if self.limits.depth.is_some_and(|max_depth| extent.depth >= max_depth) {
            self.depth_exceeded = true;
            return Ok(());
        }
        let mut is_idle = false;
        let before = out.len();
        self.totals.faults += self.expand(number, |transition, edge| {
            is_idle |= transition.action == IDLE;
            out.push(edge);
        })?;
        self.totals.transitions += (out.len() - before) as u64;
        self.totals.deadlocks += u64::from(is_idle);
        Ok(())
    }
}
