//! Broadcast of shared histories: every monitor runs the whole automaton, and tells all others what it knows.
//!
//! Whoever knows first says it, so one component may fail. Histories are joined in any order, so that all come to know the
//! same. It costs a history to everybody in every round.
//!
//! With [`States`](crate::encoding::States) that is as fast as orchestration. The document's expressions lose in a join what is
//! impossible: what one monitor has ruled out the other holds for possible again. Then some states are never known, and the
//! expressions grow. It is sound with both.

use super::centre::Centre;
use super::{Monitor, Names, NoSetup, Outbox, Placed, Round, setup};
use crate::automaton::Machine;
use crate::encoding::{Encoding, Resolved};
use crate::memory::{Atom, Obligation};
use crate::system::{MonitorId, System};
use serde::{Deserialize, Serialize};

/// A monitor that knows what all know.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct Peer<E> {
    own: MonitorId,
    peers: u32,
    centre: Centre<E>,
    /// What was known, and what was not, when it last told.
    told: Told,
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
struct Told {
    resolved: Option<Resolved>,
    open: Vec<Obligation>,
}

/// One on each component.
///
/// # Errors
/// If the system has no components.
pub fn setup<E: Encoding>(machine: &Machine, system: &System) -> Result<Vec<Placed<Peer<E>>>, NoSetup> {
    setup::first(system)?;
    let peers = system.components().len() as u32;
    let peer = |own| Peer { own, peers, centre: Centre::new(machine.clone()), told: Told::default() };
    Ok(system.components().map(|at| Placed { at, monitor: peer(MonitorId(u32::from(at.0))) }).collect())
}

impl<E: Encoding> Monitor for Peer<E> {
    type Message = E;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<E>, out: &mut Outbox<E>) {
        if let Some(seen) = round.seen {
            self.centre.reach(round.at);
            for (known, value) in seen {
                self.centre.observe(round.at, Atom::Observed(*known), *value);
            }
        }
        if round.seen.is_none() && inbox.is_empty() {
            return;
        }
        self.centre.conclude(round.at, inbox, out);
        inbox.clear();
        let start = self.centre.history.start();
        self.centre.memory.forget_before(start + 1);
        if out.verdict.is_some() {
            return;
        }
        let history = &self.centre.history;
        let told = Told { resolved: history.resolved(), open: history.open(&self.centre.machine).collect() };
        if told != self.told {
            self.told = told;
            for peer in (0..self.peers).map(MonitorId).filter(|peer| *peer != self.own) {
                out.send(peer, history.clone());
            }
        }
    }

    fn size(&self, message: &E, names: &Names) -> usize {
        self.centre.size(message, names)
    }

    fn kept(&self) -> usize {
        self.centre.kept()
    }
}
