//! Errors of opening a file as an image.

use std::fmt;
use std::io;

/// Reason why a file cannot be used as an image.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImageError {
    /// The file does not exist.
    NotFound,
    /// The user has no permission to read it.
    PermissionDenied,
    /// It is a directory.
    Directory,
    /// It is neither a file nor a directory: a pipe, a device.
    NotRegularFile,
    /// Reading failed.
    Unreadable(io::Error),
    /// A script that an interpreter runs.
    Script {
        /// The interpreter that the first line names.
        interpreter: String,
    },
    /// Not an ELF file.
    NotElf,
    /// A file for 32-bit machines.
    Bits32,
    /// A file for another machine or another byte order.
    OtherMachine(String),
    /// An ELF file that is neither a program nor a library; the text names its type.
    NotProgram(&'static str),
    /// Truncated or malformed.
    Malformed(String),
}

impl ImageError {
    pub(crate) fn from_io(error: io::Error) -> ImageError {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ImageError::NotFound,
            io::ErrorKind::PermissionDenied => ImageError::PermissionDenied,
            _ => ImageError::Unreadable(error),
        }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::NotFound => f.write_str("no such file"),
            ImageError::PermissionDenied => f.write_str("permission denied"),
            ImageError::Directory => f.write_str("is a directory, not a program"),
            ImageError::NotRegularFile => f.write_str("is a pipe or a device, not a program"),
            ImageError::Unreadable(error) => write!(f, "cannot be read: {error}"),
            ImageError::Script { interpreter } => {
                write!(f, "is a script for `{interpreter}`; run that program with the script as its argument")
            }
            ImageError::NotElf => f.write_str("is not a program (no ELF header)"),
            ImageError::Bits32 => f.write_str("is a 32-bit program; only 64-bit programs are supported"),
            ImageError::OtherMachine(machine) => {
                write!(f, "is a program for {machine}; only x86-64 is supported")
            }
            ImageError::NotProgram(file_type) => write!(f, "is {file_type}, neither a program nor a library"),
            ImageError::Malformed(why) => write!(f, "is truncated or malformed: {why}"),
        }
    }
}

impl std::error::Error for ImageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ImageError::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}
