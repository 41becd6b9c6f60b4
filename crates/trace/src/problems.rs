//! Lines with which something is wrong: counted, and the first of them told.
//!
//! A line that is not a record is skipped. One that is a record, but has values that are not of the type that
//! a property demands, or integers beyond 64 bits, gives its event without those values: a property that
//! reads them will find them missing, and the others are none the wiser.

use crate::fault::Fault;
use std::fmt;

/// How many problems are told in full; more are only counted.
pub(crate) const TOLD: usize = 10;

/// How much of a bad line is shown.
const SHOWN: usize = 60;

/// Where in the inputs something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The input, by its position among those that were given.
    pub input: usize,
    /// The line, counted from one.
    pub line: u64,
}

/// A line that was skipped, or of which values were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What is wrong with it.
    pub message: String,
    /// Whether it was skipped. If not, its event was delivered without the values that the message is about.
    pub skipped: bool,
    /// How it begins.
    pub excerpt: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.excerpt)
    }
}

/// The lines that were skipped, and those of which values were left out: how many, and the first ten in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    count: u64,
    skipped: u64,
    first: Vec<Problem>,
}

impl Problems {
    /// How many lines something is wrong with.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them were skipped; the events of the others were delivered, without values that misfit.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether nothing is wrong with any.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first few, in the order of the lines in each input.
    pub fn first(&self) -> &[Problem] {
        &self.first
    }

    /// Counts a problem, and keeps it if it is among the first.
    pub(crate) fn add(&mut self, place: Place, line: &[u8], fault: Fault) {
        let (skipped, message) = match fault {
            Fault::Line(issue) => (true, issue.into_owned()),
            Fault::Values(message) => (false, message),
        };
        self.count += 1;
        self.skipped += u64::from(skipped);
        if self.first.len() < TOLD {
            self.first.push(Problem { place, message, skipped, excerpt: excerpt(line) });
        }
    }

    /// Adds the problems of other lines between these.
    pub(crate) fn merge(&mut self, others: &Problems) {
        self.count += others.count;
        self.skipped += others.skipped;
        self.first.extend_from_slice(&others.first);
        self.first.sort_by_key(|problem| problem.place);
        self.first.truncate(TOLD);
    }

    /// Adds the problems of lines after these.
    pub(crate) fn append(&mut self, later: &Problems) {
        self.count += later.count;
        self.skipped += later.skipped;
        let room = TOLD.saturating_sub(self.first.len());
        self.first.extend(later.first.iter().take(room).cloned());
    }

    /// Adds `by` to every line number.
    pub(crate) fn shift(&mut self, by: u64) {
        for problem in &mut self.first {
            problem.place.line += by;
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.count, self.skipped) = (0, 0);
        self.first.clear();
    }
}

/// A text that a message quotes, which may be of any length.
pub(crate) fn shortened(text: &str) -> String {
    let mut rest = text.chars();
    let mut start: String = rest.by_ref().take(SHOWN / 2).collect();
    if rest.next().is_some() {
        start.push('…');
    }
    start
}

/// The beginning of a line, made fit for a terminal.
pub(crate) fn excerpt(line: &[u8]) -> String {
    let line = line.trim_ascii();
    let shown = &line[..line.len().min(SHOWN)];
    let text: String =
        String::from_utf8_lossy(shown).chars().map(|c| if c.is_control() { '·' } else { c }).collect();
    // A character cut in two at the end is not the line's fault.
    if line.len() > SHOWN { format!("{}…", text.trim_end_matches('\u{fffd}')) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(b"a\x1b[31mb\0\r\n"), "a·[31mb·");
        assert_eq!(
            (shortened("é"), shortened(&"é".repeat(31))),
            ("é".into(), format!("{}…", "é".repeat(30)))
        );
        assert_eq!(excerpt("é".repeat(40).as_bytes()), format!("{}…", "é".repeat(30)));
        assert_eq!(excerpt(format!("x{}", "é".repeat(40)).as_bytes()), format!("x{}…", "é".repeat(29)));
    }
}
