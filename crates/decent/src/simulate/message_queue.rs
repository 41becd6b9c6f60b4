//! Messages in transit.

use super::Conditions;
use crate::system::{Instant, MonitorId};
use invigil_semantics::SplitMix64;

/// Messages in transit: for each of the next rounds and each receiver. Rounds form a ring.
pub(super) struct MessageQueue<M> {
    conditions: Conditions,
    monitors: usize,
    /// The messages for a monitor in a round are at `round % rounds * monitors + monitor`.
    slots: Vec<Vec<M>>,
    random: SplitMix64,
}

impl<M: Clone> MessageQueue<M> {
    /// Creates an empty queue. A message passes at most `farthest` links.
    pub(super) fn new(monitors: usize, conditions: &Conditions, farthest: u32) -> MessageQueue<M> {
        let slowest = usize::from(conditions.latency) + usize::from(conditions.jitter);
        let rounds = slowest * farthest as usize + 2;
        let slots = std::iter::repeat_with(Vec::new).take(rounds * monitors).collect();
        MessageQueue { conditions: *conditions, monitors, slots, random: SplitMix64::new(conditions.seed) }
    }

    pub(super) fn reset(&mut self, seed: u64) {
        self.slots.iter_mut().for_each(Vec::clear);
        self.random = SplitMix64::new(seed);
    }

    /// Removes the messages for a monitor in a round.
    pub(super) fn collect(&mut self, at: Instant, to: MonitorId, inbox: &mut Vec<M>) {
        let slot = self.slot(at, to);
        std::mem::swap(&mut self.slots[slot], inbox);
        if self.conditions.shuffle {
            for place in (1..inbox.len()).rev() {
                inbox.swap(place, self.random.below(place + 1));
            }
        }
    }

    /// Sends a message over the given number of links.
    pub(super) fn send(&mut self, at: Instant, from: MonitorId, to: MonitorId, hops: u32, message: M) {
        if happens(&mut self.random, self.conditions.duplication) {
            self.send_once(at, from, to, hops, message.clone());
        }
        self.send_once(at, from, to, hops, message);
    }

    fn send_once(&mut self, at: Instant, from: MonitorId, to: MonitorId, hops: u32, message: M) {
        if happens(&mut self.random, self.conditions.loss) {
            return;
        }
        let [latency, jitter] =
            [self.conditions.latency, self.conditions.jitter].map(|each| u32::from(each) * hops);
        let extra = if jitter == 0 { 0 } else { self.random.below(jitter as usize + 1) as u32 };
        // A receiver that has already run this round gets the message in the next round at the earliest.
        let rounds = (latency + extra).max(u32::from(to <= from));
        let slot = self.slot(at + rounds, to);
        self.slots[slot].push(message);
    }

    fn slot(&self, at: Instant, to: MonitorId) -> usize {
        let rounds = self.slots.len() / self.monitors.max(1);
        at as usize % rounds.max(1) * self.monitors + to.index()
    }
}

/// Returns whether something happens that has this probability.
fn happens(random: &mut SplitMix64, share: f64) -> bool {
    // Draws no number for impossible faults, so that runs without faults do not pay for them.
    share > 0.0 && ((random.draw() >> 11) as f64) < share * (1u64 << 53) as f64
}
