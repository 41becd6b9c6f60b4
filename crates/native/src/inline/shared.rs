//! Memory of a ring, as the tool has it.

use invigil_probe::ring::Ring;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

/// Memory that holds a ring: a part of the library's, or the tool's own where there is no library.
#[derive(Debug)]
pub(super) struct Shared {
    at: *mut libc::c_void,
    bits: u32,
}

// SAFETY: the memory is reached through rings only, and those may be used by several threads.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps a ring of so many slots, as a power of two; with a file, that of the library's memory, from this place on.
    pub(super) fn map(file: Option<(&File, u64)>, bits: u32) -> io::Result<Shared> {
        let (flags, descriptor, offset) = match file {
            Some((file, offset)) => (libc::MAP_SHARED, file.as_raw_fd(), offset as libc::off_t),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: memory is mapped where the system finds room for it, over nothing else.
        let at =
            unsafe { libc::mmap(ptr::null_mut(), Ring::bytes(bits), protection, flags, descriptor, offset) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Shared { at, bits })
    }

    /// The ring, which is not to be used longer than this.
    pub(super) fn ring(&self) -> Ring {
        // SAFETY: the memory is as large, begins with a page, and is there until this is dropped.
        unsafe { Ring::new(self.at.cast(), self.bits) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: it was mapped, and whoever has a ring of it has this, too.
        unsafe { libc::munmap(self.at, Ring::bytes(self.bits)) };
    }
}
