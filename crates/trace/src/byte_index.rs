//! Index of the delimiters of a text: found 64 bytes at a time with SIMD, consumed one by one.
//!
//! Searching for the next delimiter byte by byte would dominate parsing. So a window of the text is indexed ahead, and
//! the parser consumes the positions in order. The window is small enough that text and index stay in the L1 cache.

/// The set of delimiter bytes of a format.
pub(crate) trait DelimiterSet {
    /// Mask with a bit for each byte of the block that is in the set, the lowest bit for the first byte.
    fn mask(&self, block: &[u8; 64]) -> u64;
}

/// Bytes that end a plain JSON string: quotes, backslashes, control characters. So the bytes between a quote and the
/// next delimiter are plain text.
pub(crate) struct JsonDelimiters;

/// Bytes that end a plain cell: the delimiter, quotes, line ends, NUL.
pub(crate) struct CsvDelimiters {
    pub(crate) delimiter: u8,
}

impl DelimiterSet for JsonDelimiters {
    #[inline(always)]
    fn mask(&self, block: &[u8; 64]) -> u64 {
        // No short-circuit operators: without branches the compiler can vectorize the loop.
        collect(block, |b| (b == b'"') | (b == b'\\') | (b < 0x20))
    }
}

impl DelimiterSet for CsvDelimiters {
    #[inline(always)]
    fn mask(&self, block: &[u8; 64]) -> u64 {
        let delimiter = self.delimiter;
        collect(block, |b| (b == delimiter) | (b == b'\n') | (b == b'\r') | (b == b'"') | (b == 0))
    }
}

/// Mask with a bit for each byte that passes the test.
#[inline(always)]
fn collect(block: &[u8; 64], test: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0; 64];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(test(*byte));
    }
    let mut mask = 0;
    for (i, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        // The factor moves the flag of byte i to bit 56 + i; the partial products do not overlap, so nothing carries.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * i);
    }
    mask
}

/// Size of the indexed window.
const WINDOW: usize = 4096;

/// Maximum number of delimiters of a line on the fast path. Lines with more are read by the general scanners.
const LINE: usize = 1024;

/// Capacity for positions: those left from before, and a window full of delimiters. A power of two, so that masking
/// keeps every index in bounds.
const CAPACITY: usize = 8192;

/// Sentinel after the last delimiter: beyond the end of any text.
const NOWHERE: u32 = u32::MAX / 2;

/// The positions of the delimiters of one text, in order.
pub(crate) struct ByteIndex<S> {
    set: S,
    places: Box<[u32; CAPACITY]>,
    taken: usize,
    found: usize,
    indexed: usize,
}

impl<S: DelimiterSet> ByteIndex<S> {
    pub(crate) fn new(set: S) -> ByteIndex<S> {
        ByteIndex { set, places: Box::new([0; CAPACITY]), taken: 0, found: 0, indexed: 0 }
    }

    /// Starts a new text.
    pub(crate) fn restart(&mut self) {
        (self.taken, self.found, self.indexed) = (0, 0, 0);
    }

    /// Ensures that the delimiters of the next line are indexed. If there are too many, or none at its end, a position
    /// beyond the text follows them.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, text: &[u8]) {
        if self.found < self.taken + LINE && self.indexed < text.len() {
            self.index(text);
        }
    }

    /// Position of the next delimiter.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> usize {
        let place = self.places[self.taken % CAPACITY];
        self.taken += 1;
        place as usize
    }

    /// Skips the delimiters before `end`.
    pub(crate) fn seek(&mut self, text: &[u8], end: usize) {
        // Undo consumption beyond the last delimiter.
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

    /// Indexes the next window after the remaining delimiters.
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
                // Pad with spaces, which are in no set.
                let mut block = [b' '; 64];
                block[..rest.len()].copy_from_slice(rest);
                let mask = self.set.mask(&block);
                self.note(mask);
            }
            self.indexed = end;
        }
        self.places[self.found..self.found + 8].fill(NOWHERE);
    }

    /// Stores the positions of the delimiters in the next 64 bytes.
    #[inline(always)]
    fn note(&mut self, mut mask: u64) {
        let base = self.indexed as u32;
        let count = mask.count_ones() as usize;
        let mut at = self.found;
        // Eight at a time, needed or not: a loop with the exact count would be mispredicted every time.
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

    fn places<S: DelimiterSet>(set: S, text: &[u8]) -> Vec<usize> {
        let mut marks = ByteIndex::new(set);
        let mut next = || {
            marks.prepare(text);
            Some(marks.next()).filter(|at| *at < text.len())
        };
        core::iter::from_fn(&mut next).collect()
    }

    proptest! {
        #[test]
        fn index_has_exactly_the_delimiters(
            text in prop::collection::vec(prop::sample::select(b"ab \"\\\n\r\t\0,;\x1f\x20\xff".as_slice()), 0..300),
            copies in 1usize..40,
        ) {
            let text = text.repeat(copies);
            let json: Vec<_> = (0..text.len()).filter(|i| matches!(text[*i], b'"' | b'\\' | 0..0x20)).collect();
            prop_assert_eq!(places(JsonDelimiters, &text), json);
            let csv: Vec<_> =
                (0..text.len()).filter(|i| matches!(text[*i], b';' | b'"' | b'\n' | b'\r' | 0)).collect();
            prop_assert_eq!(places(CsvDelimiters { delimiter: b';' }, &text), csv);
        }
    }
}
