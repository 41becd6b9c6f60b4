//! What is wrong with what came in, and what cannot be said in a format.

use std::fmt;

/// Where in a stream something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The line, counted from one.
    Line(u64),
    /// The byte, counted from zero.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What is wrong, and the remedy.
    pub message: String,
    /// Whether nothing after it can be read: bytes have no beginning of the next thing to look for.
    pub is_fatal: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for Problem {}

/// How many problems are told in full.
const TOLD: usize = 10;

/// What could not be read: how often, and the first few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    count: u64,
    first: Vec<String>,
}

impl Problems {
    /// Counts a problem, and keeps it if it is among the first ten.
    pub fn add(&mut self, words: impl fmt::Display) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push(words.to_string());
        }
    }

    /// Counts problems that others have found.
    pub fn extend(&mut self, count: u64, first: impl IntoIterator<Item = String>) {
        self.count += count;
        self.first.extend(first);
        self.first.truncate(TOLD);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first ten, each with its place and the remedy.
    pub fn first(&self) -> &[String] {
        &self.first
    }
}

/// Something that a format has no room for, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit(pub(crate) String);

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Limit {}

/// The remedy for every limit of the published formats.
pub(crate) const USE_LINES: &str = "the format `lines` has no such limit";
