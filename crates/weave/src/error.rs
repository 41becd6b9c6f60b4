//! Errors of parsing class files.

use std::fmt;

/// The newest supported major version of class files: Java 26.
pub(crate) const NEWEST: u16 = 70;

/// Reason why a class file cannot be used. Offsets count bytes from the start of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClassFileError {
    /// The file is truncated.
    Truncated {
        /// Offset at which reading failed.
        offset: usize,
        /// The part of the file that was being read.
        part: &'static str,
    },
    /// The file requires a newer Java version than the supported ones.
    Newer {
        /// The major version of the file.
        major: u16,
    },
    /// The file violates the format.
    Malformed {
        /// Offset of the error.
        offset: usize,
        /// The error message.
        message: &'static str,
    },
}

impl ClassFileError {
    /// Offset in the file at which the error was detected.
    pub fn offset(&self) -> usize {
        match self {
            ClassFileError::Truncated { offset, .. } | ClassFileError::Malformed { offset, .. } => *offset,
            ClassFileError::Newer { .. } => 6,
        }
    }
}

impl fmt::Display for ClassFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassFileError::Truncated { offset, part } => {
                write!(f, "the class file is truncated at byte {offset}, in {part}; compile or copy it again")
            }
            ClassFileError::Newer { major } => write!(
                f,
                "the class file has version {major} (Java {}), and only versions up to {NEWEST} (Java {}) are supported; \
                 compile with `--release {}` or lower, or use a newer Invigil",
                major.saturating_sub(44),
                NEWEST - 44,
                NEWEST - 44,
            ),
            ClassFileError::Malformed { offset, message } => {
                write!(f, "the class file is malformed at byte {offset}: {message}")
            }
        }
    }
}

impl std::error::Error for ClassFileError {}
