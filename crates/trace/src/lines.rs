//! Going through a block's lines: the same for every format.

use crate::block::Block;
use crate::fault::Fault;
use memchr::memchr;

/// Goes through all lines of `text`; in strict mode only up to the first bad one. `read` is given where a
/// line starts and its number, and gives where the next one starts and what became of it.
#[inline(always)]
pub(crate) fn each_line(
    text: &str,
    block: &mut Block,
    strict: bool,
    mut read: impl FnMut(usize, u32, &mut Block) -> (usize, Result<(), Fault>),
) {
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 0);
    while at < bytes.len() {
        let start = at;
        let outcome;
        (at, outcome) = read(start, line, block);
        if let Err(fault) = outcome {
            block.fault(line, &bytes[start..at], fault);
            if strict {
                break;
            }
        }
        line += 1;
    }
    block.lines = u64::from(line);
}

/// Where the line after the one at `at` starts.
pub(crate) fn next_line(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len + 1)
}
