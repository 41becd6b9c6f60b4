//! Storage of states in large chunks that never move.

use crate::pages::ZeroedMapping;

/// Approximate number of words in a chunk, large enough to make the cost per chunk negligible.
const CHUNK_WORDS: usize = 1 << 20;

/// Rows of words, numbered in the order of insertion.
pub(crate) struct Arena {
    width: usize,
    /// A chunk holds `1 << shift` rows.
    shift: u32,
    chunks: Vec<ZeroedMapping>,
    rows: usize,
}

impl Arena {
    pub(crate) fn new(width: usize) -> Arena {
        let shift = (CHUNK_WORDS / width.max(1)).max(1).ilog2();
        Arena { width, shift, chunks: Vec::new(), rows: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Bytes of the stored rows.
    pub(crate) fn memory(&self) -> u64 {
        self.rows as u64 * self.width as u64 * 8
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> &[u64] {
        let start = (row & ((1 << self.shift) - 1)) * self.width;
        &self.chunks[row >> self.shift][start..start + self.width]
    }

    /// Adds a row. Returns false if memory is exhausted.
    #[inline]
    pub(crate) fn push(&mut self, row: &[u64]) -> bool {
        let chunk = self.rows >> self.shift;
        if chunk == self.chunks.len() && !self.grow() {
            return false;
        }
        let start = (self.rows & ((1 << self.shift) - 1)) * self.width;
        self.chunks[chunk][start..start + self.width].copy_from_slice(row);
        self.rows += 1;
        true
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let words = self.width << self.shift;
        // The first chunk uses ordinary pages: a small subject leaves it almost empty, and clearing a huge page is
        // slow.
        let chunk =
            if self.chunks.is_empty() { ZeroedMapping::new(words) } else { ZeroedMapping::huge(words) };
        self.chunks.extend(chunk);
        self.rows >> self.shift < self.chunks.len()
    }
}
