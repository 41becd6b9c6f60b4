//! Where the interesting bytes of a text are: found many at a time, handed out one by one.
//!
//! A parser that asks "where does this string end" byte by byte spends most of its time asking. Here a
//! window of the text is indexed ahead, and the parser takes the positions in order. The window is small, so
//! that the text and its index are read again while they are still in the nearest cache.

/// The bytes that a format wants to know the places of.
pub(crate) trait MarkSet {
    /// A bit for each byte of the block that is in the set, the lowest for the first.
    fn mask(&self, block: &[u8; 64]) -> u64;
}

/// What can end or spoil a JSON string: a quote, a backslash, a control character. So between a quote and
/// the next mark there is nothing but plain text.
pub(crate) struct JsonMarks;

/// What can end or spoil a cell: the delimiter, a quote, an end of line, a NUL.
pub(crate) struct CsvMarks {
    pub(crate) delimiter: u8,
}

impl MarkSet for JsonMarks {
    #[inline(always)]
    fn mask(&self, block: &[u8; 64]) -> u64 {
        // No short-circuit: every byte takes the same path, so that the compiler can take many at once.
        collect(block, |b| (b == b'"') | (b == b'\\') | (b < 0x20))
    }
}

impl MarkSet for CsvMarks {
    #[inline(always)]
    fn mask(&self, block: &[u8; 64]) -> u64 {
        let delimiter = self.delimiter;
        collect(block, |b| (b == delimiter) | (b == b'\n') | (b == b'\r') | (b == b'"') | (b == 0))
    }
}

/// A bit for each byte that passes the test.
#[inline(always)]
fn collect(block: &[u8; 64], test: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0; 64];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(test(*byte));
    }
    let mut mask = 0;
    for (i, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        // The factor moves the flag of byte i to bit 56 + i; no two products meet, so nothing carries.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * i);
    }
    mask
}

/// How much of the text is indexed at a time.
const WINDOW: usize = 4096;

/// How many marks a line can have to be read with them; the few lines with more are read in other ways.
const LINE: usize = 1024;

/// The room for places: what may be left from before, and a window full of marks. A power of two, so that no
/// place can be out of bounds.
const ROOM: usize = 8192;

/// Stands behind the last mark: beyond the end of any text.
const NOWHERE: u32 = u32::MAX / 2;

/// The places of the marks of one text, in order.
pub(crate) struct Marks<S> {
    set: S,
    places: Box<[u32; ROOM]>,
    taken: usize,
    found: usize,
    indexed: usize,
}

impl<S: MarkSet> Marks<S> {
    pub(crate) fn new(set: S) -> Marks<S> {
        Marks { set, places: Box::new([0; ROOM]), taken: 0, found: 0, indexed: 0 }
    }

    /// Begins a new text.
    pub(crate) fn restart(&mut self) {
        (self.taken, self.found, self.indexed) = (0, 0, 0);
    }

    /// Makes sure that the marks of a line are there to be taken. If it has too many, or none at its end, a
    /// place beyond the text follows them.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, text: &[u8]) {
        if self.found < self.taken + LINE && self.indexed < text.len() {
            self.index(text);
        }
    }

    /// The place of the next mark.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> usize {
        let place = self.places[self.taken % ROOM];
        self.taken += 1;
        place as usize
    }

    /// Passes over the marks before `end`.
    pub(crate) fn seek(&mut self, text: &[u8], end: usize) {
        // What was taken beyond the last mark is given back.
        self.taken = self.taken.min(self.found);
        loop {
            self.prepare(text);
            while self.taken < self.found && (self.places[self.taken] as usize) < end {
                self.taken += 1;
            }
            if self.taken < self.found || self.indexed >= text.len() {
                return;
            }
        }
    }

    /// Indexes on, behind the marks that are left.
    #[inline(never)]
    fn index(&mut self, text: &[u8]) {
        self.places.copy_within(self.taken..self.found, 0);
        (self.taken, self.found) = (0, self.found - self.taken);
        while self.found < LINE && self.indexed < text.len() {
            let end = text.len().min(self.indexed + WINDOW);
            let (blocks, rest) = text[self.indexed..end].as_chunks::<64>();
            for block in blocks {
                let mask = self.set.mask(block);
                self.note(mask);
            }
            if !rest.is_empty() {
                // A space is in no set.
                let mut block = [b' '; 64];
                block[..rest.len()].copy_from_slice(rest);
                let mask = self.set.mask(&block);
                self.note(mask);
            }
            self.indexed = end;
        }
        self.places[self.found..self.found + 8].fill(NOWHERE);
    }

    /// Writes down the marks of the next 64 bytes.
    #[inline(always)]
    fn note(&mut self, mut mask: u64) {
        let base = self.indexed as u32;
        let count = mask.count_ones() as usize;
        let mut at = self.found;
        // Eight at a time, needed or not: a loop that ends where the marks do is mispredicted every time.
        while at < self.found + count {
            if let Some(eight) = self.places[at..].first_chunk_mut::<8>() {
                for place in eight {
                    *place = base + mask.trailing_zeros();
                    mask &= mask.wrapping_sub(1);
                }
            }
            at += 8;
        }
        self.found += count;
        self.indexed += 64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places<S: MarkSet>(set: S, text: &[u8]) -> Vec<usize> {
        let mut marks = Marks::new(set);
        let mut next = || {
            marks.prepare(text);
            Some(marks.next()).filter(|at| *at < text.len())
        };
        core::iter::from_fn(&mut next).collect()
    }

    proptest! {
        #[test]
        fn every_mark_and_no_other(
            text in prop::collection::vec(prop::sample::select(b"ab \"\\\n\r\t\0,;\x1f\x20\xff".as_slice()), 0..300),
            copies in 1usize..40,
        ) {
            let text = text.repeat(copies);
            let json: Vec<_> = (0..text.len()).filter(|i| matches!(text[*i], b'"' | b'\\' | 0..0x20)).collect();
            prop_assert_eq!(places(JsonMarks, &text), json);
            let csv: Vec<_> =
                (0..text.len()).filter(|i| matches!(text[*i], b';' | b'"' | b'\n' | b'\r' | 0)).collect();
            prop_assert_eq!(places(CsvMarks { delimiter: b';' }, &text), csv);
        }
    }
}
