//! Why a file cannot be used.

use std::fmt;
use std::io;

/// Why a file cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// There is no such file.
    Missing,
    /// The user may not read it.
    Denied,
    /// It is a directory.
    Directory,
    /// It is neither a file nor a directory: a pipe, a device.
    Special,
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is a text that an interpreter runs.
    Script {
        /// The interpreter that its first line names.
        interpreter: String,
    },
    /// It is no ELF file.
    NotElf,
    /// It is for 32-bit machines.
    Bits32,
    /// It is for another machine or another byte order.
    OtherMachine(String),
    /// It is an ELF file, but neither a program nor a library.
    NotProgram(&'static str),
    /// It is cut short or damaged.
    Damaged(String),
}

impl Problem {
    pub(crate) fn from_io(error: io::Error) -> Problem {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Problem::Missing,
            io::ErrorKind::PermissionDenied => Problem::Denied,
            _ => Problem::Unreadable(error),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Missing => f.write_str("there is no such file"),
            Problem::Denied => f.write_str("you have no permission to read it"),
            Problem::Directory => f.write_str("it is a directory, not a program"),
            Problem::Special => f.write_str("it is a pipe or a device, not a program"),
            Problem::Unreadable(error) => write!(f, "it cannot be read: {error}"),
            Problem::Script { interpreter } => write!(
                f,
                "it is a script, which `{interpreter}` runs: name that program, with the script as its argument"
            ),
            Problem::NotElf => f.write_str("it is not a program: it does not begin as an ELF file does"),
            Problem::Bits32 => f.write_str("a 32-bit program: Invigil watches 64-bit ones"),
            Problem::OtherMachine(machine) => {
                write!(f, "a program for {machine}: Invigil watches programs for x86-64")
            }
            Problem::NotProgram(what) => write!(f, "it is {what}, neither a program nor a library"),
            Problem::Damaged(why) => write!(f, "the file is cut short or damaged: {why}"),
        }
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Problem::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}
