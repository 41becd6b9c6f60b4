//! Messages on their way.

use super::Conditions;
use crate::system::{Instant, MonitorId};

/// What is on its way: for each of the next rounds, what comes for whom. Rounds are reused in turn.
pub(super) struct Post<M> {
    conditions: Conditions,
    monitors: usize,
    /// The messages for a monitor in a round are at `round % rounds * monitors + monitor`.
    slots: Vec<Vec<M>>,
    chance: Chance,
}

impl<M: Clone> Post<M> {
    /// Nothing is on its way, for at most so many links.
    pub(super) fn new(monitors: usize, conditions: &Conditions, farthest: u32) -> Post<M> {
        let slowest = usize::from(conditions.latency) + usize::from(conditions.jitter);
        let rounds = slowest * farthest as usize + 2;
        let slots = std::iter::repeat_with(Vec::new).take(rounds * monitors).collect();
        Post { conditions: *conditions, monitors, slots, chance: Chance(conditions.seed) }
    }

    pub(super) fn reset(&mut self, seed: u64) {
        self.slots.iter_mut().for_each(Vec::clear);
        self.chance = Chance(seed);
    }

    /// Takes out what comes in a round.
    pub(super) fn collect(&mut self, at: Instant, to: MonitorId, inbox: &mut Vec<M>) {
        let slot = self.slot(at, to);
        std::mem::swap(&mut self.slots[slot], inbox);
        if self.conditions.shuffle {
            for place in (1..inbox.len()).rev() {
                inbox.swap(place, self.chance.below(place as u32 + 1) as usize);
            }
        }
    }

    /// Sends a message over so many links.
    pub(super) fn send(&mut self, at: Instant, from: MonitorId, to: MonitorId, hops: u32, message: M) {
        if self.chance.happens(self.conditions.duplication) {
            self.send_once(at, from, to, hops, message.clone());
        }
        self.send_once(at, from, to, hops, message);
    }

    fn send_once(&mut self, at: Instant, from: MonitorId, to: MonitorId, hops: u32, message: M) {
        if self.chance.happens(self.conditions.loss) {
            return;
        }
        let [latency, jitter] =
            [self.conditions.latency, self.conditions.jitter].map(|each| u32::from(each) * hops);
        let late = if jitter == 0 { 0 } else { self.chance.below(jitter + 1) };
        // Who had his turn already gets it in the next round at the earliest.
        let takes = (latency + late).max(u32::from(to <= from));
        let slot = self.slot(at + takes, to);
        self.slots[slot].push(message);
    }

    fn slot(&self, at: Instant, to: MonitorId) -> usize {
        let rounds = self.slots.len() / self.monitors.max(1);
        at as usize % rounds.max(1) * self.monitors + to.index()
    }
}

/// Numbers that look random, the same ones for the same seed (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another, which is not zero.
    fn below(&mut self, limit: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u32
    }

    fn happens(&mut self, share: f64) -> bool {
        // No number is drawn for what never happens: a run without faults costs nothing for them.
        share > 0.0 && ((self.next() >> 11) as f64) < share * (1u64 << 53) as f64
    }
}
