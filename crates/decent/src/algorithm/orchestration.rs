//! Orchestration: one monitor runs the whole automaton, the others send it what their components observe.
//!
//! A state is known as soon as the slowest message of its instant has come, so the delay is the latency. The messages are as
//! many as there are other components, in every round.

use super::centre::Centre;
use super::{Monitor, Names, NoSetup, Outbox, Placed, Round, setup};
use crate::automaton::Machine;
use crate::encoding::Encoding;
use crate::memory::Atom;
use crate::system::{Instant, MonitorId, PropositionId, System};
use serde::{Deserialize, Serialize};

/// A monitor of an orchestra.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct Orchestra<E>(Role<E>);

#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
enum Role<E> {
    Main(Box<Centre<E>>),
    Slave,
}

/// What a component observed at an instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// When.
    pub at: Instant,
    /// What.
    pub seen: Vec<(PropositionId, bool)>,
}

/// The main monitor on the first component, and one that sends on each other.
///
/// # Errors
/// If the system has no components.
pub fn setup<E: Encoding>(machine: &Machine, system: &System) -> Result<Vec<Placed<Orchestra<E>>>, NoSetup> {
    let main = setup::first(system)?;
    let role = |at| if at == main { Role::Main(Box::new(Centre::new(machine.clone()))) } else { Role::Slave };
    Ok(system.components().map(|at| Placed { at, monitor: Orchestra(role(at)) }).collect())
}

impl<E: Encoding> Monitor for Orchestra<E> {
    type Message = Observed;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<Observed>, out: &mut Outbox<Observed>) {
        match &mut self.0 {
            Role::Main(centre) => {
                if let Some(seen) = round.seen {
                    centre.note(round.at, round.at, seen);
                }
                for message in inbox.drain(..) {
                    centre.note(message.at, round.at, &message.seen);
                }
                // Nothing was observed: it is before the beginning, or after the end.
                if !centre.memory.is_empty() {
                    centre.conclude(round.at, &[], out);
                    // What is part of the history need not be remembered. What came too early must be.
                    centre.memory.forget_before(centre.history.end() + 1);
                }
            }
            Role::Slave => {
                inbox.clear();
                if let Some(seen) = round.seen.filter(|seen| !seen.is_empty()) {
                    out.send(MonitorId(0), Observed { at: round.at, seen: seen.to_vec() });
                }
            }
        }
    }

    fn size(&self, message: &Observed, names: &Names) -> usize {
        message.seen.iter().map(|(known, value)| 4 + names.length(*known) + usize::from(!value)).sum()
    }

    fn kept(&self) -> usize {
        match &self.0 {
            Role::Main(centre) => centre.kept(),
            Role::Slave => 0,
        }
    }
}

impl<E: Encoding> Centre<E> {
    fn note(&mut self, at: Instant, now: Instant, seen: &[(PropositionId, bool)]) {
        self.reach(at.min(now));
        for (known, value) in seen {
            self.observe(at, Atom::Observed(*known), *value);
        }
    }
}
