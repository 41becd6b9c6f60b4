//! The configurations that a search meets, with their numbers.

use super::components::{Edge, Edges, Standing};
use crate::limits::{Incomplete, Limits, Pulse, Totals};
use crate::space::{FAULT, IDLE, Space, Successors, Taken};
use crate::store::{Full, Store};
use std::time::Instant;

/// After how many configurations the clock is looked at, and the pulse beats.
const BEAT: u64 = 1 << 10;

/// A space whose configurations are numbered as they are met.
pub(super) struct Graph<'a, S, P> {
    space: &'a S,
    limits: &'a Limits,
    pulse: &'a P,
    since: Instant,
    totals: Totals,
    store: Store,
    pub(super) starts: Vec<u32>,
    out: Successors,
    found: Vec<(u32, bool)>,
    /// Configurations that were looked at, again or for the first time.
    looks: u64,
    is_cut: bool,
}

impl<'a, S: Space, P: Pulse> Graph<'a, S, P> {
    pub(super) fn new(space: &'a S, limits: &'a Limits, pulse: &'a P) -> Graph<'a, S, P> {
        Graph {
            space,
            limits,
            pulse,
            since: Instant::now(),
            totals: Totals::default(),
            store: Store::new(space.width()).with_memory(limits.memory.unwrap_or(u64::MAX)),
            starts: Vec::new(),
            out: Successors::default(),
            found: Vec::new(),
            looks: 0,
            is_cut: false,
        }
    }

    /// Begins with the initial configurations.
    pub(super) fn start(&mut self) -> Result<Vec<u32>, Incomplete> {
        self.space.initial(&mut self.out);
        self.totals.faults += self.number()?;
        self.starts = self.found.iter().map(|(number, _)| *number).collect();
        Ok(self.starts.clone())
    }

    /// Numbers the configurations in `out`, after leaving out what is none; tells how many that were.
    fn number(&mut self) -> Result<u64, Incomplete> {
        if self.space.failure().is_some() {
            return Err(Incomplete::Failed);
        }
        let before = self.out.len();
        if self.out.taken.iter().any(|taken| taken.flags & FAULT != 0) {
            keep_sound(&mut self.out, self.space.width());
        }
        self.found.clear();
        let full = |Full| Incomplete::Memory;
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

    /// What was seen. The numbers of visits are kept elsewhere.
    pub(super) fn totals(&self, numbers: &[u32]) -> Totals {
        let states = self.store.len() as u64;
        let memory = self.totals.memory.max(self.store.memory() + size_of_val(numbers) as u64);
        Totals { states, waiting: states.saturating_sub(self.totals.waiting), memory, ..self.totals }
    }

    /// Whether something was too deep to be looked at.
    pub(super) fn cut(&self) -> Option<Incomplete> {
        self.is_cut.then_some(Incomplete::Depth)
    }

    /// Whether the search may go on.
    pub(super) fn check(&mut self, standing: &Standing) -> Result<(), Incomplete> {
        self.totals.depth = self.totals.depth.max(standing.depth);
        self.looks += 1;
        if self.looks.is_multiple_of(BEAT) {
            let others = self.store.len() * size_of::<u32>() + standing.bytes;
            self.totals.memory = self.store.memory() + others as u64;
            self.pulse.beat(&self.totals(&[]));
            if self.pulse.is_stopped() {
                return Err(Incomplete::Stopped);
            }
            return self.limits.exceeded(&self.totals(&[]), self.since).map_or(Ok(()), Err);
        }
        match self.limits.states {
            Some(most) if self.store.len() as u64 > most => Err(Incomplete::States),
            _ => Ok(()),
        }
    }

    /// The steps of a configuration, each with how it is taken; gives the number of those that go wrong.
    pub(super) fn expand(&mut self, of: u32, mut tell: impl FnMut(Taken, Edge)) -> Result<u64, Incomplete> {
        self.out.clear();
        self.space.successors(self.store.get(of), &mut self.out);
        let faults = self.number()?;
        for (at, (taken, (target, _))) in self.out.taken.iter().zip(&self.found).enumerate() {
            tell(*taken, Edge { target: *target, marks: marks_of(&self.out, at) });
        }
        Ok(faults)
    }

    /// The steps of a configuration to those that have been met.
    pub(super) fn again(&mut self, of: u32, mut tell: impl FnMut(Taken, Edge)) {
        self.out.clear();
        self.space.successors(self.store.get(of), &mut self.out);
        for (at, taken) in self.out.taken.iter().enumerate() {
            let target = self.out.state(at, self.space.width());
            if taken.flags & FAULT == 0
                && let Some(target) = self.store.find(target)
            {
                tell(*taken, Edge { target, marks: marks_of(&self.out, at) });
            }
        }
    }
}

fn marks_of(out: &Successors, at: usize) -> u64 {
    out.marks.get(at).copied().unwrap_or(0)
}

/// Leaves out successors that are no configurations.
fn keep_sound(out: &mut Successors, width: usize) {
    let mut kept = Successors::default();
    for (at, taken) in out.taken.iter().enumerate().filter(|(_, taken)| taken.flags & FAULT == 0) {
        kept.push(out.state(at, width), *taken);
        kept.marks.extend(out.marks.get(at));
    }
    *out = kept;
}

impl<S: Space, P: Pulse> Edges for Graph<'_, S, P> {
    fn edges(&mut self, of: u32, standing: Standing, out: &mut Vec<Edge>) -> Result<(), Incomplete> {
        self.check(&standing)?;
        // Here it is the number of those that are not waiting.
        self.totals.waiting += 1;
        if self.limits.depth.is_some_and(|most| standing.depth >= most) {
            self.is_cut = true;
            return Ok(());
        }
        let mut is_idle = false;
        let before = out.len();
        self.totals.faults += self.expand(of, |taken, edge| {
            is_idle |= taken.action == IDLE;
            out.push(edge);
        })?;
        self.totals.transitions += (out.len() - before) as u64;
        self.totals.deadlocks += u64::from(is_idle);
        Ok(())
    }
}
