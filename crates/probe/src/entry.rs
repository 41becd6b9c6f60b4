//! Where a thread comes in from a trampoline, and how it leaves.
//!
//! The trampoline has made room below the program's stack for what a function without a frame keeps there (the *red zone*), put
//! the number of its site on it, and called [`entry`]. Every register of the program is as it was, flags included:
//!
//! ```text
//!   lea  rsp, [rsp - 128]
//!   push SITE
//!   call [ENTRY]
//!   lea  rsp, [rsp + 136]
//!   …                       the instructions that the jump lies over
//!   jmp  behind them
//! ```
//!
//! Here all general registers are put on the stack in the order in which debug information numbers them, then flags, and the few
//! vector registers that the shortest way may use. If that does not lead on, the others follow, and `hit` says how to go on. The thread returns to the trampoline, or runs into one of two traps,
//! with every register as the program had it, but for the stack, which still holds what the trampoline put there: the tool knows
//! [how much](LEFT_ON_STACK). When the tool wants threads to come out of here, it puts a trap in the place of the `ret`, too.

use crate::agent;
use core::arch::naked_asm;

/// What a trampoline takes of the stack for what the program may have below it.
pub const RED_ZONE: u64 = 128;
/// At one of the traps, so much of the stack is in use on top of what the program uses: the address to go on at, the number of
/// the site, and the red zone.
pub const LEFT_ON_STACK: u64 = 16 + RED_ZONE;
/// How far from the top of the stack the number of the site lies then.
pub const SITE_ON_STACK: u64 = 8;

/// The shortest way may use so many vector registers, and leaves the others as they are. The compiler does not promise that: the
/// tool looks at what it made before it lets threads take that way.
pub const FEW_VECTORS: usize = 4;

/// So much of the stack must be free.
const NEEDED: u64 = 4096;

/// Puts the vector registers aside that the [shortest way](agent::hit_quickly) may use, the first [`FEW_VECTORS`].
macro_rules! save_few {
    () => {
        "movaps [rsp + 0], xmm0
         movaps [rsp + 16], xmm1
         movaps [rsp + 32], xmm2
         movaps [rsp + 48], xmm3"
    };
}

/// Gives them back.
macro_rules! restore_few {
    () => {
        "movaps xmm0, [rsp + 0]
         movaps xmm1, [rsp + 16]
         movaps xmm2, [rsp + 32]
         movaps xmm3, [rsp + 48]"
    };
}

/// Puts the other vector registers aside.
macro_rules! save_rest {
    () => {
        "movaps [rsp + 64], xmm4
         movaps [rsp + 80], xmm5
         movaps [rsp + 96], xmm6
         movaps [rsp + 112], xmm7
         movaps [rsp + 128], xmm8
         movaps [rsp + 144], xmm9
         movaps [rsp + 160], xmm10
         movaps [rsp + 176], xmm11
         movaps [rsp + 192], xmm12
         movaps [rsp + 208], xmm13
         movaps [rsp + 224], xmm14
         movaps [rsp + 240], xmm15"
    };
}

/// Gives them back.
macro_rules! restore_rest {
    () => {
        "movaps xmm4, [rsp + 64]
         movaps xmm5, [rsp + 80]
         movaps xmm6, [rsp + 96]
         movaps xmm7, [rsp + 112]
         movaps xmm8, [rsp + 128]
         movaps xmm9, [rsp + 144]
         movaps xmm10, [rsp + 160]
         movaps xmm11, [rsp + 176]
         movaps xmm12, [rsp + 192]
         movaps xmm13, [rsp + 208]
         movaps xmm14, [rsp + 224]
         movaps xmm15, [rsp + 240]"
    };
}

/// Gives the flags and the general registers back, from where `rbx` points to; those that every function keeps are as they were.
macro_rules! restore_general {
    () => {
        "mov rax, [rbx]
         add al, 127
         sahf
         mov rax, [rbx + 8]
         mov rdx, [rbx + 16]
         mov rcx, [rbx + 24]
         mov rsi, [rbx + 40]
         mov rdi, [rbx + 48]
         mov r8, [rbx + 72]
         mov r9, [rbx + 80]
         mov r10, [rbx + 88]
         mov r11, [rbx + 96]
         lea rsp, [rbx + 136]
         mov rbx, [rbx + 32]"
    };
}

/// Where trampolines call; see the module.
///
/// # Safety
/// Only for trampolines.
#[unsafe(naked)]
pub unsafe extern "C" fn entry() {
    naked_asm!(
        "push r15",
        "push r14",
        "push r13",
        "push r12",
        "push r11",
        "push r10",
        "push r9",
        "push r8",
        // The stack pointer of the program: above these, what the trampoline put there.
        "lea r11, [rsp + 8 * 8 + {left}]",
        "push r11",
        "push rbp",
        "push rdi",
        "push rsi",
        "push rbx",
        "push rcx",
        "push rdx",
        "push rax",
        // Of the flags, all that an instruction can leave for another to read.
        "lahf",
        "seto al",
        "push rax",
        // If the program's stack is used up, that shows here, and not where a lock is held.
        "cmp byte ptr [rsp - {needed}], 0",
        "mov rbx, rsp",
        "and rsp, -16",
        "sub rsp, 256",
        save_few!(),
        "lea rdi, [rbx + 8]",
        "mov esi, [rbx + 8 + 16 * 8 + {site}]",
        "call {hit_quickly}",
        "test eax, eax",
        "jne 2f",
        restore_few!(),
        restore_general!(),
        "jmp {leaving}",
        "2:",
        save_rest!(),
        "lea rdi, [rbx + 8]",
        "mov rsi, rsp",
        "mov edx, [rbx + 8 + 16 * 8 + {site}]",
        "call {hit}",
        restore_few!(),
        restore_rest!(),
        "cmp eax, {stop}",
        "je 3f",
        "ja 4f",
        restore_general!(),
        "jmp {leaving}",
        "3:",
        restore_general!(),
        "jmp {stopped}",
        "4:",
        restore_general!(),
        "jmp {refused}",
        left = const LEFT_ON_STACK,
        needed = const NEEDED,
        site = const SITE_ON_STACK,
        hit_quickly = sym agent::hit_quickly,
        hit = sym agent::hit,
        stop = const agent::STOP,
        leaving = sym leaving,
        stopped = sym stopped,
        refused = sym refused,
    );
}

/// The last instruction of a thread that goes on. While the tool wants threads to come out, it puts a trap here.
///
/// # Safety
/// Only for [`entry`].
#[unsafe(naked)]
pub unsafe extern "C" fn leaving() {
    naked_asm!("ret", "ud2");
}

/// The trap for a thread whose event has been dealt with, and that is to stop.
///
/// # Safety
/// Only for [`entry`].
#[unsafe(naked)]
pub unsafe extern "C" fn stopped() {
    naked_asm!("int3", "ud2");
}

/// The trap for a thread whose event could not be dealt with now.
///
/// # Safety
/// Only for [`entry`].
#[unsafe(naked)]
pub unsafe extern "C" fn refused() {
    naked_asm!("int3", "ud2");
}

/// Where everything goes that the library needs from outside and nobody gives it, such as what a panic does.
///
/// # Safety
/// Nothing goes on from here.
#[unsafe(naked)]
pub unsafe extern "C" fn unbound() {
    naked_asm!("int3", "ud2");
}
