//! Why a class file cannot be used.

use std::fmt;

/// The newest major version of class files that is known: Java 26.
pub(crate) const NEWEST: u16 = 70;

/// Why a class file cannot be used. Offsets count bytes from the start of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file ends before it should.
    Truncated {
        /// Where it was being read.
        offset: usize,
        /// What was being read.
        what: &'static str,
    },
    /// It was made for a Java that is newer than this program knows.
    Newer {
        /// The major version that it states.
        major: u16,
    },
    /// It breaks a rule of the format.
    Malformed {
        /// Where.
        offset: usize,
        /// What is wrong.
        what: &'static str,
    },
}

impl Problem {
    /// Where in the file the problem shows.
    pub fn offset(&self) -> usize {
        match self {
            Problem::Truncated { offset, .. } | Problem::Malformed { offset, .. } => *offset,
            Problem::Newer { .. } => 6,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Truncated { offset, what } => {
                write!(f, "the class file is cut short at byte {offset}, in {what}: compile or copy it again")
            }
            Problem::Newer { major } => write!(
                f,
                "the class file is of version {major} (Java {}), and versions up to {NEWEST} (Java {}) are known: \
                 compile with `--release {}` or lower, or use a newer Invigil",
                major.saturating_sub(44),
                NEWEST - 44,
                NEWEST - 44,
            ),
            Problem::Malformed { offset, what } => {
                write!(f, "the class file is damaged at byte {offset}: {what}")
            }
        }
    }
}

impl std::error::Error for Problem {}
