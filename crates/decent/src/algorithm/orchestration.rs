//! Orchestration [EH18 §8.1]: one monitor runs the whole automaton; the others send it the observations of their
//! components.
//!
//! A state is known as soon as the slowest message of its instant has arrived, so the delay is the latency. Every other
//! component sends one message per round.

use super::core::MonitorCore;
use super::{Monitor, NameLengths, Outbox, Placed, Round, SetupError, setup};
use crate::automaton::Machine;
use crate::encoding::Encoding;
use crate::memory::Atom;
use crate::system::{Instant, MonitorId, PropositionId, System};
use serde::{Deserialize, Serialize};

/// Monitor of an orchestration.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct OrchestrationMonitor<E>(Role<E>);

#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
enum Role<E> {
    Main(Box<MonitorCore<E>>),
    Forwarder,
}

/// Observations of a component at an instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationMessage {
    /// The instant.
    pub at: Instant,
    /// The values.
    pub seen: Vec<(PropositionId, bool)>,
}

/// Creates the main monitor on the first component and a forwarding monitor on each other one.
///
/// # Errors
/// Fails if the system has no components.
pub fn setup<E: Encoding>(
    machine: &Machine,
    system: &System,
) -> Result<Vec<Placed<OrchestrationMonitor<E>>>, SetupError> {
    let main = setup::first_component(system)?;
    let role = |at| {
        if at == main { Role::Main(Box::new(MonitorCore::new(machine.clone()))) } else { Role::Forwarder }
    };
    Ok(system.components().map(|at| Placed { at, monitor: OrchestrationMonitor(role(at)) }).collect())
}

impl<E: Encoding> Monitor for OrchestrationMonitor<E> {
    type Message = ObservationMessage;

    fn round(
        &mut self,
        round: Round<'_>,
        inbox: &mut Vec<ObservationMessage>,
        out: &mut Outbox<ObservationMessage>,
    ) {
        match &mut self.0 {
            Role::Main(core) => {
                if let Some(seen) = round.seen {
                    core.record(round.at, round.at, seen);
                }
                for message in inbox.drain(..) {
                    core.record(message.at, round.at, &message.seen);
                }
                // Without observations, the run has not started or has ended.
                if !core.memory.is_empty() {
                    core.conclude(round.at, &[], out);
                    // The history contains everything up to its end; later observations stay in the memory.
                    core.memory.forget_before(core.history.end() + 1);
                }
            }
            Role::Forwarder => {
                inbox.clear();
                if let Some(seen) = round.seen.filter(|seen| !seen.is_empty()) {
                    out.send(MonitorId(0), ObservationMessage { at: round.at, seen: seen.to_vec() });
                }
            }
        }
    }

    fn message_size(&self, message: &ObservationMessage, names: &NameLengths) -> usize {
        message
            .seen
            .iter()
            .map(|(proposition, value)| 4 + names.length(*proposition) + usize::from(!value))
            .sum()
    }

    fn stored_values(&self) -> usize {
        match &self.0 {
            Role::Main(core) => core.stored_values(),
            Role::Forwarder => 0,
        }
    }
}

impl<E: Encoding> MonitorCore<E> {
    fn record(&mut self, at: Instant, now: Instant, seen: &[(PropositionId, bool)]) {
        self.reach(at.min(now));
        for (proposition, value) in seen {
            self.observe(at, Atom::Observed(*proposition), *value);
        }
    }
}
