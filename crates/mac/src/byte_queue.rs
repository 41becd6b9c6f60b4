//! Buffers for bytes that were received but not parsed yet.

/// A queue of bytes that knows its offset in the stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteQueue {
    bytes: Vec<u8>,
    /// The index in `bytes` of the first byte that is not consumed.
    at: usize,
    /// The offset of `bytes` in the stream.
    start_offset: u64,
    ended: bool,
}

impl ByteQueue {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        // Consumed bytes are dropped only when they are the larger part, so that each byte is moved once on average.
        if self.at > self.bytes.len() / 2 {
            self.bytes.drain(..self.at);
            self.start_offset += self.at as u64;
            self.at = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Whether the stream has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    /// The bytes that are not consumed yet.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// The offset of these bytes in the stream.
    pub(crate) fn offset(&self) -> u64 {
        self.start_offset + self.at as u64
    }

    /// Consumes bytes.
    pub(crate) fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.bytes.len());
    }
}

/// Maximum length of a line.
const MAX_LINE: usize = 1 << 20;

/// Splits a stream into lines, as they become complete.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineReader {
    queue: ByteQueue,
    /// The number of remaining bytes that contain no line feed.
    searched: usize,
    number: u64,
    /// Whether the rest of an overlong line is being skipped.
    skipping: bool,
}

/// The result of reading a line.
pub(crate) enum Line<'a> {
    /// The line without its line feed.
    Whole(&'a [u8]),
    /// The line is longer than the maximum.
    TooLong,
    /// The stream ends without a line feed.
    CutOff,
    /// No complete line is available.
    None,
}

impl LineReader {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.queue.push(bytes);
    }

    pub(crate) fn end(&mut self) {
        self.queue.end();
    }

    /// The number of the last line, counted from one.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn next(&mut self) -> Line<'_> {
        loop {
            let rest = self.queue.rest();
            let found = rest[self.searched..].iter().position(|byte| *byte == b'\n');
            match found.map(|at| self.searched + at) {
                Some(end) => {
                    let skipped = std::mem::take(&mut self.skipping);
                    self.searched = 0;
                    self.queue.advance(end + 1);
                    if skipped {
                        continue;
                    }
                    self.number += 1;
                    if end > MAX_LINE {
                        return Line::TooLong;
                    }
                    // The bytes stay in the buffer until the next `push`.
                    let line = &self.queue.bytes[self.queue.at - end - 1..self.queue.at - 1];
                    return Line::Whole(line.strip_suffix(b"\r").unwrap_or(line));
                }
                None if rest.len() > MAX_LINE => {
                    let length = rest.len();
                    self.queue.advance(length);
                    self.searched = 0;
                    if !std::mem::replace(&mut self.skipping, true) {
                        self.number += 1;
                        return Line::TooLong;
                    }
                }
                None if self.queue.is_ended() && !rest.is_empty() => {
                    let length = rest.len();
                    self.queue.advance(length);
                    self.searched = 0;
                    if std::mem::take(&mut self.skipping) {
                        return Line::None;
                    }
                    self.number += 1;
                    return Line::CutOff;
                }
                None => {
                    self.searched = rest.len();
                    return Line::None;
                }
            }
        }
    }
}

/// The error for a line that is too long.
pub(crate) const TOO_LONG: &str = "the line is longer than a mebibyte; is this a stream of lines?";
/// The error for an incomplete last line.
pub(crate) const CUT_OFF: &str =
    "the last line has no line feed and may be truncated, so it is skipped; end it with a line feed";

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut out) = (LineReader::default(), Vec::new());
        for piece in pieces.iter().map(Some).chain([None]) {
            match piece {
                Some(piece) => lines.push(piece),
                None => lines.end(),
            }
            loop {
                out.push(match lines.next() {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    Line::TooLong => "too long".to_owned(),
                    Line::CutOff => "cut off".to_owned(),
                    Line::None => break,
                });
            }
        }
        out
    }

    #[test]
    fn lines_are_independent_of_chunking() {
        let text = b"one\r\n\ntwo\nthree";
        let whole = all(&[text]);
        assert_eq!(whole, ["one", "", "two", "cut off"]);
        for cut in 0..text.len() {
            assert_eq!(all(&[&text[..cut], &text[cut..]]), whole);
        }
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(all(&single), whole);
    }

    #[test]
    fn overlong_line_is_skipped() {
        let long = vec![b'x'; MAX_LINE + 1];
        assert_eq!(all(&[&long, &long, b"\nnext\n"]), ["too long", "next"]);
        assert_eq!(all(&[&long, &long]), ["too long"]);
    }
}
