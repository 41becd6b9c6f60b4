//! System calls without the target's C library.
//!
//! Hand-written because `rustix` and `libc` need parts of a C library that the probe library does not have.

use core::arch::asm;

/// Makes a system call. Errors are negative numbers.
///
/// # Safety
/// The arguments must satisfy the requirements of the call.
#[inline]
pub unsafe fn call(number: u64, arguments: [u64; 6]) -> i64 {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result: i64;
    // SAFETY: the kernel preserves all other registers; the effect of the call is the caller's responsibility.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") first, in("rsi") second, in("rdx") third,
            in("r10") fourth, in("r8") fifth, in("r9") sixth,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

const GETPID: u64 = 39;
const GETTID: u64 = 186;
const FUTEX: u64 = 202;
const CLOCK_GETTIME: u64 = 228;

// Not the private variants: the words are in memory that the debugger shares.
const FUTEX_WAIT: u64 = 0;
const FUTEX_WAKE: u64 = 1;
const CLOCK_MONOTONIC: u64 = 1;

/// Id of the calling thread.
pub fn thread_id() -> u32 {
    // SAFETY: the call only returns a number.
    unsafe { call(GETTID, [0; 6]) as u32 }
}

/// Id of the process.
pub fn process_id() -> u32 {
    // SAFETY: the call only returns a number.
    unsafe { call(GETPID, [0; 6]) as u32 }
}

/// Sleeps while a word has the value `expected`, for at most so many nanoseconds.
pub fn futex_wait(word: &core::sync::atomic::AtomicU32, expected: u32, nanoseconds: u64) {
    let at = core::ptr::from_ref(word) as u64;
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    // SAFETY: the word and the time are valid as long as the references.
    unsafe { call(FUTEX, [at, FUTEX_WAIT, u64::from(expected), (&raw const time) as u64, 0, 0]) };
}

/// Wakes one thread that sleeps on a word.
pub fn futex_wake(word: &core::sync::atomic::AtomicU32) {
    let at = core::ptr::from_ref(word) as u64;
    // SAFETY: the word is valid as long as the reference.
    unsafe { call(FUTEX, [at, FUTEX_WAKE, 1, 0, 0, 0]) };
}

/// Wakes all threads that sleep on a word.
pub fn futex_wake_all(word: &core::sync::atomic::AtomicU32) {
    let at = core::ptr::from_ref(word) as u64;
    // SAFETY: the word is valid as long as the reference.
    unsafe { call(FUTEX, [at, FUTEX_WAKE, i32::MAX as u64, 0, 0, 0]) };
}

/// Time of the monotonic clock in nanoseconds.
pub fn now() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes two words there.
    unsafe { call(CLOCK_GETTIME, [CLOCK_MONOTONIC, (&raw mut time) as u64, 0, 0, 0, 0]) };
    time[0] * 1_000_000_000 + time[1]
}
