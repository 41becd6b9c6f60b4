//! Simulator: rounds in which every component observes, every monitor runs and messages travel.
//!
//! Runs are deterministic: random numbers come from a seed. In every round all monitors run in the order of their ids.
//! A message arrives after the number of rounds that the [`Conditions`] specify.

mod conditions;
mod hooks;
mod links;
mod message_queue;
mod trace;

pub use conditions::Conditions;
pub use hooks::{Hooks, SentMessage, Tags};
pub use links::NoRouteError;
pub use trace::{Observations, Replay, Trace};

use crate::algorithm::{Monitor, Outbox, Placed, Round};
use crate::system::{Instant, MonitorId, System};
use invigil_ltl::moore::Truth;
use links::Links;
use message_queue::MessageQueue;

/// Result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulationResult {
    /// The verdict; unknown if the run ended without one.
    pub verdict: Truth,
    /// Instant of the verdict, and the monitor that reached it.
    pub verdict_origin: Option<(Instant, MonitorId)>,
    /// Number of rounds.
    pub rounds: Instant,
}

/// Monitors of one algorithm on their components, for any number of runs.
///
/// ```
/// use invigil_decent::algorithm::{compile_formula, orchestration};
/// use invigil_decent::encoding::States;
/// use invigil_decent::simulate::{Conditions, Simulator, Trace};
/// use invigil_decent::system::System;
/// use invigil_ltl::moore::Truth;
/// use invigil_ltl::{Budget, Logic};
///
/// let mut system = System::default();
/// let (switch, bulb) = (system.component("switch")?, system.component("bulb")?);
/// let (s, l) = (system.proposition(switch, "s")?, system.proposition(bulb, "l")?);
/// let mut logic = Logic::new(Budget::default());
/// let formula = logic.parse("G (s -> X (l U !s))").unwrap();
/// let machine = compile_formula(&mut logic, formula, &system)?;
/// let monitors = orchestration::setup::<States>(&machine, &system)?;
///
/// let mut trace = Trace::new(&system);
/// trace.push([&[(s, true)][..], &[(l, true)]]);
/// trace.push([&[(s, true)][..], &[(l, false)]]);
/// let mut simulator = Simulator::new(&system, &monitors, Conditions::default());
/// let outcome = simulator.run(&mut trace.replay(), &mut ())?;
/// assert_eq!((outcome.verdict, outcome.rounds), (Truth::False, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulator<'a, M: Monitor> {
    placed: &'a [Placed<M>],
    conditions: Conditions,
    tags: Tags,
    links: Links,
    monitors: Vec<M>,
    queue: MessageQueue<M::Message>,
    inbox: Vec<M::Message>,
    out: Outbox<M::Message>,
}

impl<'a, M: Monitor> Simulator<'a, M> {
    /// Prepares a simulator.
    pub fn new(system: &System, placed: &'a [Placed<M>], conditions: Conditions) -> Simulator<'a, M> {
        let links = Links::of(system, conditions.relay);
        Simulator {
            placed,
            tags: Tags::new(),
            queue: MessageQueue::new(placed.len(), &conditions, links.farthest()),
            links,
            conditions,
            monitors: Vec::with_capacity(placed.len()),
            inbox: Vec::new(),
            out: Outbox::default(),
        }
    }

    /// Sets a tag that hooks receive at the start of a run.
    pub fn tag(&mut self, key: &str, value: &str) {
        self.tags.insert(key.to_owned(), value.to_owned());
    }

    /// Sets the seed of the following runs.
    pub fn reseed(&mut self, seed: u64) {
        self.conditions.seed = seed;
    }

    /// Returns the monitors in their state at the end of the last run.
    pub fn monitors(&self) -> &[M] {
        &self.monitors
    }

    /// Runs until there is a verdict, or until no component has observed anything for some rounds.
    ///
    /// # Errors
    /// Fails if a message cannot reach its component.
    pub fn run(
        &mut self,
        observations: &mut impl Observations,
        hooks: &mut impl Hooks<M>,
    ) -> Result<SimulationResult, NoRouteError> {
        hooks.before_start(&self.tags);
        self.reset();
        hooks.started(&self.tags);
        let outcome = self.rounds(observations, hooks);
        hooks.stopped();
        if let Ok(outcome) = &outcome {
            hooks.after_stop(outcome);
        }
        outcome
    }

    fn reset(&mut self) {
        for (monitor, placed) in self.monitors.iter_mut().zip(self.placed) {
            monitor.clone_from(&placed.monitor);
        }
        let ready = self.monitors.len();
        self.monitors.extend(self.placed[ready..].iter().map(|placed| placed.monitor.clone()));
        self.queue.reset(self.conditions.seed);
        self.inbox.clear();
    }

    fn rounds(
        &mut self,
        observations: &mut impl Observations,
        hooks: &mut impl Hooks<M>,
    ) -> Result<SimulationResult, NoRouteError> {
        let mut silent_rounds = 0;
        let mut at = 0;
        loop {
            at += 1;
            silent_rounds = if observations.advance(at) { 0 } else { silent_rounds + 1 };
            if silent_rounds > self.conditions.grace {
                return Ok(SimulationResult {
                    verdict: Truth::Unknown,
                    verdict_origin: None,
                    rounds: at - 1,
                });
            }
            hooks.round(at);
            if let Some(outcome) = self.round(at, observations, hooks)? {
                return Ok(outcome);
            }
        }
    }

    /// Runs one round. It is completed even if a monitor reaches a verdict: the other monitors do not know it yet.
    fn round(
        &mut self,
        at: Instant,
        observations: &impl Observations,
        hooks: &mut impl Hooks<M>,
    ) -> Result<Option<SimulationResult>, NoRouteError> {
        let mut outcome = None;
        for (index, monitor) in self.monitors.iter_mut().enumerate() {
            let (id, component) = (MonitorId(index as u32), self.placed[index].at);
            let seen = observations.seen(component);
            self.queue.collect(at, id, &mut self.inbox);
            self.out.clear();
            hooks.before_monitor_step(id, component, seen);
            monitor.round(Round { at, seen }, &mut self.inbox, &mut self.out);
            self.inbox.clear();
            hooks.after_monitor_step(id, component, monitor, &self.out);
            for (to, message) in self.out.messages.drain(..) {
                // Messages to monitors that do not exist are dropped.
                let Some(receiver) = self.placed.get(to.index()).map(|placed| placed.at) else { continue };
                let hops = match self.links.hops(component, receiver) {
                    Err(_) if monitor.is_optional(&message) => continue,
                    hops => hops?,
                };
                hooks.sent(&SentMessage { from: id, to, message: &message, sender: monitor, hops });
                self.queue.send(at, id, to, hops, message);
            }
            if let (None, Some((verdict, of))) = (outcome, self.out.verdict) {
                outcome = Some(SimulationResult { verdict, verdict_origin: Some((of, id)), rounds: at });
                hooks.verdict(id, verdict, of);
            }
        }
        Ok(outcome)
    }
}
