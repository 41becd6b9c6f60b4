//! The monitors of a node, of whichever algorithm.

use crate::rounds::Turn;
use crate::wire::{self, Letter, Refusal, Verdict};
use invigil_decent::algorithm::hierarchy::Member;
use invigil_decent::algorithm::migration::Migrant;
use invigil_decent::algorithm::orchestration::Orchestra;
use invigil_decent::algorithm::{
    Monitor, Names, Outbox, Placed, Prepared, Round, abridged::Abridged, broadcast::Peer,
};
use invigil_decent::encoding::States;
use invigil_decent::system::{ComponentId, Instant, MonitorId, PropositionId};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The kinds of monitors there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Of an orchestration.
    Orchestra,
    /// Of a migration.
    Migrant,
    /// Of a choreography, or of any other network of monitors.
    Member,
    /// Of a broadcast.
    Peer,
    /// Of the abridged orchestration.
    Abridged,
}

/// A monitor with its number and its component.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Assigned<M> {
    id: MonitorId,
    at: ComponentId,
    monitor: M,
}

/// What a component observed in this round; none if its trace is over.
pub type Seen = Option<Vec<(PropositionId, bool)>>;

/// How much the monitors of a node sent, as the simulator counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Messages, those that stay on the node too.
    pub messages: u64,
    /// Their size in the bytes of the document.
    pub data: u64,
}

/// Monitors that live on one node.
pub trait Host: Send {
    /// Whether letters are for monitors of this node and can be read.
    ///
    /// # Errors
    /// If not.
    fn check(&self, letters: &[Letter]) -> Result<(), Refusal>;

    /// One round of all of them, in the order of their numbers. `seen` says what a component observed.
    ///
    /// # Errors
    /// If a letter cannot be read, or if a monitor breaks down.
    fn round(
        &mut self,
        at: Instant,
        seen: &dyn Fn(ComponentId) -> Seen,
        letters: Vec<Letter>,
        traffic: (&Names, &mut Traffic),
    ) -> Result<Turn, String>;

    /// All of them as plain data, for [`host`].
    ///
    /// # Errors
    /// If they cannot be written.
    fn save(&self) -> Result<Vec<u8>, Refusal>;

    /// Where each of them is.
    fn places(&self) -> Vec<(MonitorId, ComponentId)>;
}

/// The monitors that were written as plain data.
///
/// # Errors
/// If it is nonsense.
pub fn host(kind: Kind, monitors: &[u8]) -> Result<Box<dyn Host>, Refusal> {
    fn of<M: Monitor + 'static>(monitors: &[u8]) -> Result<Box<dyn Host>, Refusal> {
        let monitors: Vec<Assigned<M>> = wire::unpack(monitors)?;
        if !monitors.is_sorted_by(|one, next| one.id < next.id) {
            return Err(Refusal::Garbled);
        }
        Ok(Box::new(Monitors(monitors)))
    }
    match kind {
        Kind::Orchestra => of::<Orchestra<States>>(monitors),
        Kind::Migrant => of::<Migrant<States>>(monitors),
        Kind::Member => of::<Member<States>>(monitors),
        Kind::Peer => of::<Peer<States>>(monitors),
        Kind::Abridged => of::<Abridged<States>>(monitors),
    }
}

/// Monitors as they are sent to nodes.
pub struct Divided {
    /// Of which kind they are.
    pub kind: Kind,
    /// Where each of them is.
    pub places: Vec<ComponentId>,
    /// For each node its own ones, as plain data.
    pub monitors: Vec<Vec<u8>>,
}

