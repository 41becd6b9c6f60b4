//! Synchronization of rounds: when a node may continue, and what it requests again.
//!
//! A node that has run round `r` runs `r + 1` when it has the [`RoundBundle`] of round `r` of every node, including its
//! own. This implies:
//!
//! - No node is more than one round ahead: a node that ran `r + 1` had this node's bundle of `r`. So only bundles of
//!   `r` and `r + 1` can be new; older ones are duplicates, later ones are invalid. This bounds the storage for bundles
//!   of others.
//!
//! - No node is more than one round behind: this node has every bundle of `r - 1`, so every node had its bundle of
//!   `r - 2`. So a node keeps its own bundles of `r - 1` and `r`, and no acknowledgements are needed: a bundle of a
//!   round acknowledges the round before.
//!
//! - Time, number and order of deliveries do not matter. A missing bundle is requested until it arrives.
//! - A node that restarts with the state of a round it has published continues as if it had only been slow.
//!
//! All nodes process the same bundles of a round and reach the same end: a verdict, that of the monitor with the
//! smallest id if there are several, or traces that have been over for some rounds.

use crate::wire::{MonitorMessage, RoundBundle, Verdict};
use invigil_decent::simulate::SimulationResult;
use invigil_decent::system::Instant;
use invigil_ltl::moore::Truth;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Time before a missing bundle is first requested, and maximum time between requests.
pub const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];

/// Output of a node's monitors in a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundResult {
    /// Messages in the order of the sending monitors.
    pub messages: Vec<MonitorMessage>,
    /// Verdict of the first monitor that reached one.
    pub verdict: Option<Verdict>,
    /// Whether all traces of the node have ended.
    pub is_over: bool,
}

/// Rounds of a run from the view of one node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rounds {
    own: usize,
    /// Rounds to continue after the end of all traces.
    grace: u32,
    /// Last round that was run, or 0.
    round: Instant,
    /// Number of rounds without observations on any node.
    silent_rounds: u32,
    peers: Vec<PeerState>,
    end: Option<RunEnd>,
}

/// State of a node, which may be this one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct PeerState {
    /// Its bundles of the last and of the next round.
    received: [Option<RoundBundle>; 2],
    /// Bundles for it, of the last round but one and of the last round.
    sent: [Option<RoundBundle>; 2],
    /// Time of the next request, and the delay after it.
    #[serde(skip)]
    next_request: Option<(Duration, Duration)>,
}

/// End of a run. All nodes reach the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The verdict; `None` if the traces ended without one.
    pub verdict: Option<Verdict>,
    /// Number of rounds.
    pub rounds: Instant,
}

impl From<RunEnd> for SimulationResult {
    fn from(end: RunEnd) -> SimulationResult {
        SimulationResult {
            verdict: end.verdict.map_or(Truth::Unknown, |verdict| verdict.truth),
            verdict_origin: end.verdict.map(|verdict| (verdict.instant, verdict.monitor)),
            rounds: end.rounds,
        }
    }
}

/// Effect of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveOutcome {
    /// It was missing.
    New,
    /// It was received before, or is no longer needed.
    Duplicate,
}

/// Invalid bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleError {
    /// No node can have reached this round.
    TooFarAhead {
        /// Round of the bundle.
        round: Instant,
        /// Round of this node.
        own: Instant,
    },
    /// There is no such node, or it is this one.
    UnknownSender(usize),
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BundleError::TooFarAhead { round, own } => {
                write!(
                    f,
                    "the bundle is of round {round}, which is impossible while this node is in round {own}; \
                     if this machine has crashed and lost its last saved state, stop the run"
                )
            }
            BundleError::UnknownSender(node) => write!(f, "the bundle cannot be from node {node} of the run"),
        }
    }
}

impl std::error::Error for BundleError {}

impl Rounds {
    /// Creates the state before the first round. `grace` is at least one: the end of all traces is known only when all
    /// nodes have reported it.
    pub fn new(own: usize, nodes: usize, grace: u32) -> Rounds {
        let peers = vec![PeerState::default(); nodes.max(own + 1)];
        Rounds { own, grace: grace.max(1), round: 0, silent_rounds: 0, peers, end: None }
    }

    /// Returns the index of this node and the number of nodes.
    pub fn nodes(&self) -> (usize, usize) {
        (self.own, self.peers.len())
    }

    /// Returns the last round that was run.
    pub fn round(&self) -> Instant {
        self.round
    }

    /// Returns the end of the run, if it has ended.
    pub fn end(&self) -> Option<RunEnd> {
        self.end
    }

