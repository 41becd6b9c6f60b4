//! A space under a scheduler and filters: the set-ups in which the same policy serves at run time and in verification.
//!
//! | set-up | here |
//! | --- | --- |
//! | run-time execution: the scheduler commands the system, its environment is the world | [`Setup::scheduler`], on a model without environment |
//! | verification under a filter | [`Setup::filters`] alone |
//! | verification with the scheduler in the loop: the environment is not scheduled | [`Setup::scheduler`], then [`Setup::filters`] |
//! | verification with a decoupled environment: the scheduled system beside its environment, sharing variables | the same, for models in which no action is of both sides |
//!
//! These are the compositions `filter(scheduler(system and environment))` of the semantic interface, computed in
//! bulk; the tests hold the two against each other.

use crate::space::{Space, Successors, Taken};
use invigil_semantics::{FixedPriority, RoundRobin, SchedulingPolicy, SeededRandom};

/// Who performs an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Performer {
    /// The process, by its number; none if nobody in particular.
    pub process: Option<u32>,
    /// Whether it is of the system: schedulers do not command the environment.
    pub is_system: bool,
}

/// How the next action of the system is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scheduler {
    /// The process that comes first in this order, by their numbers; processes that are not in it come last.
    FixedPriority(Vec<u32>),
    /// The process after the one that was served last.
    RoundRobin,
    /// One of the enabled actions, drawn by a generator with this seed.
    Random(u64),
}

/// Which actions are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The environment waits until the system has nothing to do.
    Reactive,
    /// Nothing is tried that would go wrong, such as a message to a full queue.
    Faultless,
}

/// A scheduler and filters; the scheduler is inside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Setup {
    /// The scheduler of the system, if it has one.
    pub scheduler: Option<Scheduler>,
    /// What is left out of what the scheduler leaves, in this order.
    pub filters: Vec<Filter>,
}

/// A space under a [`Setup`]. A configuration is one of the space and a word for the scheduler's memory.
pub struct Scheduled<'a, S> {
    inner: S,
    performers: &'a [Performer],
    setup: &'a Setup,
}

impl<'a, S: Space> Scheduled<'a, S> {
    /// The space under the set-up; `performers` has one entry for each action.
    pub fn new(inner: S, performers: &'a [Performer], setup: &'a Setup) -> Scheduled<'a, S> {
        Scheduled { inner, performers, setup }
    }

    /// Chooses among the enabled actions of the system; says what the scheduler remembers then.
    fn choose(&self, memory: u64, enabled: &[u32]) -> Option<(u32, u64)> {
        let process = |action: &u32| self.performers[*action as usize].process;
        match self.setup.scheduler.as_ref()? {
            Scheduler::FixedPriority(order) => {
                let place = |action: &u32| order.iter().position(|known| Some(*known) == process(action));
                let policy =
                    FixedPriority::new(|action: &u32| std::cmp::Reverse(place(action).unwrap_or(usize::MAX)));
                policy.choose(&(), &(), enabled).map(|(action, ())| (*action, 0))
            }
            Scheduler::RoundRobin => {
                // 0 is for "nobody yet", and a process is remembered as the number after its own.
                let number =
                    |action: &u32| process(action).map_or(u64::MAX, |process| u64::from(process) + 1);
                let last = (memory != 0).then_some(memory);
                let chosen = RoundRobin::new(number).choose(&last, &(), enabled);
                chosen.map(|(action, last)| (*action, last.unwrap_or(0)))
            }
            Scheduler::Random(seed) => {
                let chosen = SeededRandom { seed: *seed }.choose(&memory, &(), enabled);
                chosen.map(|(action, next)| (*action, next))
            }
        }
    }

    fn first_memory(&self) -> u64 {
        match &self.setup.scheduler {
            Some(Scheduler::Random(seed)) => *seed,
            _ => 0,
        }
    }

    /// What remains of the enabled actions under the filters.
    fn filtered(&self, mut kept: Vec<u32>, goes_wrong: impl Fn(u32) -> bool) -> Vec<u32> {
        for filter in &self.setup.filters {
            match filter {
                Filter::Reactive => {
                    let is_system = |action: &u32| self.performers[*action as usize].is_system;
                    if kept.iter().any(is_system) {
                        kept.retain(is_system);
                    }
                }
                Filter::Faultless => kept.retain(|action| !goes_wrong(*action)),
            }
        }
        kept
    }
}

impl<S: Space> Space for Scheduled<'_, S> {
    fn width(&self) -> usize {
        self.inner.width() + 1
    }

    fn initial(&self, out: &mut Successors) {
        let mut starts = Successors::default();
        self.inner.initial(&mut starts);
        for (start, taken) in starts.words.chunks_exact(self.inner.width()).zip(&starts.taken) {
            add(start, self.first_memory(), *taken, out);
        }
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let width = self.inner.width();
        let (inner, memory) = (&state[..width], state[width]);
        let mut found = Successors::default();
        self.inner.successors(inner, &mut found);
        let mut enabled: Vec<u32> = found.taken.iter().map(|taken| taken.action).collect();
        enabled.dedup();
        let mut next = memory;
        let mut chosen = None;
        if self.setup.scheduler.is_some() {
            let (system, environment): (Vec<u32>, Vec<u32>) =
                enabled.into_iter().partition(|action| self.performers[*action as usize].is_system);
            if let Some((action, after)) = self.choose(memory, &system) {
                (chosen, next) = (Some(action), after);
            }
            enabled = chosen.into_iter().chain(environment).collect();
        }
        let goes_wrong = |action: u32| {
            found.taken.iter().any(|taken| taken.action == action && taken.flags & crate::space::FAULT != 0)
        };
        for action in self.filtered(enabled, goes_wrong) {
            // What is forwarded leaves the scheduler's memory alone.
            let memory = if chosen == Some(action) { next } else { memory };
            for (at, taken) in found.taken.iter().enumerate().filter(|(_, taken)| taken.action == action) {
                add(found.state(at, width), memory, *taken, out);
            }
        }
    }

    fn failure(&self) -> Option<String> {
        self.inner.failure()
    }
}

fn add(state: &[u64], memory: u64, taken: Taken, out: &mut Successors) {
    out.words.extend_from_slice(state);
    out.words.push(memory);
    out.taken.push(taken);
}
