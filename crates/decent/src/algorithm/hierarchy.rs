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

use super::{Monitor, Names, NoSetup, Outbox, Placed, Round};
use crate::automaton::Machine;
use crate::encoding::Encoding;
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
    /// The instant that the next verdict is about.
    from: Instant,
    history: E,
    /// What was learned since the history was last looked at.
    fresh: Memory,
    /// What verdicts about later instants may need. The root says only one.
    memory: Memory,
    /// The last instant at which the component could observe something.
    latest: Instant,
}

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
            history: E::new(&machine, 0),
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
            let holds = truth == Truth::True;
            if self.is_watched {
                out.said.push((self.from, holds));
            }
            for listener in &self.listeners {
                out.send(*listener, Told::Verdict { of: self.own, at: self.from, holds });
            }
            self.history.reset(&self.machine, self.from);
            self.from += 1;
            self.memory.forget_before(self.from);
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
        self.history.extend(&self.machine, self.latest);
        let memory = if is_new { &self.memory } else { &self.fresh };
        self.history.learn(&self.machine, memory, &mut out.work);
        let verdict = self.history.verdict();
        if self.is_root {
            if let Some(found) = self.history.resolved() {
                out.delays.add_all(known, found.at, now);
            }
        } else if verdict.is_some() {
            // A verdict is one thing that becomes known; what was kept for it goes back to where it began.
            out.delays.add(now.saturating_sub(self.from.saturating_sub(1)));
        }
        if verdict.is_none() {
            self.history.drop_resolved();
        }
        verdict
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
