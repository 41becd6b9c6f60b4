//! Ways to monitor: each makes monitors of a specification, places them on components, and says what they do in a round.
//!
//! The same monitors run in the simulator and on nodes of a network: they see what their component observes and what was
//! sent to them, and they leave messages, verdicts and figures in an [`Outbox`].
//!
//! | algorithm | delay | messages per round | size of a message |
//! | --- | --- | --- | --- |
//! | [`orchestration`] | latency | components − 1 | what a component observed |
//! | [`migration`] | components − 1 | as many as are active | a history |
//! | [`choreography`] | depth, and as long as parts are undecided | one for each reference | 9 |
//! | [`broadcast`] | latency | all to all | a history |
//! | [`abridged`] | latency | components that matter − 1 | 5 |
//!
//! # A new algorithm
//!
//! It is a type with one function. Here every component tells the first one how often it saw something, and when there were
//! ten, that is a verdict:
//!
//! ```
//! use invigil_decent::algorithm::{Monitor, Names, Outbox, Placed, Round};
//! use invigil_decent::simulate::{Conditions, Simulator, Trace};
//! use invigil_decent::system::{MonitorId, System};
//! use invigil_ltl::moore::Truth;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Serialize, Deserialize)]
//! struct Counter {
//!     counts: bool,
//!     sum: u32,
//! }
//!
//! impl Monitor for Counter {
//!     type Message = u32;
//!
//!     fn round(&mut self, round: Round<'_>, inbox: &mut Vec<u32>, out: &mut Outbox<u32>) {
//!         let here = round.seen.iter().copied().flatten().filter(|(_, value)| *value).count() as u32;
//!         if self.counts {
//!             self.sum += here + inbox.drain(..).sum::<u32>();
//!             if self.sum >= 10 {
//!                 out.verdict = Some((Truth::True, round.at));
//!             }
//!         } else if here > 0 {
//!             out.send(MonitorId(0), here);
//!         }
//!     }
//!
//!     fn size(&self, _: &u32, _: &Names) -> usize {
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
//!     .map(|at| Placed { at, monitor: Counter { counts: at.index() == 0, sum: 0 } })
//!     .collect();
//! let trace = Trace::whole(&system, 10, |_, _| true);
//! let mut simulator = Simulator::new(&system, &placed, Conditions::default());
//! let outcome = simulator.run(&mut trace.replay(), &mut ())?;
//! assert_eq!((outcome.verdict, outcome.rounds), (Truth::True, 6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abridged;
pub mod broadcast;
mod centre;
mod choice;
pub mod choreography;
pub mod hierarchy;
pub mod migration;
pub mod orchestration;
mod setup;

pub use choice::{Choice, Prepared, UnknownAlgorithm};
pub use setup::{NoSetup, machine};

use crate::encoding::Work;
use crate::system::{ComponentId, Instant, MonitorId, PropositionId, System};
use invigil_ltl::moore::Truth;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A monitor and where it runs. Its number is its place among all that the algorithm made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Placed<M> {
    /// The component.
    pub at: ComponentId,
    /// The monitor, as it is before the first round.
    pub monitor: M,
}

/// What a component observed in a round. Empty where it has nothing to say; none where its trace is over.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// Which round it is, from 1.
    pub at: Instant,
    /// The values that were observed.
    pub seen: Option<&'a [(PropositionId, bool)]>,
}

/// How long the names of propositions are: messages are measured in the bytes of the document, one for a character of a
/// name, four for a number, one for a verdict.
#[derive(Clone, Debug)]
pub struct Names(Vec<usize>);

impl Names {
    /// Those of a system.
    pub fn of(system: &System) -> Names {
        Names(system.propositions().map(|known| system.name(known).len()).collect())
    }

    /// How long a name is.
    pub fn length(&self, proposition: PropositionId) -> usize {
        self.0.get(proposition.index()).copied().unwrap_or(0)
    }
}

/// A monitor. All it remembers is plain data: a node that comes back goes on with what was written down.
pub trait Monitor: Clone + Send + Serialize + DeserializeOwned {
    /// What monitors send to each other.
    type Message: Clone + Send + Serialize + DeserializeOwned;

    /// One round: `seen` by its component, and the messages that came since the last. It takes them all out.
    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<Self::Message>, out: &mut Outbox<Self::Message>);

    /// The size of a message that it sends, in the bytes of the document. Here and not with the message, since a history can
    /// only be measured by someone who knows the automaton.
    fn size(&self, message: &Self::Message, names: &Names) -> usize;

    /// Whether a message only saves work: where no link leads to whom it is for, it is not sent.
    fn can_be_spared(&self, _: &Self::Message) -> bool {
        false
    }

    /// How many values and instants it remembers.
    fn kept(&self) -> usize {
        0
    }
}

/// How long it took until states became known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Of how many instants the state became known.
    pub count: u64,
    /// How many rounds later than they were, all together.
    pub sum: u64,
    /// The longest.
    pub longest: u32,
}

impl Delays {
    /// One state became known.
    pub fn add(&mut self, delay: u32) {
        self.count += 1;
        self.sum += u64::from(delay);
        self.longest = self.longest.max(delay);
    }

    /// The states after `known` up to `new` became known, when `now` is the round. An instant that was
    /// jumped over counts: it is known that nothing about it matters any more.
    pub fn add_all(&mut self, known: Instant, new: Instant, now: Instant) {
        let Some(count) = new.checked_sub(known).filter(|count| *count > 0) else { return };
        let (shortest, longest) = (now.saturating_sub(new), now.saturating_sub(known + 1));
        self.count += u64::from(count);
        self.sum += (u64::from(shortest) + u64::from(longest)) * u64::from(count) / 2;
        self.longest = self.longest.max(longest);
    }
}

/// What a monitor leaves behind in a round.
#[derive(Clone, Debug)]
pub struct Outbox<M> {
    /// Messages, and for whom.
    pub messages: Vec<(MonitorId, M)>,
    /// The verdict of the whole, and the instant that it is of.
    pub verdict: Option<(Truth, Instant)>,
    /// What a monitor that speaks of every instant said: from when on it holds, or does not.
    pub said: Vec<(Instant, bool)>,
    /// The work that was done.
    pub work: Work,
    /// How long it took until what became known in this round was known.
    pub delays: Delays,
}

impl<M> Default for Outbox<M> {
    fn default() -> Outbox<M> {
        Outbox {
            messages: Vec::new(),
            verdict: None,
            said: Vec::new(),
            work: Work::default(),
            delays: Delays::default(),
        }
    }
}

impl<M> Outbox<M> {
    /// Sends a message.
    pub fn send(&mut self, to: MonitorId, message: M) {
        self.messages.push((to, message));
    }

    /// As new, with the room that it has.
    pub fn clear(&mut self) {
        self.messages.clear();
        self.said.clear();
        (self.verdict, self.work, self.delays) = (None, Work::default(), Delays::default());
    }
}
