//! Monitors of a node, for any algorithm.

use crate::rounds::RoundResult;
use crate::wire::{self, MonitorMessage, Verdict, WireError};
use invigil_decent::algorithm::hierarchy::HierarchyMonitor;
use invigil_decent::algorithm::migration::MigrationMonitor;
use invigil_decent::algorithm::orchestration::OrchestrationMonitor;
use invigil_decent::algorithm::{
    Monitor, MonitorSet, NameLengths, Outbox, Placed, Round, abridged::AbridgedMonitor,
    broadcast::BroadcastMonitor,
};
use invigil_decent::encoding::States;
use invigil_decent::system::{ComponentId, Instant, MonitorId, PropositionId};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Kind of monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MonitorKind {
    /// Orchestration.
    Orchestration,
    /// Migration.
    Migration,
    /// Choreography, or any other network of monitors.
    Hierarchy,
    /// Broadcast.
    Broadcast,
    /// Abridged orchestration.
    Abridged,
}

/// Monitor with its id and component.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Assigned<M> {
    id: MonitorId,
    component: ComponentId,
    monitor: M,
}

/// Observations of a component in this round; `None` after the end of its trace.
pub type ComponentObservations = Option<Vec<(PropositionId, bool)>>;

/// Messages sent by the monitors of a node, counted as in the simulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Number of messages, including those that stay on the node.
    pub messages: u64,
    /// Their size in the normalised bytes of [EH18 §8.2.3].
    pub data: u64,
}

/// Monitors of one node, with their concrete type erased.
pub trait Host: Send {
    /// Checks that messages are for monitors of this node and can be decoded.
    ///
    /// # Errors
    /// Returns the first error.
    fn check(&self, messages: &[MonitorMessage]) -> Result<(), WireError>;

    /// Runs one round of all monitors in the order of their ids. `observations_of` returns the observations of a
    /// component.
    ///
    /// # Errors
    /// Fails if a message cannot be decoded or a monitor panics.
    fn round(
        &mut self,
        round: Instant,
        observations_of: &dyn Fn(ComponentId) -> ComponentObservations,
        messages: Vec<MonitorMessage>,
        traffic: (&NameLengths, &mut Traffic),
    ) -> Result<RoundResult, String>;

    /// Serializes all monitors for [`load_monitors`].
    ///
    /// # Errors
    /// Fails if they cannot be encoded.
    fn save(&self) -> Result<Vec<u8>, WireError>;

    /// Returns the components of the monitors.
    fn monitor_components(&self) -> Vec<(MonitorId, ComponentId)>;
}

/// Restores serialized monitors.
///
/// # Errors
/// Fails if they are malformed.
pub fn load_monitors(kind: MonitorKind, monitors: &[u8]) -> Result<Box<dyn Host>, WireError> {
    fn load<M: Monitor + 'static>(monitors: &[u8]) -> Result<Box<dyn Host>, WireError> {
        let monitors: Vec<Assigned<M>> = wire::unpack(monitors)?;
        if !monitors.is_sorted_by(|one, next| one.id < next.id) {
            return Err(WireError::Malformed);
        }
        Ok(Box::new(Monitors(monitors)))
    }
    match kind {
        MonitorKind::Orchestration => load::<OrchestrationMonitor<States>>(monitors),
        MonitorKind::Migration => load::<MigrationMonitor<States>>(monitors),
        MonitorKind::Hierarchy => load::<HierarchyMonitor<States>>(monitors),
        MonitorKind::Broadcast => load::<BroadcastMonitor<States>>(monitors),
        MonitorKind::Abridged => load::<AbridgedMonitor<States>>(monitors),
    }
}

/// Monitors, divided among nodes.
pub struct DividedMonitors {
    /// Their kind.
    pub kind: MonitorKind,
    /// Component of each monitor.
    pub monitor_components: Vec<ComponentId>,
    /// Serialized monitors of each node.
    pub monitors: Vec<Vec<u8>>,
}

