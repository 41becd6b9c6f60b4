//! When a node may go on, and what it has to ask for again.
//!
//! A node has run round `r`. It runs `r + 1` when it has the [`Bundle`] of round `r` of every node, its own too. From that
//! everything else follows:
//!
//! - Nobody is more than one round ahead: who ran `r + 1` had our bundle of `r`. So of every peer only the bundles of `r` and
//!   `r + 1` can be new; older ones are duplicates, later ones are lies. That bounds what has to be kept of others.
//! - Nobody is more than one round behind: we have everybody's bundle of `r - 1`, so everybody had ours of `r - 2`. So a node keeps
//!   its own bundles of `r - 1` and `r`, and no acknowledgements are needed: a bundle of a round is one for the round before.
//! - It does not matter when bundles come, how often, or in which order. One that is missing is asked for until it comes.
//! - A node that comes back with the state of a round that it published goes on as if it had only been slow.
//!
//! All nodes see the same bundles of a round, so all see the same end: a verdict, that of the first monitor if there are several, or
//! traces that have been over for some rounds.

use crate::wire::{Bundle, Letter, Verdict};
use invigil_decent::simulate::Outcome;
use invigil_decent::system::Instant;
use invigil_ltl::moore::Truth;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How long a node waits before it asks for a bundle, and the longest that it waits before it asks again.
pub const PATIENCE: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];

/// What the monitors of a node did in a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// What they sent, in the order of their numbers.
    pub letters: Vec<Letter>,
    /// The verdict of the first that had one.
    pub verdict: Option<Verdict>,
    /// Whether all traces of the node are over.
    pub is_over: bool,
}

/// The rounds of a run as one node sees them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rounds {
    own: usize,
    /// For how many rounds it goes on after all traces are over.
    grace: u32,
    /// The last round that was run, or 0.
    round: Instant,
    /// For how many rounds nobody has observed anything.
    silent: u32,
    peers: Vec<Peer>,
    end: Option<End>,
}

/// What is known of a node, which may be this one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Peer {
    /// Its bundles of the last round, and of the next.
    came: [Option<Bundle>; 2],
    /// The bundles for it, of the last round but one, and of the last.
    sent: [Option<Bundle>; 2],
    /// When it is asked, and how long it is waited then.
    #[serde(skip)]
    ask: Option<(Duration, Duration)>,
}

/// How a run ended. All nodes find the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The verdict, if there is one. Otherwise the traces were over.
    pub verdict: Option<Verdict>,
    /// How many rounds it took.
    pub rounds: Instant,
}

impl From<End> for Outcome {
    fn from(end: End) -> Outcome {
        Outcome {
            verdict: end.verdict.map_or(Truth::Unknown, |verdict| verdict.truth),
            found: end.verdict.map(|verdict| (verdict.of, verdict.by)),
            rounds: end.rounds,
        }
    }
}

/// What became of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It was missing.
    New,
    /// It was there already, or is not needed any more.
    Known,
}

/// A bundle that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impossible {
    /// Nobody can be that far.
    Ahead {
        /// The round that it claims to be of.
        round: Instant,
        /// The round that this node is in.
        own: Instant,
    },
    /// There are not so many nodes, or it is this one.
    Stranger(usize),
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Impossible::Ahead { round, own } => {
                write!(
                    f,
                    "it is of round {round}, which cannot be while this node is in round {own}; \
                     if this host has crashed and lost what was written down last, stop the run"
                )
            }
            Impossible::Stranger(node) => write!(f, "node {node} of the run cannot have sent it"),
        }
    }
}

impl std::error::Error for Impossible {}

impl Rounds {
    /// Before the first round, of one of so many nodes. It goes on for `grace` rounds after the traces, at least one: that they
    /// are over is known when all have said so.
    pub fn new(own: usize, nodes: usize, grace: u32) -> Rounds {
        let peers = vec![Peer::default(); nodes.max(own + 1)];
        Rounds { own, grace: grace.max(1), round: 0, silent: 0, peers, end: None }
    }

    /// The place of this node, and how many there are.
    pub fn nodes(&self) -> (usize, usize) {
        (self.own, self.peers.len())
    }

    /// The last round that was run.
    pub fn round(&self) -> Instant {
        self.round
    }

