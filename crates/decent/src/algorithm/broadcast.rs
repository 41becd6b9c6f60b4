//! Broadcast of shared histories: every monitor runs the whole automaton and sends its history to all others.
//!
//! Any monitor can reach the verdict, so the run tolerates the failure of a component. Histories are merged in any
//! order and converge. The price is a history to every other monitor in each round in which the knowledge has changed.
//!
//! With [`States`](crate::encoding::States) the delay is that of orchestration. Merging expressions [EH18 §5] loses
//! which states are impossible: a state that one monitor has ruled out becomes possible again. Some states then never
//! become known, and the expressions grow. Both encodings are sound.

use super::core::MonitorCore;
use super::{Monitor, NameLengths, Outbox, Placed, Round, SetupError, setup};
use crate::automaton::Machine;
use crate::encoding::{Encoding, KnownState};
use crate::memory::{Atom, Obligation};
use crate::system::{MonitorId, System};
use serde::{Deserialize, Serialize};

/// Monitor of a broadcast.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct BroadcastMonitor<E> {
    own: MonitorId,
    peers: u32,
    core: MonitorCore<E>,
    /// Knowledge at the time of the last broadcast.
    last_sent: BroadcastState,
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
struct BroadcastState {
    resolved: Option<KnownState>,
    open: Vec<Obligation>,
}

/// Creates a monitor on each component.
///
/// # Errors
/// Fails if the system has no components.
pub fn setup<E: Encoding>(
    machine: &Machine,
    system: &System,
) -> Result<Vec<Placed<BroadcastMonitor<E>>>, SetupError> {
    setup::first_component(system)?;
    let peers = system.components().len() as u32;
    let monitor = |own| BroadcastMonitor {
        own,
        peers,
        core: MonitorCore::new(machine.clone()),
        last_sent: BroadcastState::default(),
    };
    Ok(system.components().map(|at| Placed { at, monitor: monitor(MonitorId(u32::from(at.0))) }).collect())
}

impl<E: Encoding> Monitor for BroadcastMonitor<E> {
    type Message = E;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<E>, out: &mut Outbox<E>) {
        if let Some(seen) = round.seen {
            self.core.reach(round.at);
            for (proposition, value) in seen {
                self.core.observe(round.at, Atom::Observed(*proposition), *value);
            }
        }
        if round.seen.is_none() && inbox.is_empty() {
            return;
        }
        self.core.conclude(round.at, inbox, out);
        inbox.clear();
        let start = self.core.history.start();
        self.core.memory.forget_before(start + 1);
        if out.verdict.is_some() {
            return;
        }
        let history = &self.core.history;
        let current = BroadcastState {
            resolved: history.resolved(),
            open: history.open_obligations(&self.core.machine).collect(),
        };
        if current != self.last_sent {
            self.last_sent = current;
            for peer in (0..self.peers).map(MonitorId).filter(|peer| *peer != self.own) {
                out.send(peer, history.clone());
            }
        }
    }

    fn message_size(&self, message: &E, names: &NameLengths) -> usize {
        self.core.size(message, names)
    }

    fn stored_values(&self) -> usize {
        self.core.stored_values()
    }
}
