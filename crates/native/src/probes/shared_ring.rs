//! The debugger's mapping of a ring buffer.

use invigil_probe::ring::Ring;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

/// Memory of a ring: a part of the library's, or the debugger's own where there is no library.
#[derive(Debug)]
pub(super) struct SharedRing {
    at: *mut libc::c_void,
    bits: u32,
}

// SAFETY: the memory is accessed through rings only, which several threads may use.
unsafe impl Send for SharedRing {}
// SAFETY: as above.
unsafe impl Sync for SharedRing {}

impl SharedRing {
    /// Maps a ring with `1 << bits` slots. With a file, maps that part of the library's memory.
    pub(super) fn map(file: Option<(&File, u64)>, bits: u32) -> io::Result<SharedRing> {
        let (flags, descriptor, offset) = match file {
            Some((file, offset)) => (libc::MAP_SHARED, file.as_raw_fd(), offset as libc::off_t),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses an unused address range.
        let at =
            unsafe { libc::mmap(ptr::null_mut(), Ring::bytes(bits), protection, flags, descriptor, offset) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(SharedRing { at, bits })
    }

    /// The ring. It must not be used after this is dropped.
    pub(super) fn ring(&self) -> Ring {
        // SAFETY: the memory is large enough, page-aligned, and valid until this is dropped.
        unsafe { Ring::new(self.at.cast(), self.bits) }
    }
}

impl Drop for SharedRing {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped, and every user of the ring holds a reference to this.
        unsafe { libc::munmap(self.at, Ring::bytes(self.bits)) };
    }
}
