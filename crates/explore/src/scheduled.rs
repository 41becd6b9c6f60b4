//! A space under a scheduler and filters, so that run time and verification can use the same scheduling policy.
//!
//! | setting | configuration |
//! | --- | --- |
//! | run time: the scheduler controls the system, the environment is the outside world | [`SchedulerConfig::scheduler`], on a model without environment |
//! | verification under a filter | only [`SchedulerConfig::filters`] |
//! | verification with the scheduler in the loop: the environment is not scheduled | [`SchedulerConfig::scheduler`], then [`SchedulerConfig::filters`] |
//! | verification with a decoupled environment: the scheduled system and its environment share variables | the same, for models in which no action belongs to both sides |
//!
//! These are the compositions `filter(scheduler(system and environment))` of the semantic interface, computed in bulk.
//! The tests compare the two implementations.

use crate::state_space::{StateSpace, Successors, TransitionInfo};
use invigil_semantics::{FixedPriority, RoundRobin, SchedulingPolicy, SeededRandom};

/// The process that performs an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Actor {
    /// The number of the process; none if the action belongs to no process.
    pub process: Option<u32>,
    /// Whether the action belongs to the system. Schedulers do not control the environment.
    pub is_system: bool,
}

/// How the next action of the system is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scheduler {
    /// The enabled process that is first in this order. Processes that are not listed come last.
    FixedPriority(Vec<u32>),
    /// The next enabled process after the one that was scheduled last.
    RoundRobin,
    /// A random enabled action, from a generator with this seed.
    Random(u64),
}

/// A filter that removes enabled actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The environment waits while the system has enabled actions.
    Reactive,
    /// Removes actions that would raise a fault, such as sending to a full queue.
    Faultless,
}

/// A scheduler and the filters around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SchedulerConfig {
    /// The scheduler of the system, if any.
    pub scheduler: Option<Scheduler>,
    /// Filters of the actions that the scheduler permits, applied in this order.
    pub filters: Vec<Filter>,
}

/// A space under a [`SchedulerConfig`]. A configuration has one extra word for the scheduler's state.
pub struct Scheduled<'a, S> {
    inner: S,
    actors: &'a [Actor],
    config: &'a SchedulerConfig,
}

impl<'a, S: StateSpace> Scheduled<'a, S> {
    /// Wraps a space; `actors` has one entry for each action.
    pub fn new(inner: S, actors: &'a [Actor], config: &'a SchedulerConfig) -> Scheduled<'a, S> {
        Scheduled { inner, actors, config }
    }

    /// Chooses one of the enabled actions of the system. Also returns the scheduler's next state.
    fn choose(&self, scheduler_state: u64, enabled: &[u32]) -> Option<(u32, u64)> {
        let process = |action: &u32| self.actors[*action as usize].process;
        match self.config.scheduler.as_ref()? {
            Scheduler::FixedPriority(order) => {
                let position =
                    |action: &u32| order.iter().position(|process_id| Some(*process_id) == process(action));
                let policy = FixedPriority::new(|action: &u32| {
                    std::cmp::Reverse(position(action).unwrap_or(usize::MAX))
                });
                policy.choose(&(), &(), enabled).map(|(action, ())| (*action, 0))
            }
            Scheduler::RoundRobin => {
                // 0 means that no process was scheduled yet; a process is stored as its number plus one.
                let number =
                    |action: &u32| process(action).map_or(u64::MAX, |process| u64::from(process) + 1);
                let last = (scheduler_state != 0).then_some(scheduler_state);
                let chosen = RoundRobin::new(number).choose(&last, &(), enabled);
                chosen.map(|(action, last)| (*action, last.unwrap_or(0)))
            }
            Scheduler::Random(seed) => {
                let chosen = SeededRandom { seed: *seed }.choose(&scheduler_state, &(), enabled);
                chosen.map(|(action, next)| (*action, next))
            }
        }
    }

    fn initial_scheduler_state(&self) -> u64 {
        match &self.config.scheduler {
            Some(Scheduler::Random(seed)) => *seed,
            _ => 0,
        }
    }

    /// Applies the filters to the enabled actions.
    fn apply_filters(&self, mut actions: Vec<u32>, can_fault: impl Fn(u32) -> bool) -> Vec<u32> {
        for filter in &self.config.filters {
            match filter {
                Filter::Reactive => {
                    let is_system = |action: &u32| self.actors[*action as usize].is_system;
                    if actions.iter().any(is_system) {
                        actions.retain(is_system);
                    }
                }
                Filter::Faultless => actions.retain(|action| !can_fault(*action)),
            }
        }
        actions
    }
}

impl<S: StateSpace> StateSpace for Scheduled<'_, S> {
    fn width(&self) -> usize {
        self.inner.width() + 1
    }

    fn initial(&self, out: &mut Successors) {
        let mut starts = Successors::default();
        self.inner.initial(&mut starts);
        for (start, transition) in starts.words.chunks_exact(self.inner.width()).zip(&starts.transitions) {
            push(start, self.initial_scheduler_state(), *transition, out);
        }
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let width = self.inner.width();
        let (inner, scheduler_state) = (&state[..width], state[width]);
        let mut inner_successors = Successors::default();
        self.inner.successors(inner, &mut inner_successors);
        let mut enabled: Vec<u32> =
            inner_successors.transitions.iter().map(|transition| transition.action).collect();
        enabled.dedup();
        let mut next = scheduler_state;
        let mut chosen = None;
        if self.config.scheduler.is_some() {
            let (system, environment): (Vec<u32>, Vec<u32>) =
                enabled.into_iter().partition(|action| self.actors[*action as usize].is_system);
            if let Some((action, after)) = self.choose(scheduler_state, &system) {
                (chosen, next) = (Some(action), after);
            }
            enabled = chosen.into_iter().chain(environment).collect();
        }
        let can_fault = |action: u32| {
            inner_successors.transitions.iter().any(|transition| {
                transition.action == action && transition.flags & crate::state_space::FAULT != 0
            })
        };
        for action in self.apply_filters(enabled, can_fault) {
            // An action of the environment does not change the scheduler's state.
            let scheduler_state = if chosen == Some(action) { next } else { scheduler_state };
            for (index, transition) in inner_successors
                .transitions
                .iter()
                .enumerate()
                .filter(|(_, transition)| transition.action == action)
            {
                push(inner_successors.state(index, width), scheduler_state, *transition, out);
            }
        }
    }

    fn failure(&self) -> Option<String> {
        self.inner.failure()
    }
}

/// Appends a successor with the scheduler's state.
fn push(state: &[u64], scheduler_state: u64, transition: TransitionInfo, out: &mut Successors) {
    out.words.extend_from_slice(state);
    out.words.push(scheduler_state);
    out.transitions.push(transition);
}
