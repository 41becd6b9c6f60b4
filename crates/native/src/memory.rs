//! Raw memory of a process, traps included.

use invigil_debuginfo::machine::Inaccessible;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

/// The memory of a process. Writes ignore page protections, so code can be changed.
#[derive(Debug)]
pub(crate) struct ProcessMemory {
    file: File,
}

impl ProcessMemory {
    pub(crate) fn open(process: i32) -> io::Result<ProcessMemory> {
        let file = OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem"))?;
        Ok(ProcessMemory { file })
    }

    #[inline]
    pub(crate) fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        self.file.read_exact_at(into, at).map_err(|_| Inaccessible(at))
    }

    /// Reads as much as is readable, at most the length of `into`. Returns how much that was.
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
