//! A memory of which only bits are set: a Bloom filter.

use super::Bitstate;
use super::sketch::Sketch;
use crate::hash::seeded;
use crate::pages::Pages;
use crate::prefetch;
use crate::report::Certainty;
use crate::seen::Seen;
use crate::store::Full;

pub(super) struct Bits {
    words: Pages,
    hashes: u32,
    seed: u64,
    /// The number of bits that are set.
    ones: u64,
    stored: u64,
    missed: f64,
    /// What was seen, if that is to be united with others.
    pub(super) sketch: Option<Sketch>,
}

impl Bits {
    /// None if there is no such memory.
    pub(super) fn new(bits: &Bitstate, is_sketched: bool) -> Option<Bits> {
        let words = Pages::huge(usize::try_from(bits.bytes / 8).ok()?.max(1))?;
        let sketch = is_sketched.then(Sketch::default);
        let (hashes, seed) = (bits.hashes.max(1), bits.seed);
        Some(Bits { words, hashes, seed, ones: 0, stored: 0, missed: 0.0, sketch })
    }

    /// The places of the bits of a configuration.
    fn places(&self, key: (u64, u64)) -> impl Iterator<Item = (usize, u64)> + use<> {
        let count = self.words.len() as u64 * 64;
        (0..u64::from(self.hashes)).map(move |number| {
            let hash = key.0.wrapping_add(number.wrapping_mul(key.1));
            let place = ((u128::from(hash) * u128::from(count)) >> 64) as u64;
            ((place / 64) as usize, 1 << (place % 64))
        })
    }
}

impl Seen for Bits {
    type Key = (u64, u64);

    fn key(&self, state: &[u64]) -> (u64, u64) {
        // The second is odd: all bits of a configuration are different ones.
        (seeded(state, self.seed), seeded(state, !self.seed) | 1)
    }

    fn soon(&self, key: (u64, u64)) {
        for (word, _) in self.places(key) {
            prefetch::soon(&self.words[word]);
        }
    }

    fn contains(&self, _: &[u64], key: (u64, u64)) -> bool {
        self.places(key).all(|(word, bit)| self.words[word] & bit != 0)
    }

    fn insert(&mut self, state: &[u64], key: (u64, u64)) -> Result<bool, Full> {
        if self.contains(state, key) {
            return Ok(false);
        }
        // A new configuration was taken for a seen one with this chance. This one was not, and stands for those that
        // were.
        let fill = self.ones as f64 / (self.words.len() as f64 * 64.0);
        let chance = fill.powi(self.hashes.min(i32::MAX as u32) as i32);
        self.missed += chance / (1.0 - chance);
        self.stored += 1;
        for (word, bit) in self.places(key) {
            self.ones += u64::from(self.words[word] & bit == 0);
            self.words[word] |= bit;
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.add(state);
        }
        Ok(true)
    }

    fn memory(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    fn certainty(&self) -> Certainty {
        let coverage =
            if self.stored == 0 { 0.0 } else { self.stored as f64 / (self.stored as f64 + self.missed) };
        Certainty::Estimated { missed: self.missed, coverage }
    }
}
