//! Options of the reader.

use crate::format::Format;
use std::thread;

/// Options of the reader. The defaults suit most uses.
///
/// ```
/// use invigil_trace::{Format, ReadOptions};
/// let options = ReadOptions { format: Some(Format::Csv), strict: true, ..ReadOptions::default() };
/// assert_eq!(options.max_line, 16 << 20);
/// ```
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format; `None` detects it from the first line of each input.
    pub format: Option<Format>,
    /// Number of decoding threads, at most 256. With 1, no thread is spawned. Fewer are used if the system refuses
    /// more.
    pub threads: usize,
    /// Whether the first malformed line ends the reading with an error. Otherwise malformed lines are counted.
    pub strict: bool,
    /// Maximum length of a line, in bytes. Longer lines are skipped without being stored.
    pub max_line: usize,
    /// Size of a chunk, in bytes: each block is decoded from one chunk of lines.
    pub chunk_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            format: None,
            threads: thread::available_parallelism().map_or(1, usize::from),
            strict: false,
            max_line: 16 << 20,
            chunk_bytes: 256 << 10,
        }
    }
}

/// Maximum size of a chunk or line. Positions in the text of a block are 32-bit numbers, and decoded text may double
/// its size.
const MAX_CHUNK_BYTES: usize = 1 << 30;

/// Maximum number of threads: more would be idle, and each has buffers of its own.
const MAX_THREADS: usize = 256;

impl ReadOptions {
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.clamp(1, MAX_THREADS)
    }

    pub(crate) fn clamped_chunk_bytes(&self) -> usize {
        self.chunk_bytes.clamp(1, MAX_CHUNK_BYTES)
    }

    pub(crate) fn clamped_max_line(&self) -> usize {
        self.max_line.clamp(1, MAX_CHUNK_BYTES)
    }
}
