//! Monitoring algorithms: each creates monitors for a specification, places them on components and defines what they do
//! in a round.
//!
//! The same monitors run in the simulator and on network nodes. They receive what their component observes and the
//! messages sent to them, and leave messages, verdicts and counters in an [`Outbox`].
//!
//! | algorithm | delay | messages per round | size of a message |
//! | --- | --- | --- | --- |
//! | [`orchestration`] | latency | components − 1 | observations of a component |
//! | [`migration`] | components − 1 | number of active monitors | a history |
//! | [`choreography`] | depth, plus the time that parts stay undecided | one per reference | 9 |
//! | [`broadcast`] | latency | all to all | a history |
//! | [`abridged`] | latency | relevant components − 1 | 5 |
//!
//! # A new algorithm
//!
//! An algorithm is a type with two methods. In this example every component sends the number of its true observations
//! to the first one, which reports a verdict when there are ten:
//!
//! ```
//! use invigil_decent::algorithm::{Monitor, NameLengths, Outbox, Placed, Round};
//! use invigil_decent::simulate::{Conditions, Simulator, Trace};
//! use invigil_decent::system::{MonitorId, System};
//! use invigil_ltl::moore::Truth;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Serialize, Deserialize)]
//! struct Counter {
//!     is_main: bool,
//!     sum: u32,
//! }
//!
//! impl Monitor for Counter {
//!     type Message = u32;
//!
//!     fn round(&mut self, round: Round<'_>, inbox: &mut Vec<u32>, out: &mut Outbox<u32>) {
//!         let count = round.seen.iter().copied().flatten().filter(|(_, value)| *value).count() as u32;
//!         if self.is_main {
//!             self.sum += count + inbox.drain(..).sum::<u32>();
//!             if self.sum >= 10 {
//!                 out.verdict = Some((Truth::True, round.at));
//!             }
//!         } else if count > 0 {
//!             out.send(MonitorId(0), count);
//!         }
//!     }
//!
//!     fn message_size(&self, _: &u32, _: &NameLengths) -> usize {
//!         4
//!     }
//! }
//!
//! let mut system = System::default();
//! for name in ["a", "b"] {
//!     let component = system.component(name)?;
//!     system.proposition(component, name)?;
//! }
//! let placed: Vec<_> = system
//!     .components()
//!     .map(|at| Placed { at, monitor: Counter { is_main: at.index() == 0, sum: 0 } })
//!     .collect();
//! let trace = Trace::from_fn(&system, 10, |_, _| true);
//! let mut simulator = Simulator::new(&system, &placed, Conditions::default());
//! let outcome = simulator.run(&mut trace.replay(), &mut ())?;
//! assert_eq!((outcome.verdict, outcome.rounds), (Truth::True, 6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abridged;
pub mod broadcast;
pub mod choreography;
mod core;
pub mod hierarchy;
pub mod migration;
pub mod orchestration;
mod selection;
mod setup;

pub use selection::{Algorithm, MonitorSet, UnknownAlgorithm};
pub use setup::{SetupError, compile_formula};

use crate::encoding::WorkCounters;
use crate::system::{ComponentId, Instant, MonitorId, PropositionId, System};
use invigil_ltl::moore::Truth;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A monitor and its component. Its id is its index among all monitors of the algorithm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Placed<M> {
    /// The component.
    pub at: ComponentId,
    /// The monitor before the first round.
    pub monitor: M,
}

/// Observations of a component in a round.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// Number of the round, from 1.
    pub at: Instant,
    /// Observed values. Empty if nothing was observed; `None` after the end of the trace.
    pub seen: Option<&'a [(PropositionId, bool)]>,
}

/// Lengths of the names of propositions.
///
/// Messages are measured in the normalised bytes of [EH18 §8.2.3]: one per character of a name, four per number, one
/// per verdict.
#[derive(Clone, Debug)]
pub struct NameLengths(Vec<usize>);

impl NameLengths {
    /// Returns the lengths for a system.
    pub fn of(system: &System) -> NameLengths {
        NameLengths(system.propositions().map(|known| system.proposition_name(known).len()).collect())
    }

    /// Returns the length of a name.
    pub fn length(&self, proposition: PropositionId) -> usize {
        self.0.get(proposition.index()).copied().unwrap_or(0)
    }
}

/// Monitor of an algorithm. Its complete state is plain data, so that a node can save it and resume.
pub trait Monitor: Clone + Send + Serialize + DeserializeOwned {
    /// Messages between monitors.
    type Message: Clone + Send + Serialize + DeserializeOwned;

    /// Runs one round: processes the observations of its component and the messages since the last round. Must empty
    /// the inbox.
    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<Self::Message>, out: &mut Outbox<Self::Message>);

    /// Returns the size of one of its messages in the normalised bytes of [EH18 §8.2.3]. This is a method of the
    /// monitor since the size of a history depends on the automaton.
    fn message_size(&self, message: &Self::Message, names: &NameLengths) -> usize;

    /// Returns whether a message only saves work. Optional messages are dropped where no link leads to the receiver.
    fn is_optional(&self, _: &Self::Message) -> bool {
        false
    }

    /// Returns the number of values and instants that it stores.
    fn stored_values(&self) -> usize {
        0
    }
}

/// Delays until states became known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Number of instants whose state became known.
    pub count: u64,
    /// Sum of their delays in rounds.
    pub sum: u64,
    /// Longest delay.
    pub longest: u32,
}

impl Delays {
    /// Adds one state that became known.
    pub fn add(&mut self, delay: u32) {
        self.count += 1;
        self.sum += u64::from(delay);
        self.longest = self.longest.max(delay);
    }

    /// Adds the states after `known` up to `new`, which became known in round `now`. Skipped instants count: their
    /// state no longer matters.
    pub fn add_all(&mut self, known: Instant, new: Instant, now: Instant) {
        let Some(count) = new.checked_sub(known).filter(|count| *count > 0) else { return };
        let (shortest, longest) = (now.saturating_sub(new), now.saturating_sub(known + 1));
        self.count += u64::from(count);
        self.sum += (u64::from(shortest) + u64::from(longest)) * u64::from(count) / 2;
        self.longest = self.longest.max(longest);
    }
}

/// Output of a monitor in a round.
#[derive(Clone, Debug)]
pub struct Outbox<M> {
    /// Messages and their receivers.
    pub messages: Vec<(MonitorId, M)>,
    /// Verdict of the specification, and its instant.
    pub verdict: Option<(Truth, Instant)>,
    /// Verdicts of a [reporting monitor](hierarchy::setup_reporting), each for one instant.
    pub instant_verdicts: Vec<(Instant, bool)>,
    /// Work counters.
    pub work: WorkCounters,
    /// Delays of the states that became known in this round.
    pub delays: Delays,
}

impl<M> Default for Outbox<M> {
    fn default() -> Outbox<M> {
        Outbox {
            messages: Vec::new(),
            verdict: None,
            instant_verdicts: Vec::new(),
            work: WorkCounters::default(),
            delays: Delays::default(),
        }
    }
}

impl<M> Outbox<M> {
    /// Sends a message.
    pub fn send(&mut self, to: MonitorId, message: M) {
        self.messages.push((to, message));
    }

    /// Resets the outbox and keeps its allocations.
    pub fn clear(&mut self) {
        self.messages.clear();
        self.instant_verdicts.clear();
        (self.verdict, self.work, self.delays) = (None, WorkCounters::default(), Delays::default());
    }
}
