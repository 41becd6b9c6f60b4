//! Ways to monitor: each makes monitors of a specification, places them on components, and says what they do in a round.
//!
//! The same monitors run in the simulator and on nodes of a network: they see what their component observes and what was
//! sent to them, and they leave messages, verdicts and figures in an [`Outbox`].

use crate::encoding::Work;
use crate::system::{ComponentId, Instant, MonitorId, PropositionId};
use invigil_ltl::moore::Truth;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A monitor and where it runs. Its number is its place among all that the algorithm made.
#[derive(Clone, Debug)]
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

/// A message of one monitor to another.
pub trait Message: Clone + Send + Serialize + DeserializeOwned {
    /// Its size in the bytes of the document: one for a character of a name, four for a number, one for a verdict.
    /// `name` gives the length of a proposition's name.
    fn size(&self, name: &dyn Fn(PropositionId) -> usize) -> usize;
}

/// A monitor. All it remembers is plain data: a node that comes back goes on with what was written down.
pub trait Monitor: Clone + Send + Serialize + DeserializeOwned {
    /// What monitors send to each other.
    type Message: Message;

    /// One round: `seen` by its component, and the messages that came since the last.
    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<Self::Message>, out: &mut Outbox<Self::Message>);
}

/// What a monitor leaves behind in a round.
#[derive(Clone, Debug)]
pub struct Outbox<M> {
    /// Messages, and for whom.
    pub messages: Vec<(MonitorId, M)>,
    /// The verdict of the whole, and the instant that it is of.
    pub verdict: Option<(Truth, Instant)>,
    /// The work that was done.
    pub work: Work,
    /// Each time a new state became known: how many instants had been kept for it.
    pub delays: Vec<u32>,
}

impl<M> Default for Outbox<M> {
    fn default() -> Outbox<M> {
        Outbox { messages: Vec::new(), verdict: None, work: Work::default(), delays: Vec::new() }
    }
}

impl<M> Outbox<M> {
    /// Sends a message.
    pub fn send(&mut self, to: MonitorId, message: M) {
        self.messages.push((to, message));
    }
}
