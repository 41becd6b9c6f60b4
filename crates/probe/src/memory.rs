//! Allocator of the library, and the memory functions that compiled code calls by name.
//!
//! Hand-written because it must survive a thread that dies inside it, which `talc` and the like do not.
//!
//! The debugger binds the library's imports of `malloc`, `memcpy` and so on to these functions. Nothing of the
//! target's is used, so there may be probes in the target's own.

use crate::control::INVIGIL_CONTROL;
use crate::lock::{Lock, LockGuard, MAX_NAPS};
use core::arch::naked_asm;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Size of the header before each block; it holds the block's size class.
const HEADER: usize = 16;
/// Smallest block, as a power of two: 32 bytes, header included. Block sizes are powers of two.
const MIN_CLASS_BITS: usize = 5;
const CLASSES: usize = 40;

struct Heap {
    free: [*mut u8; CLASSES],
}

// SAFETY: the pointers refer to memory that only the heap uses.
unsafe impl Send for Heap {}

static HEAP: Lock<Heap> = Lock::new(Heap { free: [ptr::null_mut(); CLASSES] });

/// Unlocks the heap of a dead target.
pub(crate) fn force_unlock() {
    HEAP.force_unlock();
}

/// Smallest size class with room for so many bytes and a header.
fn class(bytes: usize) -> usize {
    let bits = usize::BITS as usize - (bytes + HEADER - 1).leading_zeros() as usize;
    bits.saturating_sub(MIN_CLASS_BITS)
}

impl Heap {
    fn take(&mut self, class: usize) -> *mut u8 {
        let Some(head) = self.free.get_mut(class) else { return ptr::null_mut() };
        if !head.is_null() {
            let piece = *head;
            // SAFETY: a free block holds a pointer to the next one.
            *head = unsafe { piece.cast::<*mut u8>().read() };
            return piece;
        }
        let size = 1 << (class + MIN_CLASS_BITS);
        let control = &INVIGIL_CONTROL;
        let at = control.heap.load(Relaxed);
        if control.heap_end.load(Relaxed).saturating_sub(at) < size {
            return ptr::null_mut();
        }
        control.heap.store(at + size, Relaxed);
        at as usize as *mut u8
    }
}

/// As in the C library.
///
/// # Safety
/// As in the C library.
pub unsafe extern "C" fn malloc(bytes: usize) -> *mut u8 {
    // SAFETY: by the contract.
    unsafe { take(bytes, || Some(HEAP.lock())) }
}

/// Like [`malloc`], for the debugger. Also returns null if a stopped thread holds the heap's lock.
///
/// # Safety
/// As in the C library.
pub(crate) unsafe extern "C" fn allocate(bytes: usize) -> *mut u8 {
    // SAFETY: by the contract.
    unsafe { take(bytes, || HEAP.lock_within(MAX_NAPS)) }
}

unsafe fn take(bytes: usize, heap: impl Fn() -> Option<LockGuard<'static, Heap>>) -> *mut u8 {
    if bytes > isize::MAX as usize / 2 {
        return ptr::null_mut();
    }
    let class = class(bytes);
    let Some(mut heap) = heap() else { return ptr::null_mut() };
    let piece = heap.take(class);
    drop(heap);
    if piece.is_null() {
        return piece;
    }
    // SAFETY: the block has room for its header, and is aligned.
    unsafe {
        piece.cast::<usize>().write(class);
        piece.add(HEADER)
    }
}

/// Usable size of the blocks of a class.
fn capacity(class: usize) -> usize {
    (1 << (class + MIN_CLASS_BITS)) - HEADER
}

/// As in the C library.
///
/// # Safety
/// As in the C library.
pub unsafe extern "C" fn free(at: *mut u8) {
    if at.is_null() {
        return;
    }
    // SAFETY: the block came from `malloc`, so a header precedes it.
    unsafe {
        let piece = at.sub(HEADER);
        let class = piece.cast::<usize>().read();
        let mut heap = HEAP.lock();
        piece.cast::<*mut u8>().write(heap.free[class]);
        heap.free[class] = piece;
    }
}

