//! Large zeroed memory from the system, in huge pages where it has them.
//!
//! A search reads places all over its memory. With ordinary pages, each such read costs a walk through the page
//! tables on top of the read itself.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::atomic::AtomicU64;

/// The usual size of a huge page.
pub(crate) const HUGE: usize = 2 << 20;

/// A word that threads share, or not.
///
/// # Safety
/// It must be as large as a `u64`, and zero must be one of its values.
pub(crate) unsafe trait Word: Send + Sync {}

// SAFETY: it is one.
unsafe impl Word for u64 {}
// SAFETY: it has the size and the values of a `u64`.
unsafe impl Word for AtomicU64 {}

/// Words of memory, zero at first. What was never written takes no memory.
pub(crate) struct Pages<W = u64> {
    /// Of the whole mapping.
    base: NonNull<c_void>,
    mapped: usize,
    /// The words in it.
    start: NonNull<W>,
    words: usize,
}

// SAFETY: the mapping belongs to this value alone, as the memory of a box does, and words may be sent.
unsafe impl<W: Word> Send for Pages<W> {}
// SAFETY: as above; sharing gives `&[W]` only, and words may be shared.
unsafe impl<W: Word> Sync for Pages<W> {}

impl<W: Word> Pages<W> {
    /// That many words, at least one, or none if the system has not so much.
    pub(crate) fn new(words: usize) -> Option<Pages<W>> {
        Pages::map(words, 0)
    }

    /// The same in huge pages, if the system has them.
    pub(crate) fn huge(words: usize) -> Option<Pages<W>> {
        let pages = Self::map(words, HUGE)?;
        pages.prefer_huge(0);
        Some(pages)
    }

    /// That many words, of which perhaps only few will ever be used: the first come in ordinary pages, because a huge page
    /// is much to clear.
    pub(crate) fn reserve(words: usize) -> Option<Pages<W>> {
        let pages = Self::map(words, HUGE)?;
        pages.prefer_huge(HUGE);
        Some(pages)
    }

    /// Asks for huge pages from that byte on, a multiple of their size.
    fn prefer_huge(&self, from: usize) {
        #[cfg(target_os = "linux")]
        if let Some(bytes) = (self.words * 8).checked_sub(from).filter(|bytes| *bytes > 0) {
            // SAFETY: the range lies in the mapping. The advice changes nothing that can be seen but the speed, so it
            // does not matter if the system refuses.
            let _ = unsafe {
                let start = self.start.as_ptr().byte_add(from);
                rustix::mm::madvise(start.cast(), bytes, rustix::mm::Advice::LinuxHugepage)
            };
        }
    }

    /// Maps a little more, so that the words can begin at a multiple of `align`.
    fn map(words: usize, align: usize) -> Option<Pages<W>> {
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

impl<W> Drop for Pages<W> {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nothing borrows from it any more.
        let _ = unsafe { munmap(self.base.as_ptr(), self.mapped) };
    }
}

impl<W: Word> Deref for Pages<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        // SAFETY: `start` is aligned to a page, and `words` words behind it are mapped and zero or written since.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl<W: Word> DerefMut for Pages<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        // SAFETY: as in `deref`; `self` is borrowed alone.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zero_and_keep_what_is_written() {
        for mut pages in
            [Pages::<u64>::new(1000), Pages::huge(1 << 19), Pages::reserve(1 << 19)].map(Option::unwrap)
        {
            assert!(pages.iter().all(|word| *word == 0));
            let last = pages.len() - 1;
            (pages[0], pages[last]) = (1, 2);
            assert_eq!((pages[0], pages[last]), (1, 2));
        }
    }

    #[test]
    fn huge_pages_begin_at_a_huge_page() {
        assert!(Pages::<u64>::huge(1 << 19).unwrap().as_ptr().addr().is_multiple_of(HUGE));
    }

    #[test]
    fn more_than_there_is_is_refused() {
        assert!(Pages::<u64>::new(usize::MAX / 8).is_none());
        assert!(Pages::<u64>::huge(usize::MAX).is_none());
    }
}
