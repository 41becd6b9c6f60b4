//! Redirection of the standard streams of a program that is started under a session.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

/// Redirection of one of the program's standard streams.
#[derive(Debug, Default)]
pub enum Stream {
    /// The same stream as the debugger's.
    #[default]
    Inherited,
    /// `/dev/null`.
    Null,
    /// An open file.
    File(OwnedFd),
}

impl Stream {
    /// Returns the stream for one start of the program. A file can be used several times.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn stdio(&self) -> io::Result<Stdio> {
        Ok(match self {
            Stream::Inherited => Stdio::inherit(),
            Stream::Null => Stdio::null(),
            Stream::File(file) => file.try_clone()?.into(),
        })
    }
}
