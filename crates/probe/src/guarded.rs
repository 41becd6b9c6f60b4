//! Reading the program's memory where nothing may be.
//!
//! An address that a program passes may be a bad one. Reading it here raises the same signal as in the program; the tool
//! sees that it was raised in one of these functions, and lets the thread go on behind it, with nothing read.

use core::arch::naked_asm;

/// A word that was read, in the registers in which two words are returned.
#[repr(C)]
struct Loaded {
    word: u64,
    fine: u64,
}

/// Reads a word.
#[inline]
pub fn word(at: u64) -> Option<u64> {
    // SAFETY: it may be called with any address.
    let loaded = unsafe { load(at) };
    (loaded.fine != 0).then_some(loaded.word)
}

/// Reads up to eight bytes, without touching those behind.
#[inline]
pub fn bytes(at: u64, count: u64) -> Option<u64> {
    if count == 8 {
        return word(at);
    }
    // SAFETY: they may be called with any address; at most eight bytes are read.
    let loaded = unsafe { if count == 4 { load_four(at) } else { load_some(at, count.min(8)) } };
    (loaded.fine != 0).then_some(loaded.word)
}

/// Copies a text that ends with a zero, or is as long as the room for it; gives its length.
#[inline]
pub fn text(at: u64, into: &mut [u8]) -> Option<usize> {
    // SAFETY: it may be called with any address; at most so many bytes are written.
    let loaded = unsafe { copy(at, into.as_mut_ptr(), into.len() as u64) };
    (loaded.fine != 0).then_some(loaded.word as usize)
}

/// The first of the functions that may fail, one after the other in memory.
#[unsafe(naked)]
unsafe extern "C" fn load(at: u64) -> Loaded {
    naked_asm!("mov rax, [rdi]", "mov edx, 1", "ret")
}

#[unsafe(naked)]
unsafe extern "C" fn load_four(at: u64) -> Loaded {
    naked_asm!("mov eax, [rdi]", "mov edx, 1", "ret")
}

#[unsafe(naked)]
unsafe extern "C" fn load_some(at: u64, count: u64) -> Loaded {
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
unsafe extern "C" fn copy(at: u64, into: *mut u8, room: u64) -> Loaded {
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

/// Where a thread goes on whose reading failed.
#[unsafe(naked)]
unsafe extern "C" fn failed() -> Loaded {
    naked_asm!("xor eax, eax", "xor edx, edx", "ret")
}

/// The addresses of the functions that may fail, each shorter than [`LONGEST`], and of where to go on.
pub(crate) const PLACES: [unsafe extern "C" fn(); 5] = {
    type Place = unsafe extern "C" fn();
    // SAFETY: they are only places; nobody calls them as this.
    unsafe {
        [
            core::mem::transmute::<unsafe extern "C" fn(u64) -> Loaded, Place>(load),
            core::mem::transmute::<unsafe extern "C" fn(u64) -> Loaded, Place>(load_four),
            core::mem::transmute::<unsafe extern "C" fn(u64, u64) -> Loaded, Place>(load_some),
            core::mem::transmute::<unsafe extern "C" fn(u64, *mut u8, u64) -> Loaded, Place>(copy),
            core::mem::transmute::<unsafe extern "C" fn() -> Loaded, Place>(failed),
        ]
    }
};

/// No function that may fail is longer.
pub const LONGEST: u64 = 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read() {
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
