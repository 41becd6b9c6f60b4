//! Where the standard streams of a program lead that is started to be watched.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

/// Where one of the program's standard streams leads.
#[derive(Debug, Default)]
pub enum Stream {
    /// Where ours does.
    #[default]
    Inherited,
    /// Nowhere.
    Null,
    /// To or from an open file.
    File(OwnedFd),
}

impl Stream {
    /// The same for one start of the program; a file can be given to several.
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
