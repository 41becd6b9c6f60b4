//! Malformed lines: all are counted, the first ones are stored.
//!
//! A line that is not a record is skipped. If a value does not have the type that a property requires, or exceeds
//! 64 bits, the event is delivered without it: for properties that read the value it is missing, others are unaffected.

use crate::line_error_kind::LineErrorKind;
use std::fmt;

/// Maximum number of stored errors; further ones are only counted.
pub(crate) const MAX_STORED: usize = 10;

/// Maximum length of an excerpt, in bytes.
const MAX_EXCERPT: usize = 60;

/// A line of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TracePosition {
    /// Index of the input.
    pub input: usize,
    /// The line, counted from 1.
    pub line: u64,
}

/// An error in a line: the line was skipped, or values were omitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The line's position.
    pub position: TracePosition,
    /// The error message.
    pub message: String,
    /// Whether the line was skipped. Otherwise, its event was delivered without the values that the message names.
    pub skipped: bool,
    /// The start of the line.
    pub excerpt: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.excerpt)
    }
}

/// Counts of lines with an error, and the first ten of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineErrors {
    count: u64,
    skipped: u64,
    first: Vec<LineError>,
}

impl LineErrors {
    /// Number of lines with an error: those skipped, and those whose events lack a value of the wrong type.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of skipped lines. The events of the other lines were delivered without some values.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether no line has an error.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first errors, ordered by input and line.
    pub fn first(&self) -> &[LineError] {
        &self.first
    }

    /// Counts an error, and stores it if it is among the first.
    pub(crate) fn add(&mut self, position: TracePosition, line: &[u8], kind: LineErrorKind) {
        let (skipped, message) = match kind {
            LineErrorKind::NotARecord(error) => (true, error.into_owned()),
            LineErrorKind::Values(message) => (false, message),
        };
        self.count += 1;
        self.skipped += u64::from(skipped);
        if self.first.len() < MAX_STORED {
            self.first.push(LineError { position, message, skipped, excerpt: excerpt(line) });
        }
    }

    /// Merges the errors of interleaved lines.
    pub(crate) fn merge(&mut self, others: &LineErrors) {
        self.count += others.count;
        self.skipped += others.skipped;
        self.first.extend_from_slice(&others.first);
        self.first.sort_by_key(|error| error.position);
        self.first.truncate(MAX_STORED);
    }

    /// Appends the errors of later lines.
    pub(crate) fn append(&mut self, later: &LineErrors) {
        self.count += later.count;
        self.skipped += later.skipped;
        let free = MAX_STORED.saturating_sub(self.first.len());
        self.first.extend(later.first.iter().take(free).cloned());
    }

    /// Adds `by` to every line number.
    pub(crate) fn shift(&mut self, by: u64) {
        for error in &mut self.first {
            error.position.line += by;
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.count, self.skipped) = (0, 0);
        self.first.clear();
    }
}

/// Shortens a quoted text for a message.
pub(crate) fn shortened(text: &str) -> String {
    let mut rest = text.chars();
    let mut start: String = rest.by_ref().take(MAX_EXCERPT / 2).collect();
    if rest.next().is_some() {
        start.push('…');
    }
    start
}

/// The start of a line, without control characters.
pub(crate) fn excerpt(line: &[u8]) -> String {
    let line = line.trim_ascii();
    let shown = &line[..line.len().min(MAX_EXCERPT)];
    let text: String =
        String::from_utf8_lossy(shown).chars().map(|c| if c.is_control() { '·' } else { c }).collect();
    // Remove the replacement of a character that was cut in two.
    if line.len() > MAX_EXCERPT { format!("{}…", text.trim_end_matches('\u{fffd}')) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_is_short_and_printable() {
        assert_eq!(excerpt(b"a\x1b[31mb\0\r\n"), "a·[31mb·");
        assert_eq!(
            (shortened("é"), shortened(&"é".repeat(31))),
            ("é".into(), format!("{}…", "é".repeat(30)))
        );
        assert_eq!(excerpt("é".repeat(40).as_bytes()), format!("{}…", "é".repeat(30)));
        assert_eq!(excerpt(format!("x{}", "é".repeat(40)).as_bytes()), format!("x{}…", "é".repeat(29)));
    }
}
