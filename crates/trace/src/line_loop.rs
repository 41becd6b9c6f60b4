//! Iteration over the lines of a chunk, shared by the scanners of all formats.

use crate::block::EventBlock;
use crate::line_error_kind::LineErrorKind;
use memchr::memchr;

/// The loop over the lines of a chunk.
///
/// Not a function that takes a closure: the scanners are so large that the compiler would not inline it.
pub(crate) struct LineLoop {
    strict: bool,
    /// Start of the current line.
    start: usize,
    /// Number of lines before it.
    line: u32,
}

impl LineLoop {
    /// In strict mode, the loop ends after the first malformed line.
    #[inline(always)]
    pub(crate) fn new(strict: bool) -> LineLoop {
        LineLoop { strict, start: 0, line: 0 }
    }

    /// The start and the number of the current line; `None` at the end.
    #[inline(always)]
    pub(crate) fn current(&self, text: &[u8]) -> Option<(usize, u32)> {
        (self.start < text.len()).then_some((self.start, self.line))
    }

    /// Ends the current line: the next line starts at `end`.
    #[inline(always)]
    pub(crate) fn end_line(
        &mut self,
        text: &[u8],
        block: &mut EventBlock,
        end: usize,
        result: Result<(), LineErrorKind>,
    ) {
        let start = std::mem::replace(&mut self.start, end);
        if let Err(error) = result {
            block.add_line_error(self.line, &text[start..end], error);
            if self.strict {
                self.start = text.len();
            }
        }
        self.line += 1;
        block.lines = u64::from(self.line);
    }
}

/// Start of the line after the one at `at`.
pub(crate) fn next_line(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len + 1)
}
