//! System calls, made without the program's library.

use core::arch::asm;

/// Makes a system call; errors are negative numbers.
///
/// # Safety
/// As for the call itself.
#[inline]
pub unsafe fn call(number: u64, arguments: [u64; 6]) -> i64 {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result: i64;
    // SAFETY: the kernel keeps all registers but these; what the call does is the caller's to answer for.
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

// The words lie in memory that the tool has, too.
const FUTEX_WAIT: u64 = 0;
const FUTEX_WAKE: u64 = 1;
const CLOCK_MONOTONIC: u64 = 1;

/// The number of the thread.
pub fn thread() -> u32 {
    // SAFETY: it only answers.
    unsafe { call(GETTID, [0; 6]) as u32 }
}

/// The number of the process.
pub fn process() -> u32 {
    // SAFETY: it only answers.
    unsafe { call(GETPID, [0; 6]) as u32 }
}

/// Sleeps while a word has this value, for so many nanoseconds at most.
pub fn wait(word: &core::sync::atomic::AtomicU32, while_it_is: u32, nanoseconds: u64) {
    let at = core::ptr::from_ref(word) as u64;
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    // SAFETY: the word and the time are there as long as the references.
    unsafe { call(FUTEX, [at, FUTEX_WAIT, u64::from(while_it_is), (&raw const time) as u64, 0, 0]) };
}

/// Wakes one that sleeps on a word.
pub fn wake(word: &core::sync::atomic::AtomicU32) {
    let at = core::ptr::from_ref(word) as u64;
    // SAFETY: the word is there as long as the reference.
    unsafe { call(FUTEX, [at, FUTEX_WAKE, 1, 0, 0, 0]) };
}

/// Wakes all that sleep on a word.
pub fn wake_all(word: &core::sync::atomic::AtomicU32) {
    let at = core::ptr::from_ref(word) as u64;
    // SAFETY: the word is there as long as the reference.
    unsafe { call(FUTEX, [at, FUTEX_WAKE, i32::MAX as u64, 0, 0, 0]) };
}

/// Nanoseconds of the monotonic clock.
pub fn now() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes two words there.
    unsafe { call(CLOCK_GETTIME, [CLOCK_MONOTONIC, (&raw mut time) as u64, 0, 0, 0, 0]) };
    time[0] * 1_000_000_000 + time[1]
}
