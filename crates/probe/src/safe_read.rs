//! Fault-tolerant reads of the target's memory.
//!
//! An address that the target passes may be invalid. Reading it here raises the same signal as in the target. The
//! debugger sees that the fault is in one of these functions and continues the thread in `failed`, with nothing
//! read.

use core::arch::naked_asm;

/// Result of a read, in the two registers in which two words are returned.
#[repr(C)]
struct ReadResult {
    word: u64,
    is_valid: u64,
}

/// Reads a word.
#[inline]
pub fn word(at: u64) -> Option<u64> {
    // SAFETY: it may be called with any address.
    let loaded = unsafe { load(at) };
    (loaded.is_valid != 0).then_some(loaded.word)
}

/// Reads up to eight bytes without touching those after them.
#[inline]
pub fn bytes(at: u64, count: u64) -> Option<u64> {
    if count == 8 {
        return word(at);
    }
    // SAFETY: the functions accept any address; at most eight bytes are read.
    let loaded = unsafe { if count == 4 { load_four(at) } else { load_some(at, count.min(8)) } };
    (loaded.is_valid != 0).then_some(loaded.word)
}

/// Copies a null-terminated string, or as much of it as fits into `into`. Returns its length.
#[inline]
pub fn text(at: u64, into: &mut [u8]) -> Option<usize> {
    // SAFETY: the function accepts any address and writes at most `into.len()` bytes.
    let loaded = unsafe { copy(at, into.as_mut_ptr(), into.len() as u64) };
    (loaded.is_valid != 0).then_some(loaded.word as usize)
}

/// First of the functions that may fault; they are adjacent in memory.
#[unsafe(naked)]
unsafe extern "C" fn load(at: u64) -> ReadResult {
    naked_asm!("mov rax, [rdi]", "mov edx, 1", "ret")
}

#[unsafe(naked)]
unsafe extern "C" fn load_four(at: u64) -> ReadResult {
    naked_asm!("mov eax, [rdi]", "mov edx, 1", "ret")
}

#[unsafe(naked)]
unsafe extern "C" fn load_some(at: u64, count: u64) -> ReadResult {
    naked_asm!(
        "xor eax, eax",
        "mov rcx, rsi",
        "2:",
        "dec rcx",
        "js 3f",
        "shl rax, 8",
        "mov al, [rdi + rcx]",
        "jmp 2b",
        "3:",
        "mov edx, 1",
        "ret",
    )
}

#[unsafe(naked)]
unsafe extern "C" fn copy(at: u64, into: *mut u8, room: u64) -> ReadResult {
    naked_asm!(
        "xor eax, eax",
        "mov r8, rdx",
        "2:",
        "cmp rax, r8",
        "je 3f",
        "mov cl, [rdi + rax]",
        "test cl, cl",
        "je 3f",
        "mov [rsi + rax], cl",
        "inc rax",
        "jmp 2b",
        "3:",
        "mov edx, 1",
        "ret",
    )
}

/// Continuation of a thread whose read has faulted.
#[unsafe(naked)]
unsafe extern "C" fn failed() -> ReadResult {
    naked_asm!("xor eax, eax", "xor edx, edx", "ret")
}

/// Addresses of the functions that may fault, each at most [`MAX_FUNCTION_LEN`] bytes long, and of the continuation.
pub(crate) const FUNCTIONS: [unsafe extern "C" fn(); 5] = {
    type FnPtr = unsafe extern "C" fn();
    // SAFETY: the pointers are used as addresses only and never called with this type.
    unsafe {
        [
            core::mem::transmute::<unsafe extern "C" fn(u64) -> ReadResult, FnPtr>(load),
            core::mem::transmute::<unsafe extern "C" fn(u64) -> ReadResult, FnPtr>(load_four),
            core::mem::transmute::<unsafe extern "C" fn(u64, u64) -> ReadResult, FnPtr>(load_some),
            core::mem::transmute::<unsafe extern "C" fn(u64, *mut u8, u64) -> ReadResult, FnPtr>(copy),
            core::mem::transmute::<unsafe extern "C" fn() -> ReadResult, FnPtr>(failed),
        ]
    }
};

/// Upper bound on the length of these functions, in bytes.
pub const MAX_FUNCTION_LEN: u64 = 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_memory_is_read() {
        let place = *b"\x01\x02\x03\x04\x05\x06\x07\x08abc\0def";
        let at = place.as_ptr() as u64;
        assert_eq!(word(at), Some(0x0807_0605_0403_0201));
        assert_eq!(bytes(at, 3), Some(0x03_0201));
        assert_eq!(bytes(at + 1, 4), Some(0x0504_0302));
        assert_eq!(bytes(at + 1, 1), Some(2));
        assert_eq!(bytes(at, 0), Some(0));
        let mut text_of = [0; 16];
        assert_eq!(text(at + 8, &mut text_of), Some(3));
        assert_eq!(&text_of[..4], b"abc\0");
        assert_eq!(text(at + 8, &mut text_of[..2]), Some(2));
        assert_eq!(text(at + 11, &mut text_of), Some(0));
    }
}
