//! Positions in open files.
//!
//! A copied process has its own descriptors but shares the open files behind them, positions included. So the
//! debugger restores a position through any descriptor of the file; nothing has to run in the target.

use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use nix::errno::Errno;
use nix::unistd::Pid;

use crate::inject::raw;

/// Positions of a process in its files and directories.
pub(super) struct FilePositions(Vec<(i32, u64)>);

impl FilePositions {
    /// Reads the positions.
    pub(super) fn of(process: Pid) -> Result<Self, Errno> {
        let handle = raw::process_handle(process)?;
        let own_output_files = own_output_files();
        let mut found = Vec::new();
        for entry in std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
            let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let Ok(mut file) = raw::descriptor_of(&handle, number) else { continue };
            // Nothing else has a position.
            let has_position = |metadata: Metadata| {
                (metadata.is_file() || metadata.is_dir())
                    && !own_output_files.contains(&(metadata.dev(), metadata.ino()))
            };
            if file.metadata().is_ok_and(has_position) {
                found.extend(file.stream_position().ok().map(|position| (number, position)));
            }
        }
        Ok(Self(found))
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Restores the positions. `copy` is a copy of the process that still has the original descriptors.
    pub(super) fn put_back(&self, copy: Pid) -> Result<(), Errno> {
        if self.0.is_empty() {
            return Ok(());
        }
        let handle = raw::process_handle(copy)?;
        for &(number, position) in &self.0 {
            // Nothing can be done for a file that no longer supports seeking.
            let _ = raw::descriptor_of(&handle, number).map(|mut file| file.seek(SeekFrom::Start(position)));
        }
        Ok(())
    }
}

/// The debugger's own output files. A target that inherited them shares their positions: restoring those would
/// overwrite later output.
fn own_output_files() -> Vec<(u64, u64)> {
    let (out, err) = (io::stdout(), io::stderr());
    let files = [out.as_fd(), err.as_fd()].map(|stream| stream.try_clone_to_owned().map(File::from));
    files
        .into_iter()
        .flatten()
        .filter_map(|file| file.metadata().ok())
        .map(|metadata| (metadata.dev(), metadata.ino()))
        .collect()
}
