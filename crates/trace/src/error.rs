//! Errors of a trace as a whole. A malformed line is a [`LineError`], which ends the reading in strict mode only.

use crate::line_errors::LineError;
use std::error::Error;
use std::fmt;
use std::io;

/// Why a trace could not be read to its end. The message contains the position and a remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The input could not be opened.
    Open {
        /// The input's name.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// Reading failed: an I/O error, or corrupt or truncated compressed data. The complete lines before it were
    /// delivered.
    Read {
        /// The input's name.
        name: String,
        /// The line at which reading failed.
        line: u64,
        /// How the input is compressed, if it is.
        compression: Option<&'static str>,
        /// The error of the system or the decompressor.
        source: io::Error,
    },
    /// The input has an unsupported format.
    Unsupported {
        /// The input's name.
        name: String,
        /// The detected format.
        format: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// The header of a CSV file is invalid.
    Header {
        /// The input's name.
        name: String,
        /// The header's line.
        line: u64,
        /// The error message.
        message: String,
    },
    /// The first malformed line, in strict mode.
    Strict {
        /// The input's name.
        name: String,
        /// The error of the line.
        error: LineError,
    },
    /// An event has no time, but several inputs are merged by time.
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
                let lines_read = line - 1;
                match (compression, source.kind()) {
                    (Some(compression), io::ErrorKind::UnexpectedEof) => write!(
                        f,
                        "{name}:{line}: the {compression} data is truncated; the {lines_read} lines before were read; \
                         copy or compress the file again"
                    ),
                    (Some(compression), _) => write!(
                        f,
                        "{name}:{line}: the {compression} data is corrupt ({source}); the {lines_read} lines before were \
                         read; copy or compress the file again"
                    ),
                    (None, io::ErrorKind::IsADirectory) => {
                        write!(f, "{name}: is a directory; specify the files in it")
                    }
                    (None, _) => {
                        write!(
                            f,
                            "{name}:{line}: read error: {source}; the {lines_read} lines before were read"
                        )
                    }
                }
            }
            TraceError::Unsupported { name, format, remedy } => {
                write!(f, "{name}: unsupported input: {format}; {remedy}")
            }
            TraceError::Header { name, line, message } => write!(
                f,
                "{name}:{line}: {message}; the first line of a CSV trace contains the column names, as in \
                 `event,time,queue`"
            ),
            TraceError::Strict { name, error } => write!(
                f,
                "{name}:{}: {error}; correct the line, or omit `--strict` to skip it",
                error.position.line
            ),
            TraceError::NoTime { name, line } => write!(
                f,
                "{name}:{line}: the event has no time, which is needed to merge several traces; check the \
                 files one at a time, or record a `time` field"
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
