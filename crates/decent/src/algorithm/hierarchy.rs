//! Monitors that refer to each other: each says again and again, for one instant after the other, whether what it is about holds
//! from there on, and tells those that refer to it.
//!
//! This is how a [`Network`] runs, wherever it comes from. The root says once what holds from the beginning. When it is done it
//! tells the monitors it refers to that it needs them no more, where links lead there; one that nobody needs stops, and passes that on.
//!
//! Some monitors may be [watched](watch) instead: they go on to the end, and what they say of every instant is in
//! [`Outbox::said`].
//!
//! Verdicts may come late, twice and in another order. One that is lost is missing for ever, as it is in the document.
//!
//! What was observed is kept until all verdicts that may need it are known. Something that goes on well for ever (`G ok`) has
//! no verdict, and would keep everything. But two runs that are in the same state say the same from then on; so a monitor that
//! has waited for long looks whether the run from the next instant has come to where its own is, and if so forgets what only
//! that one would have needed. When there is a verdict, it is that of all of them.

use super::{Monitor, Names, NoSetup, Outbox, Placed, Round};
use crate::automaton::Machine;
use crate::encoding::{Encoding, Work};
use crate::memory::{Atom, Memory};
use crate::network::Network;
use crate::system::{Instant, MonitorId};
use invigil_ltl::moore::Truth;
use serde::{Deserialize, Serialize};

/// A monitor of a network.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct Member<E> {
    own: MonitorId,
    machine: Machine,
    /// Those that refer to this one and still need it.
    listeners: Vec<MonitorId>,
    /// Those that it refers to.
    sources: Vec<MonitorId>,
    /// Whether its verdict is that of the whole.
    is_root: bool,
    /// Whether somebody wants to know what it says of every instant.
    is_watched: bool,
    /// Whether nobody needs it any more.
    is_over: bool,
    /// The instants that the next verdict is about, from the first to the last: what holds from one of them on holds from all.
    from: Instant,
    last: Instant,
    history: E,
    /// The run from the instant after the last, when it is looked at.
    ahead: E,
    /// How many instants it waits before it looks.
    patience: u32,
    /// What was learned since the history was last looked at.
    fresh: Memory,
    /// What verdicts about later instants may need. The root says only one.
    memory: Memory,
    /// The last instant at which the component could observe something.
    latest: Instant,
}

/// How many instants a monitor waits at first before it looks whether later runs say the same.
const PATIENCE: u32 = 8;

/// Where much is known that was not yet looked at, so many instants are looked at first: a verdict may need no more.
const FEW: u32 = 32;

/// What members tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// Whether something holds from an instant on.
    Verdict {
        /// Who says it.
        of: MonitorId,
        /// From when on.
        at: Instant,
        /// Whether it holds.
        holds: bool,
    },
    /// It is not needed any more.
    Done {
        /// By whom.
        by: MonitorId,
    },
}

/// The monitors of a network, in its order.
///
/// # Errors
/// If an automaton cannot run.
pub fn setup<E: Encoding>(network: &Network) -> Result<Vec<Placed<Member<E>>>, NoSetup> {
    members(network, Some(network.root), &[])
}

/// The monitors of a network, in its order, of which some are watched. There is no root whose verdict ends the run.
///
/// # Errors
/// If an automaton cannot run.
pub fn watch<E: Encoding>(
    network: &Network,
    watched: &[MonitorId],
) -> Result<Vec<Placed<Member<E>>>, NoSetup> {
    members(network, None, watched)
}

fn members<E: Encoding>(
    network: &Network,
    root: Option<MonitorId>,
    watched: &[MonitorId],
) -> Result<Vec<Placed<Member<E>>>, NoSetup> {
    let count = u32::try_from(network.parts.len()).map_err(|_| NoSetup::TooMany)?;
    let ids = || (0..count).map(MonitorId);
    let sources: Vec<Vec<MonitorId>> = ids().map(|id| network.references(id)).collect();
    let mut placed = Vec::with_capacity(network.parts.len());
    for (own, part) in ids().zip(&network.parts) {
        let machine = Machine::new(part.automaton.clone())?;
        let monitor = Member {
            own,
            listeners: ids().filter(|other| sources[other.index()].contains(&own)).collect(),
            sources: sources[own.index()].clone(),
            is_root: Some(own) == root,
            is_watched: watched.contains(&own),
            is_over: false,
            from: 1,
            last: 1,
            history: E::new(&machine, 0),
            ahead: E::new(&machine, 0),
            patience: PATIENCE,
            machine,
            fresh: Memory::default(),
            memory: Memory::default(),
            latest: 0,
        };
        placed.push(Placed { at: part.at, monitor });
    }
    Ok(placed)
}

