//! Hash compaction: of each configuration, a part of its hash.

use crate::hash::seeded;
use crate::pages::Pages;
use crate::prefetch;
use crate::report::Certainty;
use crate::seen::Seen;
use crate::store::Full;

/// How much is kept of a configuration. Where it is kept depends on other bits of its hashes, so that only a few
/// configurations can be taken for each other.
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

    /// How many there are in a line.
    fn count(self) -> usize {
        LINE * 64 / self.bits() as usize
    }

    /// The one at a place in a line; zero where there is none.
    fn get(self, line: &[u64; LINE], at: usize) -> u64 {
        let half = |at: usize| (line[at / 2] >> (32 * (at % 2))) & 0xffff_ffff;
        match self {
            Fingerprint::Bits32 => half(at),
            // Twelve halves of words, and a byte of each in the two words behind.
            Fingerprint::Bits40 => half(at) | ((line[6 + at / 8] >> (8 * (at % 8))) & 0xff) << 32,
            Fingerprint::Bits64 => line[at],
        }
    }

    /// Puts one where there is none.
    fn put(self, line: &mut [u64; LINE], at: usize, print: u64) {
        match self {
            Fingerprint::Bits32 => line[at / 2] |= print << (32 * (at % 2)),
            Fingerprint::Bits40 => {
                line[at / 2] |= (print & 0xffff_ffff) << (32 * (at % 2));
                line[6 + at / 8] |= (print >> 32) << (8 * (at % 8));
            }
            Fingerprint::Bits64 => line[at] = print,
        }
    }
}

/// Words in a line of the cache.
const LINE: usize = 8;

pub(super) struct Fingerprints {
    kind: Fingerprint,
    table: Pages,
    stored: u64,
    most: u64,
    /// How many fingerprints new configurations were compared with, in vain.
    compared: u64,
}

impl Fingerprints {
    /// None if there is no such memory.
    pub(super) fn new(kind: Fingerprint, bytes: u64) -> Option<Fingerprints> {
        let lines = usize::try_from(bytes / 64).ok()?.max(1);
        let table = Pages::huge(lines * LINE)?;
        // Some are always free.
        let most = (lines * kind.count()) as u64 * 15 / 16;
        Some(Fingerprints { kind, table, stored: 0, most, compared: 0 })
    }

    fn line(&self, hash: u64) -> usize {
        ((u128::from(hash) * (self.table.len() / LINE) as u128) >> 64) as usize
    }

    /// The line and place of a fingerprint or where it could be, whether it is there, and how many are before it.
    fn place(&self, (hash, print): (u64, u64)) -> (usize, usize, bool, u64) {
        let (lines, _) = self.table.as_chunks::<LINE>();
        let (mut at, mut before) = (self.line(hash), 0);
        loop {
            for place in 0..self.kind.count() {
                match self.kind.get(&lines[at], place) {
                    0 => return (at, place, false, before),
                    known if known == print => return (at, place, true, before),
                    _ => before += 1,
                }
            }
            at = (at + 1) % lines.len();
        }
    }
}

impl Seen for Fingerprints {
    type Key = (u64, u64);

    fn key(&self, state: &[u64]) -> (u64, u64) {
        let print = seeded(state, 1) >> (64 - self.kind.bits());
        (seeded(state, 0), print.max(1))
    }

    fn soon(&self, key: (u64, u64)) {
        prefetch::soon(&self.table[self.line(key.0) * LINE]);
    }

    fn contains(&self, _: &[u64], key: (u64, u64)) -> bool {
        self.place(key).2
    }

    fn insert(&mut self, _: &[u64], key: (u64, u64)) -> Result<bool, Full> {
        let (line, at, is_known, before) = self.place(key);
        if is_known {
            return Ok(false);
        }
        if self.stored >= self.most {
            return Err(Full);
        }
        self.stored += 1;
        self.compared += before;
        let (lines, _) = self.table.as_chunks_mut::<LINE>();
        self.kind.put(&mut lines[line], at, key.1);
        Ok(true)
    }

    fn memory(&self) -> u64 {
        self.table.len() as u64 * 8
    }

    fn certainty(&self) -> Certainty {
        let missed = self.compared as f64 / 2f64.powi(self.kind.bits() as i32);
        let coverage =
            if self.stored == 0 { 0.0 } else { self.stored as f64 / (self.stored as f64 + missed) };
        Certainty::Estimated { missed, coverage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_lie_side_by_side() {
        for kind in [Fingerprint::Bits32, Fingerprint::Bits40, Fingerprint::Bits64] {
            let mut line = [0; LINE];
            let print = |at: usize| (u64::MAX - 17 * at as u64) >> (64 - kind.bits()) | 1;
            (0..kind.count()).for_each(|at| kind.put(&mut line, at, print(at)));
            assert!((0..kind.count()).all(|at| kind.get(&line, at) == print(at)), "{kind:?}");
        }
    }
}
