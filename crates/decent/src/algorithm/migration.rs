//! Migration [EH18 §8.1]: histories travel to the components that can extend them.
//!
//! Every component has a monitor with a memory of its observations. Active monitors hold a history: they incorporate
//! their memory, check for a verdict and send the history on along the [`Route`]. A history in transit is stored
//! nowhere else, so this algorithm needs a network without loss. Messages may be late, duplicated or reordered: a
//! duplicate creates another active monitor, and two histories that meet are merged.

use super::core;
use super::{Monitor, NameLengths, Outbox, Placed, Round, SetupError, setup};
use crate::automaton::Machine;
use crate::encoding::Encoding;
use crate::memory::{Atom, Memory};
use crate::system::{Instant, MonitorId, System};
use serde::{Deserialize, Serialize};

/// Next destination of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Route {
    /// The component that observes the earliest missing value. The history stays if that is this component or
    /// nothing is missing.
    Earliest,
    /// The next component.
    RoundRobin,
}

/// Monitor that can hold a history.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct MigrationMonitor<E> {
    id: MonitorId,
    machine: Machine,
    route: Route,
    /// Monitor that observes each atom of the automaton.
    owners: Vec<MonitorId>,
    peers: u32,
    /// The history, if the monitor is active.
    history: Option<E>,
    memory: Memory,
    /// Last instant at which the component could observe.
    latest: Instant,
}

/// Creates a monitor on each component. `active` of them (at least one) hold a history: those that observe missing
/// values first, or the first ones.
///
/// # Errors
/// Fails if the system has no components.
pub fn setup<E: Encoding>(
    machine: &Machine,
    system: &System,
    route: Route,
    active: usize,
) -> Result<Vec<Placed<MigrationMonitor<E>>>, SetupError> {
    setup::first_component(system)?;
    let peers = system.components().len() as u32;
    let owner = |atom: &Atom| match atom {
        Atom::Observed(proposition) => MonitorId(u32::from(system.owner(*proposition).0)),
        Atom::Verdict(monitor) => *monitor,
    };
    let owners: Vec<MonitorId> = machine.atoms().iter().map(owner).collect();
    let first: Vec<MonitorId> = {
        let mut ahead = E::new(machine, 0);
        ahead.extend(machine, 1);
        let missing = ahead.open_obligations(machine).map(|open| owner(&open.atom));
        let all = (0..peers).map(MonitorId);
        let mut order: Vec<MonitorId> = Vec::new();
        for next in missing.filter(|_| route == Route::Earliest).chain(all) {
            if !order.contains(&next) {
                order.push(next);
            }
        }
        order.truncate(active.max(1));
        order
    };
    let monitor = |id| MigrationMonitor {
        id,
        machine: machine.clone(),
        route,
        owners: owners.clone(),
        peers,
        history: first.contains(&id).then(|| E::new(machine, 0)),
        memory: Memory::default(),
        latest: 0,
    };
    Ok(system.components().map(|at| Placed { at, monitor: monitor(MonitorId(u32::from(at.0))) }).collect())
}

impl<E: Encoding> Monitor for MigrationMonitor<E> {
    type Message = E;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<E>, out: &mut Outbox<E>) {
        if let Some(seen) = round.seen {
            self.latest = round.at;
            for (proposition, value) in seen {
                // Irrelevant values are dropped: without a visiting history they would be stored forever.
                let atom = Atom::Observed(*proposition);
                if self.machine.atoms().binary_search(&atom).is_ok() {
                    self.memory.learn(round.at, atom, *value);
                }
            }
        }
        for received in inbox.drain(..).filter(|history| history.fits(&self.machine)) {
            match &mut self.history {
                Some(history) => history.merge(&self.machine, &received, &mut out.work),
                none => *none = Some(received),
            }
        }
        let Some(mut history) = self.history.take() else { return };
        let previous = history.start();
        history.extend(&self.machine, self.latest);
        history.learn(&self.machine, &self.memory, &mut out.work);
        if let Some(found) = history.resolved() {
            out.delays.add_all(previous, found.at, round.at);
        }
        if let Some(found) = history.verdict() {
            out.verdict = Some(found);
            return;
        }
        history.drop_resolved();
        self.memory.forget_before(history.start() + 1);
        let next = self.next(&history);
        if next == self.id {
            self.history = Some(history);
        } else {
            out.send(next, history);
        }
    }

    fn message_size(&self, message: &E, names: &NameLengths) -> usize {
        core::size(message, &self.machine, names)
    }

    fn stored_values(&self) -> usize {
        let history = self.history.as_ref().map_or(0, |history| history.end() - history.start());
        self.memory.len() + history as usize
    }
}

impl<E: Encoding> MigrationMonitor<E> {
    fn next(&self, history: &E) -> MonitorId {
        match self.route {
            Route::RoundRobin => MonitorId(self.id.0.wrapping_add(1) % self.peers.max(1)),
            Route::Earliest => {
                let owner = |atom: &Atom| {
                    self.machine
                        .atoms()
                        .binary_search(atom)
                        .ok()
                        .and_then(|place| self.owners.get(place))
                        .copied()
                };
                // A value that is missing at its own component was never observed; waiting for it is useless.
                let mut missing =
                    history.open_obligations(&self.machine).filter_map(|open| owner(&open.atom));
                missing.find(|owner| *owner != self.id).unwrap_or(self.id)
            }
        }
    }
}
