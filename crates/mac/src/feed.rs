//! Bytes that have come and are not read yet.

/// A queue of bytes that knows how far into the stream it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feed {
    bytes: Vec<u8>,
    /// Where in `bytes` the rest begins.
    at: usize,
    /// Where in the stream `bytes` begins.
    before: u64,
    ended: bool,
}

impl Feed {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        // What has been read is dropped when it is the larger part, so that each byte is moved once on average.
        if self.at > self.bytes.len() / 2 {
            self.bytes.drain(..self.at);
            self.before += self.at as u64;
            self.at = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Whether no more will come.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    /// What is not read yet.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Where in the stream the rest begins.
    pub(crate) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Counts bytes as read.
    pub(crate) fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.bytes.len());
    }
}

/// The longest line that is read.
const LONGEST: usize = 1 << 20;

/// Lines, as they become complete.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    feed: Feed,
    /// How much of the rest has no line end in it.
    searched: usize,
    number: u64,
    /// Whether the rest of a line that is too long is still to come.
    skipping: bool,
}

/// What the next line is.
pub(crate) enum Line<'a> {
    /// The line, without its end.
    Whole(&'a [u8]),
    /// It is longer than anything that makes sense.
    TooLong,
    /// The stream ends without a line end.
    CutOff,
    /// It is not complete yet, or there is none.
    None,
}

impl Lines {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.feed.push(bytes);
    }

    pub(crate) fn end(&mut self) {
        self.feed.end();
    }

    /// The number of the line that was given last, counted from one.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn next(&mut self) -> Line<'_> {
        loop {
            let rest = self.feed.rest();
            let found = rest[self.searched..].iter().position(|byte| *byte == b'\n');
            match found.map(|at| self.searched + at) {
                Some(end) => {
                    let skipped = std::mem::take(&mut self.skipping);
                    self.searched = 0;
                    self.feed.advance(end + 1);
                    if skipped {
                        continue;
                    }
                    self.number += 1;
                    if end > LONGEST {
                        return Line::TooLong;
                    }
                    // The bytes stay where they are until more come.
                    let line = &self.feed.bytes[self.feed.at - end - 1..self.feed.at - 1];
                    return Line::Whole(line.strip_suffix(b"\r").unwrap_or(line));
                }
                None if rest.len() > LONGEST => {
                    let length = rest.len();
                    self.feed.advance(length);
                    self.searched = 0;
                    if !std::mem::replace(&mut self.skipping, true) {
                        self.number += 1;
                        return Line::TooLong;
                    }
                }
                None if self.feed.is_ended() && !rest.is_empty() => {
                    let length = rest.len();
                    self.feed.advance(length);
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

/// What is wrong with a line that cannot be looked into.
pub(crate) const TOO_LONG: &str = "the line is longer than a mebibyte; is this a stream of lines?";
/// The same for the last one.
pub(crate) const CUT_OFF: &str =
    "the last line has no end and may be cut off, so it is left aside; end it with a line feed";

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut out) = (Lines::default(), Vec::new());
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
    fn lines_do_not_depend_on_the_pieces() {
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
    fn a_line_without_end_is_not_kept() {
        let long = vec![b'x'; LONGEST + 1];
        assert_eq!(all(&[&long, &long, b"\nnext\n"]), ["too long", "next"]);
        assert_eq!(all(&[&long, &long]), ["too long"]);
    }
}
