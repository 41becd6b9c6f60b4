//! Hash compaction: a part of its hash represents a configuration.

use crate::hash::hash_seeded;
use crate::pages::ZeroedMapping;
use crate::prefetch;
use crate::result::Certainty;
use crate::store::StoreFull;
use crate::visited::VisitedSet;

/// Size of a fingerprint. Its position in the table depends on other bits of the hashes, so that only few
/// configurations can be confused with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fingerprint {
    /// Four bytes.
    Bits32,
    /// Five bytes.
    Bits40,
    /// Eight bytes.
    Bits64,
}

impl Fingerprint {
    fn bits(self) -> u32 {
        match self {
            Fingerprint::Bits32 => 32,
            Fingerprint::Bits40 => 40,
            Fingerprint::Bits64 => 64,
        }
    }

    /// The number of fingerprints per line.
    fn per_line(self) -> usize {
        WORDS_PER_LINE * 64 / self.bits() as usize
    }

    /// The fingerprint at a position of a line; zero if there is none.
    fn get(self, line: &[u64; WORDS_PER_LINE], at: usize) -> u64 {
        let half = |at: usize| (line[at / 2] >> (32 * (at % 2))) & 0xffff_ffff;
        match self {
            Fingerprint::Bits32 => half(at),
            // Twelve half words, and one byte of each fingerprint in the last two words.
            Fingerprint::Bits40 => half(at) | ((line[6 + at / 8] >> (8 * (at % 8))) & 0xff) << 32,
            Fingerprint::Bits64 => line[at],
        }
    }

    /// Stores a fingerprint at an empty position.
    fn put(self, line: &mut [u64; WORDS_PER_LINE], at: usize, fingerprint: u64) {
        match self {
            Fingerprint::Bits32 => line[at / 2] |= fingerprint << (32 * (at % 2)),
            Fingerprint::Bits40 => {
                line[at / 2] |= (fingerprint & 0xffff_ffff) << (32 * (at % 2));
                line[6 + at / 8] |= (fingerprint >> 32) << (8 * (at % 8));
            }
            Fingerprint::Bits64 => line[at] = fingerprint,
        }
    }
}

/// The number of words in a cache line.
const WORDS_PER_LINE: usize = 8;

/// A hash table of fingerprints.
pub(super) struct FingerprintTable {
    size: Fingerprint,
    table: ZeroedMapping,
    stored: u64,
    capacity: u64,
    /// The number of comparisons of new configurations with unequal fingerprints.
    comparisons: u64,
}

impl FingerprintTable {
    /// Returns none if memory is exhausted.
    pub(super) fn new(size: Fingerprint, bytes: u64) -> Option<FingerprintTable> {
        let lines = usize::try_from(bytes / 64).ok()?.max(1);
        let table = ZeroedMapping::huge(lines * WORDS_PER_LINE)?;
        // Some positions always stay free, so that probing ends.
        let capacity = (lines * size.per_line()) as u64 * 15 / 16;
        Some(FingerprintTable { size, table, stored: 0, capacity, comparisons: 0 })
    }

    fn line(&self, hash: u64) -> usize {
        ((u128::from(hash) * (self.table.len() / WORDS_PER_LINE) as u128) >> 64) as usize
    }

    /// The line and position of a fingerprint or of the free position for it, whether it is stored, and the number of
    /// comparisons.
    fn find(&self, (hash, fingerprint): (u64, u64)) -> (usize, usize, bool, u64) {
        let (lines, _) = self.table.as_chunks::<WORDS_PER_LINE>();
        let (mut line, mut comparisons) = (self.line(hash), 0);
        loop {
            for position in 0..self.size.per_line() {
                match self.size.get(&lines[line], position) {
                    0 => return (line, position, false, comparisons),
                    stored if stored == fingerprint => return (line, position, true, comparisons),
                    _ => comparisons += 1,
                }
            }
            line = (line + 1) % lines.len();
        }
    }
}

impl VisitedSet for FingerprintTable {
    type Key = (u64, u64);

    fn key(&self, state: &[u64]) -> (u64, u64) {
        let fingerprint = hash_seeded(state, 1) >> (64 - self.size.bits());
        (hash_seeded(state, 0), fingerprint.max(1))
    }

    fn prefetch(&self, key: (u64, u64)) {
        prefetch::prefetch(&self.table[self.line(key.0) * WORDS_PER_LINE]);
    }

    fn contains(&self, _: &[u64], key: (u64, u64)) -> bool {
        self.find(key).2
    }

    fn insert(&mut self, _: &[u64], key: (u64, u64)) -> Result<bool, StoreFull> {
        let (line, position, is_known, comparisons) = self.find(key);
        if is_known {
            return Ok(false);
        }
        if self.stored >= self.capacity {
            return Err(StoreFull);
        }
        self.stored += 1;
        self.comparisons += comparisons;
        let (lines, _) = self.table.as_chunks_mut::<WORDS_PER_LINE>();
        self.size.put(&mut lines[line], position, key.1);
        Ok(true)
    }

    fn memory(&self) -> u64 {
        self.table.len() as u64 * 8
    }

    fn certainty(&self) -> Certainty {
        let missed = self.comparisons as f64 / 2f64.powi(self.size.bits() as i32);
        let coverage =
            if self.stored == 0 { 0.0 } else { self.stored as f64 / (self.stored as f64 + missed) };
        Certainty::Estimated { missed, coverage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_of_a_line_do_not_overlap() {
        for kind in [Fingerprint::Bits32, Fingerprint::Bits40, Fingerprint::Bits64] {
            let mut line = [0; WORDS_PER_LINE];
            let fingerprint = |at: usize| (u64::MAX - 17 * at as u64) >> (64 - kind.bits()) | 1;
            (0..kind.per_line()).for_each(|at| kind.put(&mut line, at, fingerprint(at)));
            assert!((0..kind.per_line()).all(|at| kind.get(&line, at) == fingerprint(at)), "{kind:?}");
        }
    }
}
