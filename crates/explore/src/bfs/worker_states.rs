//! The states that one worker stored, readable by all workers.

use crate::pages::ZeroedMapping;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Rows that never move: the words of a state, followed by its parent link.
///
/// Addresses are reserved for the maximum number of rows. This costs address space, not memory.
pub(super) struct WorkerStates {
    /// The number of words in a row.
    stride: usize,
    words: ZeroedMapping<AtomicU64>,
}

impl WorkerStates {
    /// Reserves rows for at most `max_rows` states of `width` words, or fewer if the address space is limited. Returns
    /// none if memory is exhausted.
    pub(super) fn new(width: usize, mut max_rows: usize) -> Option<WorkerStates> {
        let stride = width + 1;
        loop {
            if let Some(words) = max_rows.checked_mul(stride).and_then(ZeroedMapping::sparse) {
                return Some(WorkerStates { stride, words });
            }
            max_rows = max_rows.checked_div(2).filter(|rows| *rows > 0)?;
        }
    }

    /// The size of a row in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.stride * 8
    }

    /// The words of a state, followed by its parent link.
    #[inline]
    pub(super) fn get(&self, row: u32) -> &[AtomicU64] {
        let start = row as usize * self.stride;
        &self.words[start..start + self.stride]
    }

    /// Writes a row that no other thread reads yet. Returns false if there is no space.
    #[inline]
    pub(super) fn write(&self, row: u32, state: &[u64], link: u64) -> bool {
        let start = row as usize * self.stride;
        let Some(words) = self.words.get(start..start + self.stride) else { return false };
        for (to, word) in words.iter().zip(state) {
            to.store(*word, Relaxed);
        }
        words[self.stride - 1].store(link, Relaxed);
        true
    }
}
