//! Hierarchies: monitors that refer to each other. Each decides for one instant after the other whether its property
//! holds from there on, and sends the verdict to the monitors that refer to it.
//!
//! This is how every [`Network`] runs. The root decides once, from the first instant. A monitor that has stopped
//! notifies those it refers to (if links allow); a monitor that no other needs stops, too.
//!
//! [Reporting](setup_reporting) monitors never stop; their verdict for every instant is in
//! [`Outbox::instant_verdicts`].
//!
//! Verdicts may be late, duplicated or reordered. A lost verdict stays missing, as in [EH18 §8.1].
//!
//! Observations are kept until all verdicts that may need them are known. A property that holds forever (`G ok`) has no
//! verdict and would keep all of them. But runs in the same state have the same future: a monitor that has waited for
//! long checks whether the run from the next instant has reached the same state as its current run. If so, it drops
//! the observations that only the later run needed, and the eventual verdict counts for both.

use super::{Monitor, NameLengths, Outbox, Placed, Round, SetupError};
use crate::automaton::Machine;
use crate::encoding::{Encoding, WorkCounters};
use crate::memory::{Atom, Memory};
use crate::network::Network;
use crate::system::{Instant, MonitorId};
use invigil_ltl::moore::Truth;
use serde::{Deserialize, Serialize};

/// Monitor of a network.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct HierarchyMonitor<E> {
    id: MonitorId,
    machine: Machine,
    /// Monitors that refer to this one and still need it.
    listeners: Vec<MonitorId>,
    /// Monitors that this one refers to.
    sources: Vec<MonitorId>,
    /// Whether its verdict is the verdict of the network.
    is_root: bool,
    /// Whether it reports its verdict for every instant.
    is_reporting: bool,
    /// Whether no other monitor needs it any longer.
    is_stopped: bool,
    /// First and last instant that the next verdict is for: the runs from these instants have reached the same state.
    from: Instant,
    last: Instant,
    history: E,
    /// Scratch history for the run from the instant after `last`.
    ahead: E,
    /// Number of instants to wait before looking ahead.
    look_ahead_delay: u32,
    /// Observations that are not yet in the history.
    fresh: Memory,
    /// Observations that verdicts for later instants may need. Empty for the root, which decides once.
    memory: Memory,
    /// Last instant at which the component could observe.
    latest: Instant,
}

/// Number of instants that a monitor waits before it first looks ahead.
const INITIAL_LOOK_AHEAD_DELAY: u32 = 8;

/// Number of instants processed first when many are pending: a verdict may need no more.
const FIRST_BATCH: u32 = 32;

/// Message between monitors of a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerdictMessage {
    /// Whether the sender's property holds from an instant on.
    Verdict {
        /// The sender.
        of: MonitorId,
        /// The instant.
        at: Instant,
        /// Whether it holds.
        holds: bool,
    },
    /// The sender does not need the receiver any longer (`msg_kill` of [EH18 §8.1]).
    NotNeeded {
        /// The sender.
        by: MonitorId,
    },
}

/// Creates the monitors of a network, in its order.
///
/// # Errors
/// Fails if an automaton is invalid.
pub fn setup<E: Encoding>(network: &Network) -> Result<Vec<Placed<HierarchyMonitor<E>>>, SetupError> {
    build(network, Some(network.root), &[])
}

/// Creates the monitors of a network, in its order. The given ones report their verdict for every instant; there is no
/// root whose verdict ends the run.
///
/// # Errors
/// Fails if an automaton is invalid.
pub fn setup_reporting<E: Encoding>(
    network: &Network,
    reporting: &[MonitorId],
) -> Result<Vec<Placed<HierarchyMonitor<E>>>, SetupError> {
    build(network, None, reporting)
}

fn build<E: Encoding>(
    network: &Network,
    root: Option<MonitorId>,
    reporting: &[MonitorId],
) -> Result<Vec<Placed<HierarchyMonitor<E>>>, SetupError> {
    let count = u32::try_from(network.monitors.len()).map_err(|_| SetupError::TooManyMonitors)?;
    let ids = || (0..count).map(MonitorId);
    let sources: Vec<Vec<MonitorId>> = ids().map(|id| network.references(id)).collect();
    let mut placed = Vec::with_capacity(network.monitors.len());
    for (id, part) in ids().zip(&network.monitors) {
        let machine = Machine::new(part.automaton.clone())?;
        let monitor = HierarchyMonitor {
            id,
            listeners: ids().filter(|other| sources[other.index()].contains(&id)).collect(),
            sources: sources[id.index()].clone(),
            is_root: Some(id) == root,
            is_reporting: reporting.contains(&id),
            is_stopped: false,
            from: 1,
            last: 1,
            history: E::new(&machine, 0),
            ahead: E::new(&machine, 0),
            look_ahead_delay: INITIAL_LOOK_AHEAD_DELAY,
            machine,
            fresh: Memory::default(),
            memory: Memory::default(),
            latest: 0,
        };
        placed.push(Placed { at: part.at, monitor });
    }
    Ok(placed)
}

