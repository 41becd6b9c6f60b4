//! Memory for what lives in here, and the few functions on memory that compiled code calls by name.
//!
//! The tool binds the library's `malloc`, `memcpy` and so on to these. Nothing of the program's is used, so the program may
//! have probes in its own.

use crate::lock::{Held, Lock, PATIENCE};
use crate::words::INVIGIL_WORDS;
use core::arch::naked_asm;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Before each piece lies its class.
const HEADER: usize = 16;
/// Pieces are powers of two, their header included, from 32 bytes on.
const SMALLEST: usize = 5;
const CLASSES: usize = 40;

struct Heap {
    free: [*mut u8; CLASSES],
}

// SAFETY: the pointers are to memory that is the heap's alone.
unsafe impl Send for Heap {}

static HEAP: Lock<Heap> = Lock::new(Heap { free: [ptr::null_mut(); CLASSES] });

/// Whoever was here is no more.
pub(crate) fn break_open() {
    HEAP.break_open();
}

/// The class of pieces that have room for so many bytes and a header.
fn class(bytes: usize) -> usize {
    let bits = usize::BITS as usize - (bytes + HEADER - 1).leading_zeros() as usize;
    bits.saturating_sub(SMALLEST)
}

impl Heap {
    fn take(&mut self, class: usize) -> *mut u8 {
        let Some(head) = self.free.get_mut(class) else { return ptr::null_mut() };
        if !head.is_null() {
            let piece = *head;
            // SAFETY: a free piece holds a pointer to the next one.
            *head = unsafe { piece.cast::<*mut u8>().read() };
            return piece;
        }
        let size = 1 << (class + SMALLEST);
        let words = &INVIGIL_WORDS;
        let at = words.heap.load(Relaxed);
        if words.heap_end.load(Relaxed).saturating_sub(at) < size {
            return ptr::null_mut();
        }
        words.heap.store(at + size, Relaxed);
        at as usize as *mut u8
    }
}

/// As the C library's.
///
/// # Safety
/// As the C library's.
pub unsafe extern "C" fn malloc(bytes: usize) -> *mut u8 {
    // SAFETY: by the contract.
    unsafe { take(bytes, || Some(HEAP.lock())) }
}

/// As [`malloc`], for the tool: nothing also if a thread stands still that is at the memory.
///
/// # Safety
/// As the C library's.
pub(crate) unsafe extern "C" fn allot(bytes: usize) -> *mut u8 {
    // SAFETY: by the contract.
    unsafe { take(bytes, || HEAP.lock_within(PATIENCE)) }
}

unsafe fn take(bytes: usize, heap: impl Fn() -> Option<Held<'static, Heap>>) -> *mut u8 {
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
    // SAFETY: the piece has room for its header, and is aligned.
    unsafe {
        piece.cast::<usize>().write(class);
        piece.add(HEADER)
    }
}

/// How much room a piece of a class has.
fn room(class: usize) -> usize {
    (1 << (class + SMALLEST)) - HEADER
}

/// As the C library's.
///
/// # Safety
/// As the C library's.
pub unsafe extern "C" fn free(at: *mut u8) {
    if at.is_null() {
        return;
    }
    // SAFETY: it was given out by `malloc`, so a header lies before it.
    unsafe {
        let piece = at.sub(HEADER);
        let class = piece.cast::<usize>().read();
        let mut heap = HEAP.lock();
        piece.cast::<*mut u8>().write(heap.free[class]);
        heap.free[class] = piece;
    }
}

/// As the C library's.
///
/// # Safety
/// As the C library's.
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut u8 {
    let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
    // SAFETY: the piece has room for so many bytes.
    unsafe {
        let at = malloc(bytes);
        if !at.is_null() {
            memset(at, 0, bytes);
        }
        at
    }
}

/// As the C library's.
///
/// # Safety
/// As the C library's.
pub unsafe extern "C" fn realloc(at: *mut u8, bytes: usize) -> *mut u8 {
    // SAFETY: by the contract; the header tells how much there is.
    unsafe {
        if at.is_null() {
            return malloc(bytes);
        }
        let there = room(at.sub(HEADER).cast::<usize>().read());
        if bytes <= there {
            return at;
        }
        let fresh = malloc(bytes);
        if !fresh.is_null() {
            memcpy(fresh, at, there);
            free(at);
        }
        fresh
    }
}

/// As the C library's.
///
/// # Safety
/// As the C library's.
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: by the contract.
    unsafe { memmove(to, from, bytes) }
}

/// As the C library's. Up to 32 bytes are all read before the first is written.
///
/// # Safety
/// As the C library's.
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
        // At most three bytes: the first, the last, and the one in the middle.
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
        // They overlap, and the target lies behind: from the end.
        "7:",
        "lea rdi, [rdi + rdx - 1]",
        "lea rsi, [rsi + rdx - 1]",
        "std",
        "rep movsb",
        "cld",
        "ret",
    )
}

/// As the C library's.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
pub unsafe extern "C" fn memset(to: *mut u8, byte: i32, bytes: usize) -> *mut u8 {
    naked_asm!("mov r8, rdi", "mov eax, esi", "mov rcx, rdx", "rep stosb", "mov rax, r8", "ret")
}

/// As the C library's.
///
/// # Safety
/// As the C library's.
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

/// As the C library's.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
pub unsafe extern "C" fn strlen(text: *const u8) -> usize {
    naked_asm!("xor eax, eax", "2:", "cmp byte ptr [rdi + rax], 0", "je 3f", "inc rax", "jmp 2b", "3:", "ret")
}

/// As the C library's, for what is never aligned to more than pieces are.
///
/// # Safety
/// As the C library's.
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
    fn pieces_do_not_overlap_and_come_back() {
        let block: &'static mut [u128] = Vec::leak(alloc::vec![0; 8 << 20]);
        let range = block.as_ptr_range();
        INVIGIL_WORDS.heap.store(range.start as u64, Relaxed);
        INVIGIL_WORDS.heap_end.store(range.end as u64, Relaxed);
        let mut all: Vec<(*mut u8, usize, u8)> = Vec::new();
        let mut dice = 12345u64;
        for round in 0..20_000u64 {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let bytes = (dice >> 33) as usize % if dice.is_multiple_of(50) { 100_000 } else { 300 };
            // SAFETY: pieces are used as they were given.
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
    fn functions_on_memory() {
        for bytes in (0..70).chain([200, 5000]) {
            let from: Vec<u8> = (0..bytes + 8).map(|n| n as u8 ^ 0x5a).collect();
            for shift in [0, 1, 3, 7] {
                let (mut ours, mut theirs) = (from.clone(), from.clone());
                // SAFETY: both stay within the vectors.
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
        // SAFETY: a text with its end.
        assert_eq!(unsafe { strlen(c"four".as_ptr().cast()) }, 4);
    }
}
