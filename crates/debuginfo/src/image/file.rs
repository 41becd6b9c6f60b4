//! Memory-mapped files that are never unmapped.

use crate::error::ImageError;
use memmap2::Mmap;
use std::fs::File;
use std::path::Path;

/// Maps a file and never unmaps it.
pub(crate) fn map(path: &Path) -> Result<&'static [u8], ImageError> {
    // Checked before opening, because opening a pipe blocks until a writer appears.
    let about = std::fs::metadata(path).map_err(ImageError::from_io)?;
    if about.is_dir() {
        return Err(ImageError::Directory);
    }
    if !about.is_file() {
        return Err(ImageError::NotRegularFile);
    }
    let file = File::open(path).map_err(ImageError::from_io)?;
    if about.len() == 0 {
        return Ok(&[]);
    }
    // SAFETY: the mapping is private and read-only, and it is never unmapped. Linkers and package managers write a new
    // file instead of changing the mapped one, and a program cannot be written while it runs. A file that is changed in
    // place nevertheless yields other bytes, which every reader treats as malformed input. A file that is truncated in
    // place would kill the debugger, as it would kill the program itself.
    let mapping = unsafe { Mmap::map(&file) }.map_err(ImageError::Unreadable)?;
    Ok(&**Box::leak(Box::new(mapping)))
}
