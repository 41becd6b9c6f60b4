//! The simulator: rounds in which every component observes, every monitor has its turn, and messages take their time.
//!
//! The same run always goes the same way: chance comes from a seed. Every monitor has its turn in every round, in the order of
//! their numbers. What is sent in a round comes after as many rounds as the [`Conditions`] say.

mod conditions;
mod hooks;
mod links;
mod post;
mod trace;

pub use conditions::Conditions;
pub use hooks::{Hooks, Sent, Tags};
pub use links::Unlinked;
pub use trace::{Observations, Replay, Trace};

use crate::algorithm::{Monitor, Outbox, Placed, Round};
use crate::system::{Instant, MonitorId, System};
use invigil_ltl::moore::Truth;
use links::Links;
use post::Post;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was found out; unknown if time ran out.
    pub verdict: Truth,
    /// The instant that the verdict is of, and who found it.
    pub found: Option<(Instant, MonitorId)>,
    /// How many rounds it took.
    pub rounds: Instant,
}

/// Monitors of one algorithm on their components, ready for any number of runs.
///
/// ```
/// use invigil_decent::algorithm::{machine, orchestration};
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
/// let machine = machine(&mut logic, formula, &system)?;
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
    post: Post<M::Message>,
    inbox: Vec<M::Message>,
    out: Outbox<M::Message>,
}

impl<'a, M: Monitor> Simulator<'a, M> {
    /// Before the first run.
    pub fn new(system: &System, placed: &'a [Placed<M>], conditions: Conditions) -> Simulator<'a, M> {
        let links = Links::of(system, conditions.relay);
        Simulator {
            placed,
            tags: Tags::new(),
            post: Post::new(placed.len(), &conditions, links.farthest()),
            links,
            conditions,
            monitors: Vec::with_capacity(placed.len()),
            inbox: Vec::new(),
            out: Outbox::default(),
        }
    }

    /// What hooks are told about the runs: whatever one likes.
    pub fn tag(&mut self, key: &str, value: &str) {
        self.tags.insert(key.to_owned(), value.to_owned());
    }

    /// From the next run on, chance comes from this seed.
    pub fn reseed(&mut self, seed: u64) {
        self.conditions.seed = seed;
    }

    /// The monitors as the last run left them.
    pub fn monitors(&self) -> &[M] {
        &self.monitors
    }

    /// One run: until there is a verdict, or until nothing was observed any more for some rounds.
    ///
    /// # Errors
    /// If a message is for a component to which there is no way.
    pub fn run(
        &mut self,
        observations: &mut impl Observations,
        hooks: &mut impl Hooks<M>,
    ) -> Result<Outcome, Unlinked> {
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
        for (own, placed) in self.monitors.iter_mut().zip(self.placed) {
            own.clone_from(&placed.monitor);
        }
        let ready = self.monitors.len();
        self.monitors.extend(self.placed[ready..].iter().map(|placed| placed.monitor.clone()));
        self.post.reset(self.conditions.seed);
        self.inbox.clear();
    }

    fn rounds(
        &mut self,
        observations: &mut impl Observations,
        hooks: &mut impl Hooks<M>,
    ) -> Result<Outcome, Unlinked> {
        let mut silent = 0;
        let mut at = 0;
        loop {
            at += 1;
            silent = if observations.advance(at) { 0 } else { silent + 1 };
            if silent > self.conditions.grace {
                return Ok(Outcome { verdict: Truth::Unknown, found: None, rounds: at - 1 });
            }
            hooks.round(at);
            if let Some(outcome) = self.round(at, observations, hooks)? {
                return Ok(outcome);
            }
        }
    }

    /// One round, to its end even if there is a verdict: the others do not know yet.
    fn round(
        &mut self,
        at: Instant,
        observations: &impl Observations,
        hooks: &mut impl Hooks<M>,
    ) -> Result<Option<Outcome>, Unlinked> {
        let mut outcome = None;
        for (place, monitor) in self.monitors.iter_mut().enumerate() {
            let (own, here) = (MonitorId(place as u32), self.placed[place].at);
            let seen = observations.seen(here);
            self.post.collect(at, own, &mut self.inbox);
            self.out.clear();
            hooks.monitor_step(own, here, seen);
            monitor.round(Round { at, seen }, &mut self.inbox, &mut self.out);
            self.inbox.clear();
            hooks.in_monitor(own, here, monitor, &self.out);
            for (to, message) in self.out.messages.drain(..) {
                // Whoever writes to nobody is heard by nobody.
                let Some(there) = self.placed.get(to.index()).map(|placed| placed.at) else { continue };
                let hops = match self.links.hops(here, there) {
                    Err(_) if monitor.can_be_spared(&message) => continue,
                    hops => hops?,
                };
                hooks.sent(&Sent { from: own, to, message: &message, sender: monitor, hops });
                self.post.send(at, own, to, hops, message);
            }
            if let (None, Some((verdict, of))) = (outcome, self.out.verdict) {
                outcome = Some(Outcome { verdict, found: Some((of, own)), rounds: at });
                hooks.verdict(own, verdict, of);
            }
        }
        Ok(outcome)
    }
}
