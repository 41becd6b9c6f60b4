//! Splitting a byte stream into chunks of whole lines.
//!
//! A chunk is delivered as soon as a read contains the end of a line: a file yields full chunks, a slow pipe yields
//! what is available. A line longer than the limit is skipped without being stored.

use memchr::{memchr, memrchr};
use std::io::{self, Read};

/// The result of a read.
pub(crate) enum Chunk {
    /// Whole lines, each ended by a newline.
    Lines {
        text: Vec<u8>,
        /// Offset of the lines in the stream.
        offset: u64,
    },
    /// A line that is longer than the limit.
    TooLong {
        /// The start of the line.
        start: Vec<u8>,
        /// The length of the line.
        bytes: u64,
        offset: u64,
    },
}

/// Splits a stream into chunks.
pub(crate) struct Chunks {
    input: Box<dyn Read + Send>,
    /// Target size of a chunk.
    chunk_bytes: usize,
    max_line: usize,
    /// Bytes read beyond the last chunk: usually the start of a line.
    carry: Vec<u8>,
    /// Whether the carry may contain whole lines.
    carry_has_lines: bool,
    /// Offset of the carry in the stream.
    offset: u64,
    /// Whether the end of the stream was reached.
    is_at_end: bool,
}

/// Number of bytes kept of a line that is too long, for the excerpt.
const EXCERPT_BYTES: usize = 100;

impl Chunks {
    /// Splits a stream into chunks of about `chunk_bytes` bytes, with lines of at most `max_line` bytes.
    pub(crate) fn new(input: Box<dyn Read + Send>, chunk_bytes: usize, max_line: usize) -> Chunks {
        let max_line = max_line.max(1);
        // A line that fits into a chunk must be within the limit, so that the limit does not depend on chunk
        // boundaries.
        let chunk_bytes = chunk_bytes.clamp(1, max_line + 1);
        Chunks {
            input,
            chunk_bytes,
            max_line,
            carry: Vec::new(),
            carry_has_lines: false,
            offset: 0,
            is_at_end: false,
        }
    }

    /// Reads the next chunk into `buffer`, whose contents are discarded. Returns `None` at the end.
    ///
    /// # Errors
    /// If reading fails. All preceding complete lines have been delivered.
    pub(crate) fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Chunk>> {
        if std::mem::take(&mut self.carry_has_lines)
            && let Some(last) = memrchr(b'\n', &self.carry)
        {
            let rest = self.carry.split_off(last + 1);
            let text = std::mem::replace(&mut self.carry, rest);
            return Ok(Some(self.lines_chunk(text)));
        }
        // Release a buffer that was enlarged for a very long line.
        if buffer.capacity() > 8 * self.chunk_bytes.max(self.carry.len()) {
            buffer = Vec::new();
        }
        let size = self.chunk_bytes.max(self.carry.len() + self.chunk_bytes / 2).min(self.max_line + 1);
        buffer.resize(size, 0);
        let mut filled = self.carry.len();
        buffer[..filled].copy_from_slice(&self.carry);
        loop {
            if filled == buffer.len() {
                if filled > self.max_line {
                    return self.skip_line(buffer);
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
                let chunk = self.lines_chunk(buffer);
                return Ok(Some(with_newline(chunk)));
            }
            let last = memrchr(b'\n', &buffer[filled..filled + count]).map(|at| filled + at);
            filled += count;
            if let Some(last) = last {
                self.carry.clear();
                self.carry.extend_from_slice(&buffer[last + 1..filled]);
                buffer.truncate(last + 1);
                return Ok(Some(self.lines_chunk(buffer)));
            }
        }
    }

    fn lines_chunk(&mut self, text: Vec<u8>) -> Chunk {
        let offset = self.offset;
        self.offset += text.len() as u64;
        Chunk::Lines { text, offset }
    }

    /// Reads at least one byte, except at the end. After an error, the stream counts as ended.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_at_end {
            return Ok(0);
        }
        loop {
            match self.input.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_at_end = true;
                    self.carry.clear();
                    return Err(error);
                }
                Ok(count) => {
                    self.is_at_end = count == 0;
                    return Ok(count);
                }
            }
        }
    }

    /// Skips the rest of the line that fills `buffer`.
    fn skip_line(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Chunk>> {
        self.carry.clear();
        let start = buffer[..buffer.len().min(EXCERPT_BYTES)].to_vec();
        let mut bytes = buffer.len() as u64;
        buffer.truncate(self.chunk_bytes);
        loop {
            let count = self.read(&mut buffer)?;
            let newline = memchr(b'\n', &buffer[..count]);
            bytes += newline.unwrap_or(count) as u64;
            if newline.is_none() && count > 0 {
                continue;
            }
            let rest = newline.map_or(count, |at| at + 1);
            self.carry.extend_from_slice(&buffer[rest..count]);
            self.carry_has_lines = true;
            let offset = self.offset;
            self.offset += bytes + u64::from(newline.is_some());
            return Ok(Some(Chunk::TooLong { start, bytes, offset }));
        }
    }
}

/// Appends the missing newline of the last line.
fn with_newline(chunk: Chunk) -> Chunk {
    match chunk {
        Chunk::Lines { mut text, offset } => {
            text.push(b'\n');
            Chunk::Lines { text, offset }
        }
        too_long => too_long,
    }
}