    /// How the run ended, if it did.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The other nodes.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.own;
        (0..self.peers.len()).filter(move |node| *node != own)
    }

    /// The nodes whose bundle of the last round did not come yet.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        let waits = self.round > 0 && self.end.is_none();
        self.others().filter(move |node| waits && self.peers[*node].came[0].is_none())
    }

    /// Whether the next round can be run.
    pub fn is_due(&self) -> bool {
        self.end.is_none() && self.missing().next().is_none()
    }

    /// Runs the next round, if it is due: `turn` is given its number and what was sent to the monitors of this node, in the order
    /// in which the simulator would give it. `node_of` says where the monitors are. Says whether it was run.
    ///
    /// # Errors
    /// If the turn fails. Then this is of no use any more.
    pub fn advance<E>(
        &mut self,
        node_of: impl Fn(&Letter) -> Option<usize>,
        turn: impl FnOnce(Instant, Vec<Letter>) -> Result<Turn, E>,
    ) -> Result<bool, E> {
        if !self.is_due() {
            return Ok(false);
        }
        let mut letters: Vec<Letter> = Vec::new();
        for peer in &mut self.peers {
            let [last, next] = &mut peer.came;
            letters.extend(last.take().into_iter().flat_map(|bundle| bundle.letters));
            *last = next.take();
            peer.ask = None;
        }
        letters.sort_by_key(|letter| letter.from);
        let round = self.round + 1;
        let turn = turn(round, letters)?;
        self.round = round;
        let Turn { letters, verdict, is_over } = turn;
        for peer in &mut self.peers {
            peer.sent.swap(0, 1);
            peer.sent[1] = Some(Bundle { round, letters: Vec::new(), verdict, is_over });
        }
        for letter in letters {
            let receiver = node_of(&letter).and_then(|node| self.peers.get_mut(node));
            if let Some(Peer { sent: [_, Some(bundle)], .. }) = receiver {
                bundle.letters.push(letter);
            }
        }
        let own = &mut self.peers[self.own];
        own.came[0] = own.sent[1].take();
        self.settle();
        Ok(true)
    }

    /// A bundle came from a node.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn receive(&mut self, from: usize, bundle: Bundle) -> Result<Received, Impossible> {
        if from == self.own || from >= self.peers.len() {
            return Err(Impossible::Stranger(from));
        }
        let place = match bundle.round.checked_sub(self.round) {
            None => return Ok(Received::Known),
            // Before the first round there is nothing to send.
            Some(0) if self.round == 0 => return Ok(Received::Known),
            Some(place @ (0 | 1)) => place as usize,
            Some(_) => return Err(Impossible::Ahead { round: bundle.round, own: self.round }),
        };
        let slot = &mut self.peers[from].came[place];
        if slot.is_some() || self.end.is_some() {
            return Ok(Received::Known);
        }
        *slot = Some(bundle);
        if place == 0 {
            self.settle();
        }
        Ok(Received::New)
    }

    /// The bundle of a round for a node, if it is still needed.
    pub fn bundle(&self, to: usize, round: Instant) -> Option<&Bundle> {
        self.peers.get(to)?.sent.iter().flatten().find(|bundle| bundle.round == round)
    }

    /// Whom to ask for the bundle of the last round, at a time since whenever.
    pub fn ask(&mut self, now: Duration) -> Vec<usize> {
        let mut asked: Vec<usize> = self.missing().collect();
        let [first, longest] = PATIENCE;
        // Who began earlier has sent its first bundle before this node knew of the run.
        let start = if self.round == 1 { (now, first / 2) } else { (now + first, first) };
        asked.retain(|node| {
            let (at, wait) = self.peers[*node].ask.get_or_insert(start);
            let is_time = now >= *at;
            if is_time {
                *wait = (*wait * 2).min(longest);
                *at = now + *wait;
            }
            is_time
        });
        asked
    }

    /// Asks a node at once, since it has come back.
    pub fn hurry(&mut self, node: usize) {
        if let Some(peer) = self.peers.get_mut(node) {
            peer.ask = Some((Duration::ZERO, PATIENCE[0]));
        }
    }

    /// When everybody's bundle of the last round is there, looks whether it was the last of all.
    fn settle(&mut self) {
        if self.round == 0 || !self.is_due() {
            return;
        }
        let bundles = self.peers.iter().filter_map(|peer| peer.came[0].as_ref());
        let verdict = bundles.clone().filter_map(|bundle| bundle.verdict).min_by_key(|verdict| verdict.by);
        self.silent = if bundles.clone().all(|bundle| bundle.is_over) { self.silent + 1 } else { 0 };
        if verdict.is_some() || self.silent >= self.grace {
            self.end = Some(End { verdict, rounds: self.round });
        }
    }
}
