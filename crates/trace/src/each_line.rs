//! Iteration over the lines of a block, shared by the scanners of all formats.

use crate::block::EventBlock;
use crate::line_error_kind::LineErrorKind;
use memchr::memchr;

/// Calls `read_line` for each line of `text`; in strict mode, only up to the first malformed one. `read_line` takes the start and
/// number of a line, and returns the start of the next line and its result.
#[inline(always)]
pub(crate) fn each_line(
    text: &str,
    block: &mut EventBlock,
    strict: bool,
    mut read_line: impl FnMut(usize, u32, &mut EventBlock) -> (usize, Result<(), LineErrorKind>),
) {
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 0);
    while at < bytes.len() {
        let start = at;
        let outcome;
        (at, outcome) = read_line(start, line, block);
        if let Err(error) = outcome {
            block.add_line_error(line, &bytes[start..at], error);
            if strict {
                break;
            }
        }
        line += 1;
    }
    block.lines = u64::from(line);
}

/// Start of the line after the one at `at`.
pub(crate) fn next_line(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len + 1)
}
