//! The memory of a process, as the kernel shows it: traps and all.

use invigil_debuginfo::machine::Inaccessible;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

/// The memory of a process. Writing pays no heed to protections, so that code can be changed.
#[derive(Debug)]
pub(crate) struct RawMemory {
    file: File,
}

impl RawMemory {
    pub(crate) fn open(process: i32) -> io::Result<RawMemory> {
        let file = OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem"))?;
        Ok(RawMemory { file })
    }

    #[inline]
    pub(crate) fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        self.file.read_exact_at(into, at).map_err(|_| Inaccessible(at))
    }

    /// As much as can be read, up to the length of `into`.
    pub(crate) fn read_some(&self, at: u64, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], at.wrapping_add(done as u64)) {
                Ok(0) | Err(_) => break,
                Ok(n) => done += n,
            }
        }
        done
    }

    pub(crate) fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Inaccessible> {
        self.file.write_all_at(bytes, at).map_err(|_| Inaccessible(at))
    }
}
