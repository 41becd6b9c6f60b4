//! Errors in the input, and limits of the formats.

use std::fmt;

/// A position in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputPosition {
    /// The line, counted from one.
    Line(u64),
    /// The byte, counted from zero.
    Byte(u64),
}

impl fmt::Display for InputPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputPosition::Line(line) => write!(f, "line {line}"),
            InputPosition::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// An error in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The position.
    pub position: InputPosition,
    /// The error and its remedy.
    pub message: String,
    /// Whether the rest cannot be read: the byte format has no marks at which reading could resume.
    pub is_fatal: bool,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.message)
    }
}

impl std::error::Error for InputError {}

/// Maximum number of errors that are kept as text.
const MAX_KEPT: usize = 10;

/// The number of input errors, and the first few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputErrors {
    count: u64,
    first: Vec<String>,
}

impl InputErrors {
    /// Counts an error, and keeps it if it is among the first ten.
    pub fn add(&mut self, error: impl fmt::Display) {
        self.count += 1;
        if self.first.len() < MAX_KEPT {
            self.first.push(error.to_string());
        }
    }

    /// Adds errors that were counted elsewhere.
    pub fn extend(&mut self, count: u64, first: impl IntoIterator<Item = String>) {
        self.count += count;
        self.first.extend(first);
        self.first.truncate(MAX_KEPT);
    }

    /// The number of errors.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first ten errors, each with its position and remedy.
    pub fn first(&self) -> &[String] {
        &self.first
    }
}

/// Data that a format cannot represent, or that the receiver does not accept, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError(pub(crate) String);

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FormatError {}

/// The remedy for every limit of the published formats.
pub(crate) const USE_LINES: &str = "the format `lines` has no such limit";
