//! States one after the other, in pieces that never move.

use crate::pages::Pages;

/// About as many words as a piece has: large against what there is to do once for each.
const PIECE: usize = 1 << 20;

/// Rows of words, numbered as they are added.
pub(crate) struct Arena {
    width: usize,
    /// A piece holds `1 << shift` rows.
    shift: u32,
    pieces: Vec<Pages>,
    rows: usize,
}

impl Arena {
    pub(crate) fn new(width: usize) -> Arena {
        let shift = (PIECE / width.max(1)).max(1).ilog2();
        Arena { width, shift, pieces: Vec::new(), rows: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Bytes of what was added.
    pub(crate) fn memory(&self) -> u64 {
        self.rows as u64 * self.width as u64 * 8
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> &[u64] {
        let start = (row & ((1 << self.shift) - 1)) * self.width;
        &self.pieces[row >> self.shift][start..start + self.width]
    }

    /// Adds a row. False if there is no memory for it.
    #[inline]
    pub(crate) fn push(&mut self, row: &[u64]) -> bool {
        let piece = self.rows >> self.shift;
        if piece == self.pieces.len() && !self.grow() {
            return false;
        }
        let start = (self.rows & ((1 << self.shift) - 1)) * self.width;
        self.pieces[piece][start..start + self.width].copy_from_slice(row);
        self.rows += 1;
        true
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let words = self.width << self.shift;
        // The first piece may stay almost empty: a huge page is much to clear for a small subject.
        let piece = if self.pieces.is_empty() { Pages::new(words) } else { Pages::huge(words) };
        self.pieces.extend(piece);
        self.rows >> self.shift < self.pieces.len()
    }
}
