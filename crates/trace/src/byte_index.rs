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
        mask_where(block, |b| (b == b'"') | (b == b'\\') | (b < 0x20))
    }
}

impl DelimiterSet for CsvDelimiters {
    #[inline(always)]
    fn mask(&self, block: &[u8; 64]) -> u64 {
        let delimiter = self.delimiter;
        mask_where(block, |b| (b == delimiter) | (b == b'\n') | (b == b'\r') | (b == b'"') | (b == 0))
    }
}

/// Mask with a bit for each byte that passes the test.
#[inline(always)]
fn mask_where(block: &[u8; 64], test: impl Fn(u8) -> bool) -> u64 {
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

/// Maximum number of delimiters in a line that is read on the fast path. The general scanners read the other lines.
const MAX_LINE_DELIMITERS: usize = 1024;

/// Capacity for positions: those that are not consumed yet, and those of a window full of delimiters. A power of two,
/// so that masking keeps every index in bounds.
const CAPACITY: usize = 8192;

/// Sentinel that follows the last position: it exceeds the length of any text.
const PAST_END: u32 = u32::MAX / 2;

/// The positions of the delimiters of one text, in order.
pub(crate) struct ByteIndex<S> {
    set: S,
    positions: Box<[u32; CAPACITY]>,
    /// Index of the next position to consume.
    next_position: usize,
    /// Number of stored positions, including consumed ones.
    position_count: usize,
    /// Length of the indexed start of the text.
    indexed_bytes: usize,
}

impl<S: DelimiterSet> ByteIndex<S> {
    pub(crate) fn new(set: S) -> ByteIndex<S> {
        ByteIndex {
            set,
            positions: Box::new([0; CAPACITY]),
            next_position: 0,
            position_count: 0,
            indexed_bytes: 0,
        }
    }

    /// Starts a new text.
    pub(crate) fn restart(&mut self) {
        (self.next_position, self.position_count, self.indexed_bytes) = (0, 0, 0);
    }

    /// Ensures that the delimiters of the next line are indexed, up to the maximum for a line. [`PAST_END`] follows
    /// the last delimiter of the text.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, text: &[u8]) {
        if self.position_count < self.next_position + MAX_LINE_DELIMITERS && self.indexed_bytes < text.len() {
            self.index(text);
        }
    }

    /// Position of the next delimiter.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> usize {
        let position = self.positions[self.next_position % CAPACITY];
        self.next_position += 1;
        position as usize
    }

    /// Skips the delimiters before `end`.
    pub(crate) fn seek(&mut self, text: &[u8], end: usize) {
        // The fast path may have consumed the sentinel.
        self.next_position = self.next_position.min(self.position_count);
        loop {
            self.prepare(text);
            while self.next_position < self.position_count
                && (self.positions[self.next_position] as usize) < end
            {
                self.next_position += 1;
            }
            if self.next_position < self.position_count || self.indexed_bytes >= text.len() {
                return;
            }
        }
    }

    /// Indexes the next windows. The positions that are not consumed yet move to the front.
    #[inline(never)]
    fn index(&mut self, text: &[u8]) {
        self.positions.copy_within(self.next_position..self.position_count, 0);
        (self.next_position, self.position_count) = (0, self.position_count - self.next_position);
        while self.position_count < MAX_LINE_DELIMITERS && self.indexed_bytes < text.len() {
            let end = text.len().min(self.indexed_bytes + WINDOW);
            let (blocks, rest) = text[self.indexed_bytes..end].as_chunks::<64>();
            for block in blocks {
                let mask = self.set.mask(block);
                self.push_positions(mask);
            }
            if !rest.is_empty() {
                // Pad with spaces, which are in no set.
                let mut block = [b' '; 64];
                block[..rest.len()].copy_from_slice(rest);
                let mask = self.set.mask(&block);
                self.push_positions(mask);
            }
            self.indexed_bytes = end;
        }
        self.positions[self.position_count..self.position_count + 8].fill(PAST_END);
    }

    /// Stores the positions of the delimiters in the next 64 bytes.
    #[inline(always)]
    fn push_positions(&mut self, mut mask: u64) {
        let base = self.indexed_bytes as u32;
        let count = mask.count_ones() as usize;
        let mut stored = self.position_count;
        // Eight at a time, needed or not: a loop with the exact count would be mispredicted every time.
        while stored < self.position_count + count {
            if let Some(eight) = self.positions[stored..].first_chunk_mut::<8>() {
                for position in eight {
                    *position = base + mask.trailing_zeros();
                    mask &= mask.wrapping_sub(1);
                }
            }
            stored += 8;
        }
        self.position_count += count;
        self.indexed_bytes += 64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn positions<S: DelimiterSet>(set: S, text: &[u8]) -> Vec<usize> {
        let mut index = ByteIndex::new(set);
        let mut next = || {
            index.prepare(text);
            Some(index.next()).filter(|at| *at < text.len())
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
            prop_assert_eq!(positions(JsonDelimiters, &text), json);
            let csv: Vec<_> =
                (0..text.len()).filter(|i| matches!(text[*i], b';' | b'"' | b'\n' | b'\r' | 0)).collect();
            prop_assert_eq!(positions(CsvDelimiters { delimiter: b';' }, &text), csv);
        }
    }
}