/// As in the C library.
///
/// # Safety
/// As in the C library.
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut u8 {
    let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
    // SAFETY: the block has room for so many bytes.
    unsafe {
        let at = malloc(bytes);
        if !at.is_null() {
            memset(at, 0, bytes);
        }
        at
    }
}

/// As in the C library.
///
/// # Safety
/// As in the C library.
pub unsafe extern "C" fn realloc(at: *mut u8, bytes: usize) -> *mut u8 {
    // SAFETY: by the contract; the header holds the block's class.
    unsafe {
        if at.is_null() {
            return malloc(bytes);
        }
        let old_capacity = capacity(at.sub(HEADER).cast::<usize>().read());
        if bytes <= old_capacity {
            return at;
        }
        let fresh = malloc(bytes);
        if !fresh.is_null() {
            memcpy(fresh, at, old_capacity);
            free(at);
        }
        fresh
    }
}

/// As in the C library.
///
/// # Safety
/// As in the C library.
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: by the contract.
    unsafe { memmove(to, from, bytes) }
}

/// As in the C library. Up to 32 bytes are all read before the first is written.
///
/// # Safety
/// As in the C library.
#[unsafe(naked)]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    naked_asm!(
        "mov rax, rdi",
        "cmp rdx, 16",
        "jb 2f",
        "cmp rdx, 32",
        "ja 5f",
        "movups xmm0, [rsi]",
        "movups xmm1, [rsi + rdx - 16]",
        "movups [rdi], xmm0",
        "movups [rdi + rdx - 16], xmm1",
        "ret",
        "2:",
        "cmp rdx, 8",
        "jb 3f",
        "mov rcx, [rsi]",
        "mov r8, [rsi + rdx - 8]",
        "mov [rdi], rcx",
        "mov [rdi + rdx - 8], r8",
        "ret",
        "3:",
        "cmp rdx, 4",
        "jb 4f",
        "mov ecx, [rsi]",
        "mov r8d, [rsi + rdx - 4]",
        "mov [rdi], ecx",
        "mov [rdi + rdx - 4], r8d",
        "ret",
        // At most three bytes: the first, the last and the middle one.
        "4:",
        "test rdx, rdx",
        "je 6f",
        "mov r9, rdx",
        "shr r9",
        "mov cl, [rsi]",
        "mov r8b, [rsi + r9]",
        "mov r10b, [rsi + rdx - 1]",
        "mov [rdi], cl",
        "mov [rdi + r9], r8b",
        "mov [rdi + rdx - 1], r10b",
        "6:",
        "ret",
        "5:",
        "mov r8, rdi",
        "sub r8, rsi",
        "mov rcx, rdx",
        "cmp r8, rdx",
        "jb 7f",
        "rep movsb",
        "ret",
        // The ranges overlap, and the destination is behind the source: copy backwards.
        "7:",
        "lea rdi, [rdi + rdx - 1]",
        "lea rsi, [rsi + rdx - 1]",
        "std",
        "rep movsb",
        "cld",
        "ret",
    )
}

/// As in the C library.
///
/// # Safety
/// As in the C library.
#[unsafe(naked)]
pub unsafe extern "C" fn memset(to: *mut u8, byte: i32, bytes: usize) -> *mut u8 {
    naked_asm!("mov r8, rdi", "mov eax, esi", "mov rcx, rdx", "rep stosb", "mov rax, r8", "ret")
}

/// As in the C library.
///
/// # Safety
/// As in the C library.
#[unsafe(naked)]
pub unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, bytes: usize) -> i32 {
    naked_asm!(
        "xor ecx, ecx",
        "2:",
        "cmp rcx, rdx",
        "je 3f",
        "movzx eax, byte ptr [rdi + rcx]",
        "movzx r8d, byte ptr [rsi + rcx]",
        "inc rcx",
        "sub eax, r8d",
        "je 2b",
        "ret",
        "3:",
        "xor eax, eax",
        "ret",
    )
}

