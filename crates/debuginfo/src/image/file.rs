//! The bytes of a file, for as long as the tool runs.

use crate::problem::Problem;
use memmap2::Mmap;
use std::fs::File;
use std::path::Path;

/// Maps a file and never unmaps it.
pub(crate) fn map(path: &Path) -> Result<&'static [u8], Problem> {
    // Asked before opening: to open a pipe is to wait for somebody who writes into it.
    let about = std::fs::metadata(path).map_err(Problem::from_io)?;
    if about.is_dir() {
        return Err(Problem::Directory);
    }
    if !about.is_file() {
        return Err(Problem::Special);
    }
    let file = File::open(path).map_err(Problem::from_io)?;
    if about.len() == 0 {
        return Ok(&[]);
    }
    // SAFETY: the mapping is private and read-only, and it is never unmapped. Linkers and package managers
    // write a new file and leave the one that is mapped alone, and a program cannot be written while it runs.
    // A file that is nevertheless changed in place gives other bytes, which every reader here takes for a
    // damaged file; one that is cut short in place would end the tool, as it would end the program itself.
    let mapping = unsafe { Mmap::map(&file) }.map_err(Problem::Unreadable)?;
    Ok(&**Box::leak(Box::new(mapping)))
}
