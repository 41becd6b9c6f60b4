//! Prefetching of memory.

/// Prefetches a cache line. A hint: without such an instruction it has no effect.
#[inline(always)]
pub(crate) fn prefetch<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no observable effect and never faults; the address is that of a live reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

/// Prefetches a few words, which may cross a cache-line boundary.
#[inline(always)]
pub(crate) fn prefetch_words<T>(words: &[T]) {
    if let (Some(first), Some(last)) = (words.first(), words.last()) {
        prefetch(first);
        prefetch(last);
    }
}
