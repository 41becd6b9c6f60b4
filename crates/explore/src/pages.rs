//! Large zeroed memory from the system, in huge pages where it has them.
//!
//! A search reads places all over its memory. With ordinary pages, each such read costs a walk through the page
//! tables on top of the read itself.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::slice;

/// The usual size of a huge page.
const HUGE: usize = 2 << 20;

/// Words of memory, zero at first. What was never written takes no memory.
pub(crate) struct Pages {
    /// Of the whole mapping.
    base: NonNull<c_void>,
    mapped: usize,
    /// The words in it.
    start: NonNull<u64>,
    words: usize,
}

// SAFETY: the mapping belongs to this value alone, as the memory of a box does.
unsafe impl Send for Pages {}
// SAFETY: as above; sharing gives `&[u64]` only.
unsafe impl Sync for Pages {}

impl Pages {
    /// That many words, at least one, or none if the system has not so much.
    pub(crate) fn new(words: usize) -> Option<Pages> {
        Pages::map(words, 0)
    }

    /// The same in huge pages, if the system has them.
    pub(crate) fn huge(words: usize) -> Option<Pages> {
        let pages = Pages::map(words, HUGE)?;
        #[cfg(target_os = "linux")]
        // SAFETY: the range lies in the mapping. The advice changes nothing that can be seen but the speed, so it
        // does not matter if the system refuses.
        let _ = unsafe {
            rustix::mm::madvise(pages.start.as_ptr().cast(), words * 8, rustix::mm::Advice::LinuxHugepage)
        };
        Some(pages)
    }

    /// Maps a little more, so that the words can begin at a multiple of `align`.
    fn map(words: usize, align: usize) -> Option<Pages> {
        let mapped = words.max(1).checked_mul(8)?.checked_add(align)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at a place that the system chooses touches no other memory.
        let base = unsafe { mmap_anonymous(null_mut(), mapped, ProtFlags::READ | ProtFlags::WRITE, flags) };
        let base = NonNull::new(base.ok()?)?;
        let skipped = if align == 0 { 0 } else { base.as_ptr().align_offset(align) };
        // SAFETY: less than `align` bytes are skipped, and `align` more were mapped than are needed.
        let start = unsafe { base.byte_add(skipped) }.cast();
        Some(Pages { base, mapped, start, words })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nothing borrows from it any more.
        let _ = unsafe { munmap(self.base.as_ptr(), self.mapped) };
    }
}

impl Deref for Pages {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        // SAFETY: `start` is aligned to a page, and `words` words behind it are mapped and zero or written since.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `deref`; `self` is borrowed alone.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zero_and_keep_what_is_written() {
        for mut pages in [Pages::new(1000).unwrap(), Pages::huge(1 << 19).unwrap()] {
            assert!(pages.iter().all(|word| *word == 0));
            let last = pages.len() - 1;
            (pages[0], pages[last]) = (1, 2);
            assert_eq!((pages[0], pages[last]), (1, 2));
        }
    }

    #[test]
    fn huge_pages_begin_at_a_huge_page() {
        assert!(Pages::huge(1 << 19).unwrap().as_ptr().addr().is_multiple_of(HUGE));
    }

    #[test]
    fn more_than_there_is_is_refused() {
        assert!(Pages::new(usize::MAX / 8).is_none());
        assert!(Pages::huge(usize::MAX).is_none());
    }
}
