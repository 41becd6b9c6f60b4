//! Where a thread enters the library from a trampoline, and how it leaves.
//!
//! The trampoline has skipped the *red zone* (what a leaf function keeps below the stack pointer), pushed the number
//! of its site and called [`entry`]. All registers of the target, flags included, still have their values:
//!
//! ```text
//!   lea  rsp, [rsp - 128]
//!   push SITE
//!   call [ENTRY]
//!   lea  rsp, [rsp + 136]
//!   …                       the instructions that the jump replaces
//!   jmp  to the instruction after them
//! ```
//!
//! `entry` pushes the general registers in DWARF order, then the flags, then the few vector registers that the fast
//! path may use. If the fast path does not apply, it saves the other vector registers too, and `hit` decides how the
//! thread continues. The thread then returns to the trampoline or runs into one of two traps, with all registers
//! restored. Only the stack pointer differs: the trampoline's part of the stack is still in use, and the debugger
//! knows [its size](STACK_IN_USE). To get threads out of the library, the debugger replaces the final `ret` by a trap
//! as well.

use crate::agent;
use core::arch::naked_asm;

/// Size of the red zone: a leaf function may use this much of the stack below the stack pointer.
pub const RED_ZONE: u64 = 128;
/// Bytes on the stack at one of the traps, above what the target uses: return address, site number and red zone.
pub const STACK_IN_USE: u64 = 16 + RED_ZONE;
/// Offset of the site number from the stack pointer at one of the traps.
pub const SITE_STACK_OFFSET: u64 = 8;

/// Number of vector registers that the fast path may use. The compiler does not guarantee it: the debugger checks the
/// code of the library before it enables the fast path.
pub const FAST_PATH_VECTORS: usize = 4;

/// Free stack space that the library needs, in bytes.
const STACK_REQUIRED: u64 = 4096;

/// Saves the vector registers that the [fast path](agent::fast_hit) may use.
macro_rules! save_fast_path_vectors {
    () => {
        "movaps [rsp + 0], xmm0
         movaps [rsp + 16], xmm1
         movaps [rsp + 32], xmm2
         movaps [rsp + 48], xmm3"
    };
}

/// Restores the vector registers that the fast path may use.
macro_rules! restore_fast_path_vectors {
    () => {
        "movaps xmm0, [rsp + 0]
         movaps xmm1, [rsp + 16]
         movaps xmm2, [rsp + 32]
         movaps xmm3, [rsp + 48]"
    };
}

/// Saves the other vector registers.
macro_rules! save_other_vectors {
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

/// Restores the other vector registers.
macro_rules! restore_other_vectors {
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

/// Restores flags and general registers from the frame at `rbx`. Callee-saved registers have kept their values.
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

/// Entry point of trampolines; see the module.
///
/// # Safety
/// To be called by trampolines only.
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
        // The target's stack pointer: above these and what the trampoline pushed.
        "lea r11, [rsp + 8 * 8 + {left}]",
        "push r11",
        "push rbp",
        "push rdi",
        "push rsi",
        "push rbx",
        "push rcx",
        "push rdx",
        "push rax",
        // All flags that one instruction can leave for another to read.
        "lahf",
        "seto al",
        "push rax",
        // If the stack is exhausted, the fault occurs here and not while a lock is held.
        "cmp byte ptr [rsp - {needed}], 0",
        "mov rbx, rsp",
        "and rsp, -16",
        "sub rsp, 256",
        save_fast_path_vectors!(),
        "lea rdi, [rbx + 8]",
        "mov esi, [rbx + 8 + 16 * 8 + {site}]",
        "call {fast_hit}",
        "test eax, eax",
        "jne 2f",
        restore_fast_path_vectors!(),
        restore_general!(),
        "jmp {exit_trap}",
        "2:",
        save_other_vectors!(),
        "lea rdi, [rbx + 8]",
        "mov rsi, rsp",
        "mov edx, [rbx + 8 + 16 * 8 + {site}]",
        "call {hit}",
        restore_fast_path_vectors!(),
        restore_other_vectors!(),
        "cmp eax, {stop}",
        "je 3f",
        "ja 4f",
        restore_general!(),
        "jmp {exit_trap}",
        "3:",
        restore_general!(),
        "jmp {react_trap}",
        "4:",
        restore_general!(),
        "jmp {retry_trap}",
        left = const STACK_IN_USE,
        needed = const STACK_REQUIRED,
        site = const SITE_STACK_OFFSET,
        fast_hit = sym agent::fast_hit,
        hit = sym agent::hit,
        stop = const agent::STOP,
        exit_trap = sym exit_trap,
        react_trap = sym react_trap,
        retry_trap = sym retry_trap,
    );
}

/// Last instruction of a thread that continues. The debugger puts a trap here to get threads out of the library.
///
/// # Safety
/// To be jumped to by [`entry`] only.
#[unsafe(naked)]
pub unsafe extern "C" fn exit_trap() {
    naked_asm!("ret", "ud2");
}

/// Trap for a thread whose event was processed and that must stop.
///
/// # Safety
/// To be jumped to by [`entry`] only.
#[unsafe(naked)]
pub unsafe extern "C" fn react_trap() {
    naked_asm!("int3", "ud2");
}

/// Trap for a thread whose event cannot be processed now.
///
/// # Safety
/// To be jumped to by [`entry`] only.
#[unsafe(naked)]
pub unsafe extern "C" fn retry_trap() {
    naked_asm!("int3", "ud2");
}

/// Target of every unbound import of the library, such as those of the panic path.
///
/// # Safety
/// Execution does not continue from here.
#[unsafe(naked)]
pub unsafe extern "C" fn unbound() {
    naked_asm!("int3", "ud2");
}
