//! Migration: what is known of the run travels to where more can be found out.
//!
//! Every component has a monitor with a memory of what it observed. Those that are active have a history; they fold in what
//! they remember, look for a verdict, and send the history to the component that [`Route`] says. A history in flight is
//! nowhere, so a lost message ends the journey: this algorithm needs a network that loses nothing. Messages may come late, twice
//! and in another order; one that comes twice makes another active monitor, and two that meet become one again.

use super::centre;
use super::{Monitor, Names, NoSetup, Outbox, Placed, Round, setup};
use crate::automaton::Machine;
use crate::encoding::Encoding;
use crate::memory::{Atom, Memory};
use crate::system::{Instant, MonitorId, System};
use serde::{Deserialize, Serialize};

/// Where a history goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Route {
    /// To the component that observes what has been missing for the longest time. It stays if that is here, or nothing is.
    Earliest,
    /// To the next component, always.
    RoundRobin,
}

/// A monitor to which a history can come.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct Migrant<E> {
    own: MonitorId,
    machine: Machine,
    route: Route,
    /// Who observes each atom of the automaton.
    owners: Vec<MonitorId>,
    peers: u32,
    /// Those of active monitors are here.
    history: Option<E>,
    memory: Memory,
    /// The last instant at which the component could observe something.
    latest: Instant,
}

/// A monitor on each component. At first `active` of them have a history, at least one: those that observe what is missing first,
/// or the first ones.
///
/// # Errors
/// If the system has no components.
pub fn setup<E: Encoding>(
    machine: &Machine,
    system: &System,
    route: Route,
    active: usize,
) -> Result<Vec<Placed<Migrant<E>>>, NoSetup> {
    setup::first(system)?;
    let peers = system.components().len() as u32;
    let owner = |atom: &Atom| match atom {
        Atom::Observed(known) => MonitorId(u32::from(system.owner(*known).0)),
        Atom::Verdict(monitor) => *monitor,
    };
    let owners: Vec<MonitorId> = machine.atoms().iter().map(owner).collect();
    let first: Vec<MonitorId> = {
        let mut ahead = E::new(machine, 0);
        ahead.extend(machine, 1);
        let wanted = ahead.open(machine).map(|open| owner(&open.atom));
        let all = (0..peers).map(MonitorId);
        let mut order: Vec<MonitorId> = Vec::new();
        for next in wanted.filter(|_| route == Route::Earliest).chain(all) {
            if !order.contains(&next) {
                order.push(next);
            }
        }
        order.truncate(active.max(1));
        order
    };
    let migrant = |own| Migrant {
        own,
        machine: machine.clone(),
        route,
        owners: owners.clone(),
        peers,
        history: first.contains(&own).then(|| E::new(machine, 0)),
        memory: Memory::default(),
        latest: 0,
    };
    Ok(system.components().map(|at| Placed { at, monitor: migrant(MonitorId(u32::from(at.0))) }).collect())
}

impl<E: Encoding> Monitor for Migrant<E> {
    type Message = E;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<E>, out: &mut Outbox<E>) {
        if let Some(seen) = round.seen {
            self.latest = round.at;
            for (known, value) in seen {
                // What no label speaks of would be kept for ever where no history comes by.
                let atom = Atom::Observed(*known);
                if self.machine.atoms().binary_search(&atom).is_ok() {
                    self.memory.learn(round.at, atom, *value);
                }
            }
        }
        for came in inbox.drain(..).filter(|came| came.fits(&self.machine)) {
            match &mut self.history {
                Some(own) => own.merge(&self.machine, &came, &mut out.work),
                none => *none = Some(came),
            }
        }
        let Some(mut history) = self.history.take() else { return };
        let known = history.start();
        history.extend(&self.machine, self.latest);
        history.learn(&self.machine, &self.memory, &mut out.work);
        if let Some(found) = history.resolved() {
            out.delays.add_all(known, found.at, round.at);
        }
        if let Some(found) = history.verdict() {
            out.verdict = Some(found);
            return;
        }
        history.drop_resolved();
        self.memory.forget_before(history.start() + 1);
        let next = self.next(&history);
        if next == self.own {
            self.history = Some(history);
        } else {
            out.send(next, history);
        }
    }

    fn size(&self, message: &E, names: &Names) -> usize {
        centre::size(message, &self.machine, names)
    }

    fn kept(&self) -> usize {
        let history = self.history.as_ref().map_or(0, |history| history.end() - history.start());
        self.memory.len() + history as usize
    }
}

impl<E: Encoding> Migrant<E> {
    fn next(&self, history: &E) -> MonitorId {
        match self.route {
            Route::RoundRobin => MonitorId(self.own.0.wrapping_add(1) % self.peers.max(1)),
            Route::Earliest => {
                let owner = |atom: &Atom| {
                    self.machine
                        .atoms()
                        .binary_search(atom)
                        .ok()
                        .and_then(|place| self.owners.get(place))
                        .copied()
                };
                // What is missing here was never observed: it is of no use to wait for it.
                let mut missing = history.open(&self.machine).filter_map(|open| owner(&open.atom));
                missing.find(|owner| *owner != self.own).unwrap_or(self.own)
            }
        }
    }
}
