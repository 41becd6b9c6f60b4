//! How traces are read.

use crate::format::Format;
use std::thread;

/// How traces are read. The defaults are right for most uses.
///
/// ```
/// use invigil_trace::{Format, Options};
/// let options = Options { format: Some(Format::Csv), strict: true, ..Options::default() };
/// assert_eq!(options.max_line, 16 << 20);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; `None` to tell it from each input's first line.
    pub format: Option<Format>,
    /// How many threads decode, up to 256; one spawns none. If the system refuses some, there are fewer.
    pub threads: usize,
    /// Whether the first bad line, or value that misfits, ends the reading with an error, instead of being left
    /// out and counted.
    pub strict: bool,
    /// The longest line that is read, in bytes; a longer one is skipped without being kept in memory.
    pub max_line: usize,
    /// How much is read at a time, in bytes.
    pub block: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: None,
            threads: thread::available_parallelism().map_or(1, usize::from),
            strict: false,
            max_line: 16 << 20,
            block: 256 << 10,
        }
    }
}

/// Places in a block are 32-bit numbers: its text, and as much again of unescaped text, stay below that.
const LARGEST: usize = 1 << 30;

/// More threads than this have nothing to do, and each has memory of its own.
const MOST_THREADS: usize = 256;

impl Options {
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.clamp(1, MOST_THREADS)
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.block.clamp(1, LARGEST)
    }

    pub(crate) fn line_bytes(&self) -> usize {
        self.max_line.clamp(1, LARGEST)
    }
}