    /// Returns the other nodes.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.own;
        (0..self.peers.len()).filter(move |node| *node != own)
    }

    /// Returns the nodes whose bundle of the last round is missing.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        let is_waiting = self.round > 0 && self.end.is_none();
        self.others().filter(move |node| is_waiting && self.peers[*node].received[0].is_none())
    }

    /// Returns whether the next round can be run.
    pub fn is_due(&self) -> bool {
        self.end.is_none() && self.missing().next().is_none()
    }

    /// Runs the next round if it is due. `run_round` receives its number and the messages for this node's monitors in
    /// the simulator's order; `node_of` returns the node of a message's receiver. Returns whether the round was run.
    ///
    /// # Errors
    /// Fails if `run_round` fails; the state is unusable afterwards.
    pub fn advance<E>(
        &mut self,
        node_of: impl Fn(&MonitorMessage) -> Option<usize>,
        run_round: impl FnOnce(Instant, Vec<MonitorMessage>) -> Result<RoundResult, E>,
    ) -> Result<bool, E> {
        if !self.is_due() {
            return Ok(false);
        }
        let mut messages: Vec<MonitorMessage> = Vec::new();
        for peer in &mut self.peers {
            let [last, next] = &mut peer.received;
            messages.extend(last.take().into_iter().flat_map(|bundle| bundle.messages));
            *last = next.take();
            peer.next_request = None;
        }
        messages.sort_by_key(|message| message.from);
        let round = self.round + 1;
        let result = run_round(round, messages)?;
        self.round = round;
        let RoundResult { messages, verdict, is_over } = result;
        for peer in &mut self.peers {
            peer.sent.swap(0, 1);
            peer.sent[1] = Some(RoundBundle { round, messages: Vec::new(), verdict, is_over });
        }
        for message in messages {
            let receiver = node_of(&message).and_then(|node| self.peers.get_mut(node));
            if let Some(PeerState { sent: [_, Some(bundle)], .. }) = receiver {
                bundle.messages.push(message);
            }
        }
        let own = &mut self.peers[self.own];
        own.received[0] = own.sent[1].take();
        self.check_end();
        Ok(true)
    }

    /// Processes a bundle from a node.
    ///
    /// # Errors
    /// Fails if the bundle is invalid.
    pub fn receive(&mut self, from: usize, bundle: RoundBundle) -> Result<ReceiveOutcome, BundleError> {
        if from == self.own || from >= self.peers.len() {
            return Err(BundleError::UnknownSender(from));
        }
        let offset = match bundle.round.checked_sub(self.round) {
            None => return Ok(ReceiveOutcome::Duplicate),
            // There are no bundles of round 0.
            Some(0) if self.round == 0 => return Ok(ReceiveOutcome::Duplicate),
            Some(offset @ (0 | 1)) => offset as usize,
            Some(_) => return Err(BundleError::TooFarAhead { round: bundle.round, own: self.round }),
        };
        let slot = &mut self.peers[from].received[offset];
        if slot.is_some() || self.end.is_some() {
            return Ok(ReceiveOutcome::Duplicate);
        }
        *slot = Some(bundle);
        if offset == 0 {
            self.check_end();
        }
        Ok(ReceiveOutcome::New)
    }

    /// Returns the bundle of a round for a node, if it is still needed.
    pub fn bundle(&self, to: usize, round: Instant) -> Option<&RoundBundle> {
        self.peers.get(to)?.sent.iter().flatten().find(|bundle| bundle.round == round)
    }

    /// Returns the nodes to request the bundle of the last round from, and schedules the next requests. `now` is
    /// relative to any fixed time.
    pub fn nodes_to_request(&mut self, now: Duration) -> Vec<usize> {
        let mut nodes: Vec<usize> = self.missing().collect();
        let [first, max] = RETRY_DELAYS;
        // Nodes that started earlier have sent their first bundle before this node knew the run.
        let start = if self.round == 1 { (now, first / 2) } else { (now + first, first) };
        nodes.retain(|node| {
            let (at, wait) = self.peers[*node].next_request.get_or_insert(start);
            let is_time = now >= *at;
            if is_time {
                *wait = (*wait * 2).min(max);
                *at = now + *wait;
            }
            is_time
        });
        nodes
    }

    /// Schedules an immediate request to a node that is back.
    pub fn retry_now(&mut self, node: usize) {
        if let Some(peer) = self.peers.get_mut(node) {
            peer.next_request = Some((Duration::ZERO, RETRY_DELAYS[0]));
        }
    }

    /// Checks for the end of the run once all bundles of the last round are present.
    fn check_end(&mut self) {
        if self.round == 0 || !self.is_due() {
            return;
        }
        let bundles = self.peers.iter().filter_map(|peer| peer.received[0].as_ref());
        let verdict =
            bundles.clone().filter_map(|bundle| bundle.verdict).min_by_key(|verdict| verdict.monitor);
        self.silent_rounds =
            if bundles.clone().all(|bundle| bundle.is_over) { self.silent_rounds + 1 } else { 0 };
        if verdict.is_some() || self.silent_rounds >= self.grace {
            self.end = Some(RunEnd { verdict, rounds: self.round });
        }
    }
}
