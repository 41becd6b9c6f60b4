//! Asking for memory before it is read.

/// Tells the processor that `place` will be read soon. A hint: nothing happens where there is no such instruction.
#[inline(always)]
pub(crate) fn soon<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching reads nothing that can be seen and never faults; the address is that of a live reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// The same for a few words, which may lie across two lines of the cache.
#[inline(always)]
pub(crate) fn all<T>(words: &[T]) {
    if let (Some(first), Some(last)) = (words.first(), words.last()) {
        soon(first);
        soon(last);
    }
}
