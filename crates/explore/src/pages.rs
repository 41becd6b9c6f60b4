//! Large zeroed memory mappings, in huge pages if the system provides them.
//!
//! A search accesses its memory randomly. With ordinary pages, each access would cost a TLB miss in addition to the
//! cache miss.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::atomic::AtomicU64;

/// The usual size of a huge page.
pub(crate) const HUGE_PAGE_SIZE: usize = 2 << 20;

/// A word that may be shared between threads.
///
/// # Safety
/// The type must have the size of `u64`, and zero must be a valid value.
pub(crate) unsafe trait Word: Send + Sync {}

// SAFETY: it is `u64` itself.
unsafe impl Word for u64 {}
// SAFETY: it has the size and the valid values of `u64`.
unsafe impl Word for AtomicU64 {}

/// A zero-initialized mapping of words. Pages that were never written take no memory.
pub(crate) struct ZeroedMapping<W = u64> {
    /// Start of the whole mapping.
    base: NonNull<c_void>,
    /// Size of the whole mapping.
    mapped_bytes: usize,
    /// Start of the aligned words in the mapping.
    start: NonNull<W>,
    /// Number of aligned words.
    words: usize,
}

// SAFETY: the mapping is owned by this value alone, like that of a `Box`, and words are `Send`.
unsafe impl<W: Word> Send for ZeroedMapping<W> {}
// SAFETY: as above; sharing gives only `&[W]`, and words are `Sync`.
unsafe impl<W: Word> Sync for ZeroedMapping<W> {}

impl<W: Word> ZeroedMapping<W> {
    /// Maps `words` words in ordinary pages. Returns `None` if the mapping fails.
    pub(crate) fn new(words: usize) -> Option<ZeroedMapping<W>> {
        ZeroedMapping::map(words, 0)
    }

    /// Maps `words` words in huge pages, if the system provides them.
    pub(crate) fn huge(words: usize) -> Option<ZeroedMapping<W>> {
        let pages = Self::map(words, HUGE_PAGE_SIZE)?;
        pages.prefer_huge(0);
        Some(pages)
    }

    /// Maps `words` words of which few may ever be used: the first ones are in ordinary pages, because clearing a huge
    /// page is slow.
    pub(crate) fn sparse(words: usize) -> Option<ZeroedMapping<W>> {
        let pages = Self::map(words, HUGE_PAGE_SIZE)?;
        pages.prefer_huge(HUGE_PAGE_SIZE);
        Some(pages)
    }

    /// Requests huge pages from byte `from` on, which must be a multiple of their size.
    fn prefer_huge(&self, from: usize) {
        #[cfg(target_os = "linux")]
        if let Some(bytes) = (self.words * 8).checked_sub(from).filter(|bytes| *bytes > 0) {
            // SAFETY: the range is inside the mapping. The advice only affects performance, so an error can be ignored.
            let _ = unsafe {
                let start = self.start.as_ptr().byte_add(from);
                rustix::mm::madvise(start.cast(), bytes, rustix::mm::Advice::LinuxHugepage)
            };
        }
    }

    /// Maps `align` extra bytes, so that the words can start at a multiple of `align`.
    fn map(words: usize, align: usize) -> Option<ZeroedMapping<W>> {
        let mapped_bytes = words.max(1).checked_mul(8)?.checked_add(align)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address chosen by the system affects no other memory.
        let base =
            unsafe { mmap_anonymous(null_mut(), mapped_bytes, ProtFlags::READ | ProtFlags::WRITE, flags) };
        let base = NonNull::new(base.ok()?)?;
        let skipped = if align == 0 { 0 } else { base.as_ptr().align_offset(align) };
        // SAFETY: fewer than `align` bytes are skipped, and `align` extra bytes were mapped.
        let start = unsafe { base.byte_add(skipped) }.cast();
        Some(ZeroedMapping { base, mapped_bytes, start, words })
    }
}

impl<W> Drop for ZeroedMapping<W> {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` created, and no borrow of it remains.
        let _ = unsafe { munmap(self.base.as_ptr(), self.mapped_bytes) };
    }
}

impl<W: Word> Deref for ZeroedMapping<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        // SAFETY: `start` is page-aligned, and the following `words` words are mapped and initialized.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl<W: Word> DerefMut for ZeroedMapping<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        // SAFETY: as in `deref`; `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zero_and_keep_written_words() {
        for mut pages in
            [ZeroedMapping::<u64>::new(1000), ZeroedMapping::huge(1 << 19), ZeroedMapping::sparse(1 << 19)]
                .map(Option::unwrap)
        {
            assert!(pages.iter().all(|word| *word == 0));
            let last = pages.len() - 1;
            (pages[0], pages[last]) = (1, 2);
            assert_eq!((pages[0], pages[last]), (1, 2));
        }
    }

    #[test]
    fn huge_mapping_is_aligned_to_huge_page() {
        assert!(ZeroedMapping::<u64>::huge(1 << 19).unwrap().as_ptr().addr().is_multiple_of(HUGE_PAGE_SIZE));
    }

    #[test]
    fn mapping_beyond_address_space_fails() {
        assert!(ZeroedMapping::<u64>::new(usize::MAX / 8).is_none());
        assert!(ZeroedMapping::<u64>::huge(usize::MAX).is_none());
    }
}
