//! The states that one worker was the first to come to, for all workers to read.

use crate::pages::Pages;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Rows of words that never move: the words of a state, and its link.
///
/// Room is reserved for all that there could ever be. It costs addresses, not memory.
pub(super) struct Rows {
    /// Words in a row.
    stride: usize,
    words: Pages<AtomicU64>,
}

impl Rows {
    /// For at most so many states of `width` words; for fewer if there are not so many addresses, for none if there is no
    /// memory.
    pub(super) fn new(width: usize, mut most: usize) -> Option<Rows> {
        let stride = width + 1;
        loop {
            if let Some(words) = most.checked_mul(stride).and_then(Pages::reserve) {
                return Some(Rows { stride, words });
            }
            most = most.checked_div(2).filter(|most| *most > 0)?;
        }
    }

    /// Bytes in a row.
    pub(super) fn bytes(&self) -> usize {
        self.stride * 8
    }

    /// The words of a state, and then its link.
    #[inline]
    pub(super) fn get(&self, row: u32) -> &[AtomicU64] {
        let start = row as usize * self.stride;
        &self.words[start..start + self.stride]
    }

    /// Writes a row that nobody reads yet. False if there is no room for it.
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
