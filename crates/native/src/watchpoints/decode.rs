//! Decodes the memory accesses of an instruction.

use crate::sys::Regs;
use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, OpAccess, Register, UsedMemory,
};
use std::ops::Range;

/// A memory access of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryAccess {
    pub(crate) range: Range<u64>,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// Decodes the instruction at `pc`.
pub(crate) fn instruction(bytes: &[u8], pc: u64) -> Option<Instruction> {
    let instruction = Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// The accesses an instruction will make with these registers.
pub(crate) fn accesses(instruction: &Instruction, regs: &Regs) -> Vec<MemoryAccess> {
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(instruction);
    info.used_memory().iter().filter_map(|memory| memory_access(memory, regs)).collect()
}

fn memory_access(memory: &UsedMemory, regs: &Regs) -> Option<MemoryAccess> {
    let (reads, writes) = match memory.access() {
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write | OpAccess::CondWrite => (false, true),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        _ => return None,
    };
    let start = memory.virtual_address(0, |register, _, _| Some(value(regs, register)))?;
    let size = memory.memory_size().size().max(1) as u64;
    Some(MemoryAccess { range: start..start.saturating_add(size), reads, writes })
}

/// Value of a register, or of a segment's base.
fn value(regs: &Regs, register: Register) -> u64 {
    match register {
        Register::RAX | Register::EAX => regs.rax,
        Register::RBX | Register::EBX => regs.rbx,
        Register::RCX | Register::ECX => regs.rcx,
        Register::RDX | Register::EDX => regs.rdx,
        Register::RSI | Register::ESI => regs.rsi,
        Register::RDI | Register::EDI => regs.rdi,
        Register::RBP | Register::EBP => regs.rbp,
        Register::RSP | Register::ESP => regs.rsp,
        Register::R8 | Register::R8D => regs.r8,
        Register::R9 | Register::R9D => regs.r9,
        Register::R10 | Register::R10D => regs.r10,
        Register::R11 | Register::R11D => regs.r11,
        Register::R12 | Register::R12D => regs.r12,
        Register::R13 | Register::R13D => regs.r13,
        Register::R14 | Register::R14D => regs.r14,
        Register::R15 | Register::R15D => regs.r15,
        Register::FS => regs.fs_base,
        Register::GS => regs.gs_base,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_of_stores_and_loads_are_decoded() {
        // SAFETY: the structure consists of integers.
        let mut regs: Regs = unsafe { std::mem::zeroed() };
        (regs.rax, regs.rbp) = (3, 0x1000);
        // mov dword ptr [rbp-4], 7
        let store = instruction(&[0xc7, 0x45, 0xfc, 7, 0, 0, 0], 0x40_0000).unwrap();
        assert_eq!(
            accesses(&store, &regs),
            [MemoryAccess { range: 0xffc..0x1000, reads: false, writes: true }]
        );
        // add byte ptr [rbp+rax], 1
        let add = instruction(&[0x80, 0x44, 0x05, 0x00, 0x01], 0x40_0000).unwrap();
        assert_eq!(
            accesses(&add, &regs),
            [MemoryAccess { range: 0x1003..0x1004, reads: true, writes: true }]
        );
        // mov eax, [rip+0x10]
        let load = instruction(&[0x8b, 0x05, 0x10, 0, 0, 0], 0x40_0000).unwrap();
        assert_eq!(
            accesses(&load, &regs),
            [MemoryAccess { range: 0x40_0016..0x40_001a, reads: true, writes: false }]
        );
        // push rbp writes below the stack pointer
        regs.rsp = 0x2000;
        let push = instruction(&[0x55], 0x40_0000).unwrap();
        assert_eq!(
            accesses(&push, &regs),
            [MemoryAccess { range: 0x1ff8..0x2000, reads: false, writes: true }]
        );
    }
}