/// Divides monitors among nodes.
///
/// # Errors
/// Fails if they cannot be encoded.
pub fn divide(
    prepared: &MonitorSet<States>,
    nodes: usize,
    node_of: impl Fn(ComponentId) -> usize,
) -> Result<DividedMonitors, WireError> {
    fn divide<M: Monitor>(
        placed: &[Placed<M>],
        nodes: usize,
        node_of: impl Fn(ComponentId) -> usize,
    ) -> Result<(Vec<ComponentId>, Vec<Vec<u8>>), WireError> {
        let assigned = |node| -> Vec<Assigned<M>> {
            let all = (0..).map(MonitorId).zip(placed);
            let of_node = all.filter(|(_, placed)| node_of(placed.at) == node);
            of_node
                .map(|(id, placed)| Assigned { id, component: placed.at, monitor: placed.monitor.clone() })
                .collect()
        };
        let packed = (0..nodes).map(|node| pack(&assigned(node)));
        Ok((placed.iter().map(|placed| placed.at).collect(), packed.collect::<Result<_, _>>()?))
    }
    let (kind, (monitor_components, monitors)) = match prepared {
        MonitorSet::Orchestration(placed) => (MonitorKind::Orchestration, divide(placed, nodes, node_of)?),
        MonitorSet::Migration(placed) => (MonitorKind::Migration, divide(placed, nodes, node_of)?),
        MonitorSet::Hierarchy(placed) => (MonitorKind::Hierarchy, divide(placed, nodes, node_of)?),
        MonitorSet::Broadcast(placed) => (MonitorKind::Broadcast, divide(placed, nodes, node_of)?),
        MonitorSet::Abridged(placed) => (MonitorKind::Abridged, divide(placed, nodes, node_of)?),
    };
    Ok(DividedMonitors { kind, monitor_components, monitors })
}

struct Monitors<M>(Vec<Assigned<M>>);

impl<M: Monitor> Monitors<M> {
    /// Decodes the messages for each monitor.
    fn decode_inboxes(&self, messages: &[MonitorMessage]) -> Result<Vec<Vec<M::Message>>, WireError> {
        let mut inboxes: Vec<Vec<M::Message>> = self.0.iter().map(|_| Vec::new()).collect();
        for message in messages {
            let index = self.0.binary_search_by_key(&message.to, |assigned| assigned.id);
            inboxes[index.map_err(|_| WireError::Malformed)?].push(wire::unpack(&message.content)?);
        }
        Ok(inboxes)
    }
}

impl<M: Monitor> Host for Monitors<M> {
    fn check(&self, messages: &[MonitorMessage]) -> Result<(), WireError> {
        self.decode_inboxes(messages).map(drop)
    }

    fn round(
        &mut self,
        round: Instant,
        observations_of: &dyn Fn(ComponentId) -> ComponentObservations,
        messages: Vec<MonitorMessage>,
        (names, traffic): (&NameLengths, &mut Traffic),
    ) -> Result<RoundResult, String> {
        let inboxes =
            self.decode_inboxes(&messages).map_err(|error| format!("cannot decode a message: {error}"))?;
        let mut result = RoundResult::default();
        let mut out = Outbox::default();
        for (assigned, mut inbox) in self.0.iter_mut().zip(inboxes) {
            let Assigned { id, component, monitor } = assigned;
            let observed = observations_of(*component);
            out.clear();
            // Monitors come from the network: a malformed one that panics must not take down the node.
            let data = catch_unwind(AssertUnwindSafe(|| {
                monitor.round(Round { at: round, seen: observed.as_deref() }, &mut inbox, &mut out);
                out.messages
                    .iter()
                    .map(|(_, message)| monitor.message_size(message, names) as u64)
                    .sum::<u64>()
            }));
            let data = data.map_err(|_| format!("monitor {} panicked in round {round}", id.0))?;
            traffic.messages += out.messages.len() as u64;
            traffic.data += data;
            for (to, message) in out.messages.drain(..) {
                let content =
                    pack(&message).map_err(|_| format!("cannot encode a message from monitor {}", id.0))?;
                result.messages.push(MonitorMessage { from: *id, to, content });
            }
            if let (None, Some((truth, instant))) = (result.verdict, out.verdict) {
                result.verdict = Some(Verdict { truth, instant, monitor: *id });
            }
        }
        Ok(result)
    }

    fn save(&self) -> Result<Vec<u8>, WireError> {
        pack(&self.0)
    }

    fn monitor_components(&self) -> Vec<(MonitorId, ComponentId)> {
        self.0.iter().map(|assigned| (assigned.id, assigned.component)).collect()
    }
}

/// Encodes a value as postcard.
pub(crate) fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>, WireError> {
    postcard::to_stdvec(value).map_err(|_| WireError::Malformed)
}
