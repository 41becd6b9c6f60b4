//! Positions in open files.
//!
//! A copied process has its own descriptors but shares the open files behind them, positions included. So a
//! position is put back from here through any descriptor of the file; nothing need run in the program.

use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use nix::errno::Errno;
use nix::unistd::Pid;

use crate::inject::raw;

/// The positions of a process in its files and directories.
pub(super) struct Positions(Vec<(i32, u64)>);

impl Positions {
    /// Reads them.
    pub(super) fn of(process: Pid) -> Result<Self, Errno> {
        let handle = raw::process_handle(process)?;
        let ours = ours();
        let mut found = Vec::new();
        for entry in std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
            let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let Ok(mut file) = raw::descriptor_of(&handle, number) else { continue };
            // Nothing else has a position.
            let moves = |kind: Metadata| {
                (kind.is_file() || kind.is_dir()) && !ours.contains(&(kind.dev(), kind.ino()))
            };
            if file.metadata().is_ok_and(moves) {
                found.extend(file.stream_position().ok().map(|position| (number, position)));
            }
        }
        Ok(Self(found))
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts them back. `copy` is a copy of the process that still has the descriptors of then.
    pub(super) fn put_back(&self, copy: Pid) -> Result<(), Errno> {
        if self.0.is_empty() {
            return Ok(());
        }
        let handle = raw::process_handle(copy)?;
        for &(number, position) in &self.0 {
            // A file that can no longer be moved in is a limit that nobody can help.
            let _ = raw::descriptor_of(&handle, number).map(|mut file| file.seek(SeekFrom::Start(position)));
        }
        Ok(())
    }
}

/// The files that we write to ourselves. A program that was given our output shares its position with us: if that
/// were put back, we would write over what was said since.
fn ours() -> Vec<(u64, u64)> {
    let (out, err) = (io::stdout(), io::stderr());
    let files = [out.as_fd(), err.as_fd()].map(|stream| stream.try_clone_to_owned().map(File::from));
    files
        .into_iter()
        .flatten()
        .filter_map(|file| file.metadata().ok())
        .map(|kind| (kind.dev(), kind.ino()))
        .collect()
}
