//! Bitstate hashing: a Bloom filter as the visited set.

use super::Bitstate;
use super::hyperloglog::HyperLogLog;
use crate::hash::hash_seeded;
use crate::pages::ZeroedMapping;
use crate::prefetch;
use crate::result::Certainty;
use crate::store::StoreFull;
use crate::visited::VisitedSet;

/// A bit array with several bits for each configuration.
pub(super) struct BloomFilter {
    words: ZeroedMapping,
    hashes: u32,
    seed: u64,
    /// The number of bits that are set.
    ones: u64,
    /// The number of inserted configurations.
    stored: u64,
    /// The expected number of configurations that were wrongly taken as visited.
    missed: f64,
    /// A sketch of the inserted configurations, if the result will be merged with others.
    pub(super) sketch: Option<HyperLogLog>,
}

impl BloomFilter {
    /// Returns none if memory is exhausted.
    pub(super) fn new(bits: &Bitstate, is_sketched: bool) -> Option<BloomFilter> {
        let words = ZeroedMapping::huge(usize::try_from(bits.bytes / 8).ok()?.max(1))?;
        let sketch = is_sketched.then(HyperLogLog::default);
        let (hashes, seed) = (bits.hashes.max(1), bits.seed);
        Some(BloomFilter { words, hashes, seed, ones: 0, stored: 0, missed: 0.0, sketch })
    }

    /// The word index and mask of each bit of a configuration.
    fn bits_of(&self, key: (u64, u64)) -> impl Iterator<Item = (usize, u64)> + use<> {
        let count = self.words.len() as u64 * 64;
        (0..u64::from(self.hashes)).map(move |number| {
            let hash = key.0.wrapping_add(number.wrapping_mul(key.1));
            let bit = ((u128::from(hash) * u128::from(count)) >> 64) as u64;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }
}

impl VisitedSet for BloomFilter {
    type Key = (u64, u64);

    fn key(&self, state: &[u64]) -> (u64, u64) {
        // The second hash is odd, so that the bits of a configuration are distinct.
        (hash_seeded(state, self.seed), hash_seeded(state, !self.seed) | 1)
    }

    fn prefetch(&self, key: (u64, u64)) {
        for (word, _) in self.bits_of(key) {
            prefetch::prefetch(&self.words[word]);
        }
    }

    fn contains(&self, _: &[u64], key: (u64, u64)) -> bool {
        self.bits_of(key).all(|(word, bit)| self.words[word] & bit != 0)
    }

    fn insert(&mut self, state: &[u64], key: (u64, u64)) -> Result<bool, StoreFull> {
        if self.contains(state, key) {
            return Ok(false);
        }
        // The probability that a new configuration was wrongly taken as visited. Each inserted configuration represents
        // the expected number of those.
        let fill = self.ones as f64 / (self.words.len() as f64 * 64.0);
        let probability = fill.powi(self.hashes.min(i32::MAX as u32) as i32);
        self.missed += probability / (1.0 - probability);
        self.stored += 1;
        for (word, bit) in self.bits_of(key) {
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