/// As in the C library.
///
/// # Safety
/// As in the C library.
#[unsafe(naked)]
pub unsafe extern "C" fn strlen(text: *const u8) -> usize {
    naked_asm!("xor eax, eax", "2:", "cmp byte ptr [rdi + rax], 0", "je 3f", "inc rax", "jmp 2b", "3:", "ret")
}

/// As in the C library, for alignments that all blocks have.
///
/// # Safety
/// As in the C library.
pub unsafe extern "C" fn posix_memalign(at: *mut *mut u8, align: usize, bytes: usize) -> i32 {
    const NO_MEMORY: i32 = 12;
    // SAFETY: by the contract.
    unsafe {
        let piece = if align <= HEADER { malloc(bytes) } else { ptr::null_mut() };
        at.write(piece);
        if piece.is_null() { NO_MEMORY } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn blocks_do_not_overlap_and_are_reused() {
        let block: &'static mut [u128] = Vec::leak(alloc::vec![0; 8 << 20]);
        let range = block.as_ptr_range();
        INVIGIL_CONTROL.heap.store(range.start as u64, Relaxed);
        INVIGIL_CONTROL.heap_end.store(range.end as u64, Relaxed);
        let mut all: Vec<(*mut u8, usize, u8)> = Vec::new();
        let mut dice = 12345u64;
        for round in 0..20_000u64 {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let bytes = (dice >> 33) as usize % if dice.is_multiple_of(50) { 100_000 } else { 300 };
            // SAFETY: blocks are used within their sizes.
            unsafe {
                if round % 3 != 0 || all.is_empty() {
                    let at = malloc(bytes);
                    assert!(!at.is_null() && (at as usize).is_multiple_of(16));
                    memset(at, round as i32, bytes);
                    all.push((at, bytes, round as u8));
                } else {
                    let (at, bytes, mark) = all.swap_remove(dice as usize % all.len());
                    assert!((0..bytes).all(|n| *at.add(n) == mark));
                    if dice & 1 == 0 {
                        let more = realloc(at, bytes * 2 + 1);
                        assert!((0..bytes).all(|n| *more.add(n) == mark));
                        free(more);
                    } else {
                        free(at);
                    }
                }
            }
        }
        for (at, bytes, mark) in all {
            // SAFETY: as above.
            unsafe {
                assert!((0..bytes).all(|n| *at.add(n) == mark));
                free(at);
            }
        }
    }

    #[test]
    fn memory_functions_agree_with_std() {
        for bytes in (0..70).chain([200, 5000]) {
            let from: Vec<u8> = (0..bytes + 8).map(|n| n as u8 ^ 0x5a).collect();
            for shift in [0, 1, 3, 7] {
                let (mut ours, mut theirs) = (from.clone(), from.clone());
                // SAFETY: both ranges stay within the vectors.
                unsafe {
                    memmove(ours.as_mut_ptr().add(shift), ours.as_ptr(), bytes);
                    theirs.copy_within(0..bytes, shift);
                    assert_eq!(ours, theirs);
                    memmove(ours.as_mut_ptr(), ours.as_ptr().add(shift), bytes);
                    theirs.copy_within(shift..shift + bytes, 0);
                    assert_eq!(ours, theirs);
                    assert_eq!(memcmp(ours.as_ptr(), theirs.as_ptr(), bytes + 8), 0);
                    theirs[bytes] ^= 1;
                    assert_eq!(memcmp(ours.as_ptr(), theirs.as_ptr(), bytes), 0);
                    let expected = i32::from(ours[bytes]) - i32::from(theirs[bytes]);
                    assert_eq!(memcmp(ours.as_ptr(), theirs.as_ptr(), bytes + 1), expected);
                }
            }
        }
        // SAFETY: the text is null-terminated.
        assert_eq!(unsafe { strlen(c"four".as_ptr().cast()) }, 4);
    }
}
