//! What can go wrong with a trace as a whole. A line that cannot be read is a [`Problem`], not an error,
//! unless the reader is strict.

use crate::problems::Problem;
use std::error::Error;
use std::fmt;
use std::io;

/// Why a trace could not be read, or not to its end. The message names the place and the remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The input could not be opened.
    Open {
        /// The input's name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// Reading failed on the way: an I/O error, or damaged or truncated compressed data. All whole lines
    /// before were delivered.
    Read {
        /// The input's name.
        name: String,
        /// The line that could not be read any more.
        line: u64,
        /// How the input is compressed, if it is.
        compression: Option<&'static str>,
        /// What the system or the decompressor says.
        source: io::Error,
    },
    /// The input is something that is not read here.
    Unsupported {
        /// The input's name.
        name: String,
        /// What it is.
        what: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The header of a CSV file is not one.
    Header {
        /// The input's name.
        name: String,
        /// The header's line.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// The first bad line, when the reader is strict.
    Strict {
        /// The input's name.
        name: String,
        /// The line.
        problem: Problem,
    },
    /// An event has no time, but several inputs are to be merged by it.
    NoTime {
        /// The input's name.
        name: String,
        /// The event's line.
        line: u64,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Open { name, source } => {
                write!(f, "{name}: cannot open the trace: {source}")?;
                match source.kind() {
                    io::ErrorKind::NotFound => {
                        f.write_str("; check the path, or use `-` to read standard input")
                    }
                    io::ErrorKind::PermissionDenied => f.write_str("; make the file readable"),
                    _ => Ok(()),
                }
            }
            TraceError::Read { name, line, compression, source } => {
                let read = line - 1;
                match (compression, source.kind()) {
                    (Some(how), io::ErrorKind::UnexpectedEof) => write!(
                        f,
                        "{name}:{line}: the {how} data ends too early; the {read} lines before were read; \
                         copy or compress the file again"
                    ),
                    (Some(how), _) => write!(
                        f,
                        "{name}:{line}: the {how} data is damaged ({source}); the {read} lines before were \
                         read; copy or compress the file again"
                    ),
                    (None, io::ErrorKind::IsADirectory) => {
                        write!(f, "{name}: is a directory; name the files in it")
                    }
                    (None, _) => {
                        write!(
                            f,
                            "{name}:{line}: cannot read on: {source}; the {read} lines before were read"
                        )
                    }
                }
            }
            TraceError::Unsupported { name, what, remedy } => write!(f, "{name}: this is {what}; {remedy}"),
            TraceError::Header { name, line, message } => write!(
                f,
                "{name}:{line}: {message}; the first line of a CSV trace names its columns, as in \
                 `event,time,queue`"
            ),
            TraceError::Strict { name, problem } => write!(
                f,
                "{name}:{}: {problem}; correct the line, or read without `--strict` to go on after it",
                problem.place.line
            ),
            TraceError::NoTime { name, line } => write!(
                f,
                "{name}:{line}: the event has no time, by which several traces are merged; give the files one \
                 at a time, or record a `time` field"
            ),
        }
    }
}

impl Error for TraceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TraceError::Open { source, .. } | TraceError::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}