impl<E: Encoding> Monitor for Member<E> {
    type Message = Told;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<Told>, out: &mut Outbox<Told>) {
        if self.is_over {
            return inbox.clear();
        }
        if let Some(seen) = round.seen {
            self.latest = round.at;
            for (known, value) in seen {
                self.learn(round.at, Atom::Observed(*known), *value);
            }
        }
        for told in inbox.drain(..) {
            match told {
                Told::Verdict { of, at, holds } => self.learn(at, Atom::Verdict(of), holds),
                Told::Done { by } => self.listeners.retain(|listener| *listener != by),
            }
        }
        if self.listeners.is_empty() && !self.is_root && !self.is_watched {
            return self.stop(out);
        }
        let mut is_again = false;
        while self.from <= self.latest && !self.is_over {
            let Some((truth, at)) = self.conclude(round.at, is_again, out) else { break };
            if self.is_root {
                out.verdict = Some((truth, at));
                return self.stop(out);
            }
            self.tell(truth == Truth::True, round.at, out);
            is_again = true;
        }
        // What came too early is still to be looked at.
        self.fresh.forget_before(self.latest + 1);
    }

    fn size(&self, message: &Told, _: &Names) -> usize {
        match message {
            Told::Verdict { .. } => 9,
            Told::Done { .. } => 4,
        }
    }

    /// Verdicts go along links; that they are not needed any more goes back, where there may be none.
    fn can_be_spared(&self, message: &Told) -> bool {
        matches!(message, Told::Done { .. })
    }

    fn kept(&self) -> usize {
        self.memory.len() + self.fresh.len() + (self.history.end() - self.history.start()) as usize
    }
}

impl<E: Encoding> Member<E> {
    /// Notes something of which a verdict that is still to come may speak.
    fn learn(&mut self, at: Instant, atom: Atom, value: bool) {
        if self.machine.atoms().binary_search(&atom).is_err() || at < self.from {
            return;
        }
        self.fresh.learn(at, atom, value);
        if !self.is_root {
            self.memory.learn(at, atom, value);
        }
    }

    /// Draws conclusions about the run from `from` on: from all that is remembered if it begins, else from what is new.
    fn conclude<M>(&mut self, now: Instant, is_new: bool, out: &mut Outbox<M>) -> Option<(Truth, Instant)> {
        let known = self.history.start();
        let mut few = if is_new { FEW } else { self.latest };
        loop {
            let to = self.latest.min(self.last.saturating_add(few));
            self.history.extend_as_needed(&self.machine, to);
            let memory = if is_new { &self.memory } else { &self.fresh };
            self.history.learn(&self.machine, memory, &mut out.work);
            if to == self.latest || self.history.verdict().is_some() {
                break;
            }
            few = few.saturating_mul(2);
        }
        if let (true, Some(found)) = (self.is_root, self.history.resolved()) {
            out.delays.add_all(known, found.at, now);
        }
        let verdict = self.history.verdict();
        if verdict.is_none() {
            self.history.drop_resolved();
            self.look_ahead();
        }
        verdict
    }

    /// Tells everybody what holds from the instants that are waited for, and waits for the next.
    fn tell(&mut self, holds: bool, now: Instant, out: &mut Outbox<Told>) {
        for at in self.from..=self.last {
            // A verdict is one thing that becomes known; what was kept for it goes back to where it began.
            out.delays.add(now.saturating_sub(at.saturating_sub(1)));
            if self.is_watched {
                out.said.push((at, holds));
            }
            for listener in &self.listeners {
                out.send(*listener, Told::Verdict { of: self.own, at, holds });
            }
        }
        self.history.reset(&self.machine, self.last);
        self.from = self.last + 1;
        self.last = self.from;
        self.memory.forget_before(self.from);
    }

    /// Looks whether runs that begin later have come to the same state. This is about what is kept, not about what is found out, so
    /// it does not count as work.
    fn look_ahead(&mut self) {
        while !self.is_root && self.latest - self.last > self.patience {
            self.ahead.reset(&self.machine, self.last);
            self.ahead.extend_as_needed(&self.machine, self.latest);
            self.ahead.learn(&self.machine, &self.memory, &mut Work::default());
            self.ahead.drop_resolved();
            let at = self.history.start();
            let is_same = self.ahead.start() == at
                && self.ahead.verdict().is_none()
                && self.history.state(at).is_some()
                && self.history.state(at) == self.ahead.state(at);
            if !is_same {
                // Not every automaton comes to the same state again: it is asked more and more seldom.
                self.patience = self.patience.saturating_mul(2);
                return;
            }
            self.last += 1;
            self.memory.forget_before(self.last + 1);
        }
    }

    /// Nobody needs it any more, nor what it refers to.
    fn stop(&mut self, out: &mut Outbox<Told>) {
        self.is_over = true;
        for source in &self.sources {
            out.send(*source, Told::Done { by: self.own });
        }
        self.memory.clear();
        self.fresh.clear();
    }
}
