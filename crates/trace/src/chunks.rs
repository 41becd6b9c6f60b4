//! A stream of bytes, cut into chunks of whole lines.
//!
//! A chunk is delivered as soon as a read has brought the end of a line: a file gives full blocks, a slow
//! pipe gives what is there. A line beyond the limit is passed over without being kept.

use memchr::{memchr, memrchr};
use std::io::{self, Read};

/// What is read next.
pub(crate) enum Chunk {
    /// Whole lines, each ended by a newline.
    Lines {
        text: Vec<u8>,
        /// Where they begin in the stream.
        offset: u64,
    },
    /// A line that is longer than the limit.
    TooLong {
        /// How it begins.
        start: Vec<u8>,
        /// How long it is.
        bytes: u64,
        offset: u64,
    },
}

/// Cuts a stream into chunks.
pub(crate) struct Chunks {
    input: Box<dyn Read + Send>,
    block: usize,
    max_line: usize,
    /// What was read beyond the last chunk: the beginning of a line, as a rule.
    carry: Vec<u8>,
    /// Whether whole lines may be among it.
    carry_has_lines: bool,
    /// Where the carry begins in the stream.
    offset: u64,
    ended: bool,
}

/// How much of a line that is too long is kept to show it.
const SHOWN: usize = 100;

impl Chunks {
    /// Reads in blocks of about `block` bytes lines of at most `max_line` bytes.
    pub(crate) fn new(input: Box<dyn Read + Send>, block: usize, max_line: usize) -> Chunks {
        let max_line = max_line.max(1);
        // A line that fits into a block is within the limit: so the limit does not depend on where blocks
        // happen to begin.
        let block = block.clamp(1, max_line + 1);
        Chunks { input, block, max_line, carry: Vec::new(), carry_has_lines: false, offset: 0, ended: false }
    }

    /// The next chunk, in `buffer` (whose contents do not matter), or `None` at the end.
    ///
    /// # Errors
    /// When reading fails, after all whole lines before were delivered.
    pub(crate) fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Chunk>> {
        if std::mem::take(&mut self.carry_has_lines)
            && let Some(last) = memrchr(b'\n', &self.carry)
        {
            let rest = self.carry.split_off(last + 1);
            let text = std::mem::replace(&mut self.carry, rest);
            return Ok(Some(self.lines(text)));
        }
        // A buffer that once held a giant is let go.
        if buffer.capacity() > 8 * self.block.max(self.carry.len()) {
            buffer = Vec::new();
        }
        let room = self.block.max(self.carry.len() + self.block / 2).min(self.max_line + 1);
        buffer.resize(room, 0);
        let mut filled = self.carry.len();
        buffer[..filled].copy_from_slice(&self.carry);
        loop {
            if filled == buffer.len() {
                if filled > self.max_line {
                    return self.pass_over(buffer);
                }
                buffer.resize((buffer.len() * 2).min(self.max_line + 1), 0);
            }
            let count = self.read(&mut buffer[filled..])?;
            if count == 0 {
                buffer.truncate(filled);
                self.carry.clear();
                if filled == 0 {
                    return Ok(None);
                }
                let chunk = self.lines(buffer);
                return Ok(Some(with_newline(chunk)));
            }
            let last = memrchr(b'\n', &buffer[filled..filled + count]).map(|at| filled + at);
            filled += count;
            if let Some(last) = last {
                self.carry.clear();
                self.carry.extend_from_slice(&buffer[last + 1..filled]);
                buffer.truncate(last + 1);
                return Ok(Some(self.lines(buffer)));
            }
        }
    }

    fn lines(&mut self, text: Vec<u8>) -> Chunk {
        let offset = self.offset;
        self.offset += text.len() as u64;
        Chunk::Lines { text, offset }
    }

    /// Reads some bytes, at least one but at the end. Nothing comes after an error.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        loop {
            match self.input.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.carry.clear();
                    return Err(error);
                }
                Ok(count) => {
                    self.ended = count == 0;
                    return Ok(count);
                }
            }
        }
    }

    /// Passes over the rest of the line that fills `buffer`.
    fn pass_over(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Chunk>> {
        self.carry.clear();
        let start = buffer[..buffer.len().min(SHOWN)].to_vec();
        let mut bytes = buffer.len() as u64;
        buffer.truncate(self.block);
        loop {
            let count = self.read(&mut buffer)?;
            let found = memchr(b'\n', &buffer[..count]);
            bytes += found.unwrap_or(count) as u64;
            if found.is_none() && count > 0 {
                continue;
            }
            let rest = found.map_or(count, |at| at + 1);
            self.carry.extend_from_slice(&buffer[rest..count]);
            self.carry_has_lines = true;
            let offset = self.offset;
            self.offset += bytes + u64::from(found.is_some());
            return Ok(Some(Chunk::TooLong { start, bytes, offset }));
        }
    }
}

/// The last line of a file may lack its newline.
fn with_newline(chunk: Chunk) -> Chunk {
    match chunk {
        Chunk::Lines { mut text, offset } => {
            text.push(b'\n');
            Chunk::Lines { text, offset }
        }
        too_long => too_long,
    }
}