impl<E: Encoding> Monitor for HierarchyMonitor<E> {
    type Message = VerdictMessage;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<VerdictMessage>, out: &mut Outbox<VerdictMessage>) {
        if self.is_stopped {
            return inbox.clear();
        }
        if let Some(seen) = round.seen {
            self.latest = round.at;
            for (proposition, value) in seen {
                self.learn(round.at, Atom::Observed(*proposition), *value);
            }
        }
        for message in inbox.drain(..) {
            match message {
                VerdictMessage::Verdict { of, at, holds } => self.learn(at, Atom::Verdict(of), holds),
                VerdictMessage::NotNeeded { by } => self.listeners.retain(|listener| *listener != by),
            }
        }
        if self.listeners.is_empty() && !self.is_root && !self.is_reporting {
            return self.stop(out);
        }
        let mut is_new_run = false;
        while self.from <= self.latest && !self.is_stopped {
            let Some((truth, at)) = self.conclude(round.at, is_new_run, out) else { break };
            if self.is_root {
                out.verdict = Some((truth, at));
                return self.stop(out);
            }
            self.report_verdict(truth == Truth::True, round.at, out);
            is_new_run = true;
        }
        // Observations of later instants stay pending.
        self.fresh.forget_before(self.latest + 1);
    }

    fn message_size(&self, message: &VerdictMessage, _: &NameLengths) -> usize {
        match message {
            VerdictMessage::Verdict { .. } => 9,
            VerdictMessage::NotNeeded { .. } => 4,
        }
    }

    /// Verdicts follow links; `NotNeeded` goes the opposite way, where there may be no link.
    fn is_optional(&self, message: &VerdictMessage) -> bool {
        matches!(message, VerdictMessage::NotNeeded { .. })
    }

    fn stored_values(&self) -> usize {
        self.memory.len() + self.fresh.len() + (self.history.end() - self.history.start()) as usize
    }
}

impl<E: Encoding> HierarchyMonitor<E> {
    /// Stores a value that a pending verdict may need.
    fn learn(&mut self, at: Instant, atom: Atom, value: bool) {
        if self.machine.atoms().binary_search(&atom).is_err() || at < self.from {
            return;
        }
        self.fresh.learn(at, atom, value);
        if !self.is_root {
            self.memory.learn(at, atom, value);
        }
    }

    /// Extends the run that starts at `from`: with all stored values if it is a new run, otherwise with the pending
    /// ones.
    fn conclude<M>(
        &mut self,
        now: Instant,
        is_new_run: bool,
        out: &mut Outbox<M>,
    ) -> Option<(Truth, Instant)> {
        let previous = self.history.start();
        let mut batch = if is_new_run { FIRST_BATCH } else { self.latest };
        loop {
            let to = self.latest.min(self.last.saturating_add(batch));
            self.history.extend_as_needed(&self.machine, to);
            let memory = if is_new_run { &self.memory } else { &self.fresh };
            self.history.learn(&self.machine, memory, &mut out.work);
            if to == self.latest || self.history.verdict().is_some() {
                break;
            }
            batch = batch.saturating_mul(2);
        }
        if let (true, Some(found)) = (self.is_root, self.history.resolved()) {
            out.delays.add_all(previous, found.at, now);
        }
        let verdict = self.history.verdict();
        if verdict.is_none() {
            self.history.drop_resolved();
            self.look_ahead();
        }
        verdict
    }

    /// Sends the verdict for the pending instants to all listeners and starts with the next instant.
    fn report_verdict(&mut self, holds: bool, now: Instant, out: &mut Outbox<VerdictMessage>) {
        for at in self.from..=self.last {
            // The delay of a verdict counts from the start of its run.
            out.delays.add(now.saturating_sub(at.saturating_sub(1)));
            if self.is_reporting {
                out.instant_verdicts.push((at, holds));
            }
            for listener in &self.listeners {
                out.send(*listener, VerdictMessage::Verdict { of: self.id, at, holds });
            }
        }
        self.history.reset(&self.machine, self.last);
        self.from = self.last + 1;
        self.last = self.from;
        self.memory.forget_before(self.from);
    }

    /// Checks whether runs that start later have reached the same state. This saves memory and finds no verdicts, so it
    /// is not counted as work.
    fn look_ahead(&mut self) {
        while !self.is_root && self.latest - self.last > self.look_ahead_delay {
            self.ahead.reset(&self.machine, self.last);
            self.ahead.extend_as_needed(&self.machine, self.latest);
            self.ahead.learn(&self.machine, &self.memory, &mut WorkCounters::default());
            self.ahead.drop_resolved();
            let at = self.history.start();
            let is_same = self.ahead.start() == at
                && self.ahead.verdict().is_none()
                && self.history.state(at).is_some()
                && self.history.state(at) == self.ahead.state(at);
            if !is_same {
                // Some automata never return to the same state: the check becomes exponentially rarer.
                self.look_ahead_delay = self.look_ahead_delay.saturating_mul(2);
                return;
            }
            self.last += 1;
            self.memory.forget_before(self.last + 1);
        }
    }

    /// Stops the monitor, and those that only it needs.
    fn stop(&mut self, out: &mut Outbox<VerdictMessage>) {
        self.is_stopped = true;
        for source in &self.sources {
            out.send(*source, VerdictMessage::NotNeeded { by: self.id });
        }
        self.memory.clear();
        self.fresh.clear();
    }
}