/// Divides monitors among so many nodes.
///
/// # Errors
/// If they cannot be written.
pub fn divide(
    prepared: &Prepared<States>,
    nodes: usize,
    node_of: impl Fn(ComponentId) -> usize,
) -> Result<Divided, Refusal> {
    fn of<M: Monitor>(
        placed: &[Placed<M>],
        nodes: usize,
        node_of: impl Fn(ComponentId) -> usize,
    ) -> Result<(Vec<ComponentId>, Vec<Vec<u8>>), Refusal> {
        let assigned = |node| -> Vec<Assigned<M>> {
            let all = (0..).map(MonitorId).zip(placed);
            let own = all.filter(|(_, placed)| node_of(placed.at) == node);
            own.map(|(id, placed)| Assigned { id, at: placed.at, monitor: placed.monitor.clone() }).collect()
        };
        let written = (0..nodes).map(|node| pack(&assigned(node)));
        Ok((placed.iter().map(|placed| placed.at).collect(), written.collect::<Result<_, _>>()?))
    }
    let (kind, (places, monitors)) = match prepared {
        Prepared::Orchestration(placed) => (Kind::Orchestra, of(placed, nodes, node_of)?),
        Prepared::Migration(placed) => (Kind::Migrant, of(placed, nodes, node_of)?),
        Prepared::Hierarchy(placed) => (Kind::Member, of(placed, nodes, node_of)?),
        Prepared::Broadcast(placed) => (Kind::Peer, of(placed, nodes, node_of)?),
        Prepared::Abridged(placed) => (Kind::Abridged, of(placed, nodes, node_of)?),
    };
    Ok(Divided { kind, places, monitors })
}

struct Monitors<M>(Vec<Assigned<M>>);

impl<M: Monitor> Monitors<M> {
    /// The letters for each monitor.
    fn sort(&self, letters: &[Letter]) -> Result<Vec<Vec<M::Message>>, Refusal> {
        let mut inboxes: Vec<Vec<M::Message>> = self.0.iter().map(|_| Vec::new()).collect();
        for letter in letters {
            let place =
                self.0.binary_search_by_key(&letter.to, |own| own.id).map_err(|_| Refusal::Garbled)?;
            inboxes[place].push(wire::unpack(&letter.content)?);
        }
        Ok(inboxes)
    }
}

impl<M: Monitor> Host for Monitors<M> {
    fn check(&self, letters: &[Letter]) -> Result<(), Refusal> {
        self.sort(letters).map(drop)
    }

    fn round(
        &mut self,
        at: Instant,
        seen: &dyn Fn(ComponentId) -> Seen,
        letters: Vec<Letter>,
        (names, traffic): (&Names, &mut Traffic),
    ) -> Result<Turn, String> {
        let inboxes =
            self.sort(&letters).map_err(|refusal| format!("a message cannot be read: {refusal}"))?;
        let mut turn = Turn::default();
        let mut out = Outbox::default();
        for (own, mut inbox) in self.0.iter_mut().zip(inboxes) {
            let Assigned { id, at: here, monitor } = own;
            let seen = seen(*here);
            out.clear();
            // Monitors come over the network: one that is made to break down must not take the node along.
            let done = catch_unwind(AssertUnwindSafe(|| {
                monitor.round(Round { at, seen: seen.as_deref() }, &mut inbox, &mut out);
                out.messages.iter().map(|(_, message)| monitor.size(message, names) as u64).sum::<u64>()
            }));
            let data = done.map_err(|_| format!("monitor {} broke down in round {at}", id.0))?;
            traffic.messages += out.messages.len() as u64;
            traffic.data += data;
            for (to, message) in out.messages.drain(..) {
                let content = pack(&message).map_err(|_| format!("monitor {} cannot write", id.0))?;
                turn.letters.push(Letter { from: *id, to, content });
            }
            if let (None, Some((truth, of))) = (turn.verdict, out.verdict) {
                turn.verdict = Some(Verdict { truth, of, by: *id });
            }
        }
        Ok(turn)
    }

    fn save(&self) -> Result<Vec<u8>, Refusal> {
        pack(&self.0)
    }

    fn places(&self) -> Vec<(MonitorId, ComponentId)> {
        self.0.iter().map(|own| (own.id, own.at)).collect()
    }
}

/// Plain data as postcard.
pub(crate) fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>, Refusal> {
    postcard::to_stdvec(value).map_err(|_| Refusal::Garbled)
}
