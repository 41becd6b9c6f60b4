//! Displaced stepping: executing the instruction under a trap elsewhere, so that the trap stays in place.
//!
//! A trap replaces the first byte of an instruction. To pass it, the thread executes a copy of the instruction in a
//! *slot* that ends with a jump back. No single step is needed, the trap stays in place for other threads, and the
//! kernel stops the target once per hit.

use crate::sys::Regs;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, ConditionCode, Decoder, DecoderOptions, FlowControl,
    Instruction, InstructionBlock, MemoryOperand, OpKind, Register,
};
use invigil_debuginfo::machine::Memory;

/// Size of a slot.
pub(crate) const SLOT_SIZE: u64 = 64;

/// A displaced copy of an instruction.
#[derive(Debug)]
pub(crate) struct DisplacedInstruction {
    /// The code to write.
    pub(crate) code: Vec<u8>,
    /// Offset of the jump back, reached when the instruction has been executed; calls have none.
    pub(crate) jump_back: Option<u64>,
    /// Length of the original instruction.
    pub(crate) length: u64,
}

/// Copies the instruction at `address` for execution at `slot`. `bytes` is the original code, 15 bytes of it or up to
/// its end. `None` if it is not an instruction or cannot be executed elsewhere.
pub(crate) fn copy_instruction(bytes: &[u8], address: u64, slot: u64) -> Option<DisplacedInstruction> {
    let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
    if instruction.is_invalid() {
        return None;
    }
    let length = instruction.len() as u64;
    let next = address + length;
    let is_call = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
    let mut all = match is_call {
        true => expand_call(instruction, next)?,
        false => vec![instruction, Instruction::with_branch(Code::Jmp_rel32_64, next).ok()?],
    };
    // With its own address, the encoder would redirect an operand that refers to the instruction itself into the
    // copy.
    for (n, instruction) in all.iter_mut().enumerate() {
        instruction.set_ip(0x6fff_0000_0000 + 16 * n as u64);
    }
    let block = InstructionBlock::new(&all, slot);
    let encoded =
        BlockEncoder::encode(64, block, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS).ok()?;
    let last = encoded.new_instruction_offsets.last().copied();
    (encoded.code_buffer.len() as u64 <= SLOT_SIZE).then_some(DisplacedInstruction {
        code: encoded.code_buffer,
        jump_back: last.filter(|at| !is_call && *at != u32::MAX).map(u64::from),
        length,
    })
}

/// Expands a call into a push of the original return address and a jump. A copied call would push an address in the
/// copy, which unwinding does not know.
pub(crate) fn expand_call(mut instruction: Instruction, return_address: u64) -> Option<Vec<Instruction>> {
    let push = Instruction::with1(Code::Pushq_imm32, return_address as i32).ok()?;
    let upper = MemoryOperand::with_base_displ(Register::RSP, 4);
    let upper = Instruction::with2(Code::Mov_rm32_imm32, upper, (return_address >> 32) as u32).ok()?;
    let code = match instruction.code() {
        Code::Call_rel32_64 => Code::Jmp_rel32_64,
        Code::Call_rm64 => Code::Jmp_rm64,
        _ => return None,
    };
    instruction.set_code(code);
    // Operands relative to the stack pointer move up by the pushed return address.
    if instruction.op0_kind() == OpKind::Memory && instruction.memory_base() == Register::RSP {
        instruction.set_memory_displacement64(instruction.memory_displacement64().wrapping_add(8));
        instruction.set_memory_displ_size(8);
    }
    if instruction.op0_kind() == OpKind::Register && instruction.op0_register() == Register::RSP {
        return None;
    }
    Some(vec![push, upper, instruction])
}

/// Instructions at which a function is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionExits {
    /// The `ret` instructions.
    pub(crate) returns: Vec<u64>,
    /// Jumps that leave or may leave the function: tail calls.
    pub(crate) tail_calls: Vec<u64>,
}

/// Finds the exits in one code range of a function, which starts at `start`. `inside` tests whether an address
/// belongs to the function.
pub(crate) fn exits(code: &[u8], start: u64, inside: impl Fn(u64) -> bool, found: &mut FunctionExits) {
    for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
        match instruction.flow_control() {
            FlowControl::Return => found.returns.push(instruction.ip()),
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
                if matches!(instruction.op0_kind(), OpKind::NearBranch64)
                    && !inside(instruction.near_branch64()) =>
            {
                found.tail_calls.push(instruction.ip());
            }
            // A jump table or a tail call through a pointer: decided when it executes.
            FlowControl::IndirectBranch => found.tail_calls.push(instruction.ip()),
            _ => {}
        }
    }
}

/// Decodes the instruction at an address.
pub(crate) fn decode(bytes: &[u8], address: u64) -> Instruction {
    Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode()
}

/// Target of a jump; `None` if it is not taken.
pub(crate) fn jump_target(jump: &Instruction, regs: &Regs, memory: &dyn Memory) -> Option<u64> {
    if !condition_holds(jump.condition_code(), regs.eflags) {
        return None;
    }
    match jump.op0_kind() {
        OpKind::NearBranch64 => Some(jump.near_branch64()),
        OpKind::Register => register(jump.op0_register(), regs),
        OpKind::Memory => {
            let at = jump.virtual_address(0, 0, |name, _, _| register(name, regs))?;
            memory.word(at).ok()
        }
        _ => None,
    }
}

fn condition_holds(condition: ConditionCode, flags: u64) -> bool {
    let flag = |bit: u32| flags >> bit & 1 != 0;
    let (carry, parity, zero, sign, overflow) = (flag(0), flag(2), flag(6), flag(7), flag(11));
    match condition {
        ConditionCode::None => true,
        ConditionCode::o => overflow,
        ConditionCode::no => !overflow,
        ConditionCode::b => carry,
        ConditionCode::ae => !carry,
        ConditionCode::e => zero,
        ConditionCode::ne => !zero,
        ConditionCode::be => carry || zero,
        ConditionCode::a => !carry && !zero,
        ConditionCode::s => sign,
        ConditionCode::ns => !sign,
        ConditionCode::p => parity,
        ConditionCode::np => !parity,
        ConditionCode::l => sign != overflow,
        ConditionCode::ge => sign == overflow,
        ConditionCode::le => zero || sign != overflow,
        ConditionCode::g => !zero && sign == overflow,
    }
}

fn register(name: Register, regs: &Regs) -> Option<u64> {
    Some(match name {
        Register::RAX => regs.rax,
        Register::RBX => regs.rbx,
        Register::RCX => regs.rcx,
        Register::RDX => regs.rdx,
        Register::RSI => regs.rsi,
        Register::RDI => regs.rdi,
        Register::RBP => regs.rbp,
        Register::RSP => regs.rsp,
        Register::R8 => regs.r8,
        Register::R9 => regs.r9,
        Register::R10 => regs.r10,
        Register::R11 => regs.r11,
        Register::R12 => regs.r12,
        Register::R13 => regs.r13,
        Register::R14 => regs.r14,
        Register::R15 => regs.r15,
        Register::FS => regs.fs_base,
        Register::GS => regs.gs_base,
        // In 64-bit code the other segments have no base.
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x40_1000;
    const SLOT_AT: u64 = 0x50_0000;

    fn decoded(code: &[u8]) -> Vec<String> {
        let all = Decoder::with_ip(64, code, SLOT_AT, DecoderOptions::NONE);
        all.into_iter().map(|instruction| instruction.to_string()).collect()
    }

    #[test]
    fn copied_instruction_is_followed_by_jump_back() {
        let moved = copy_instruction(&[0x55, 0x48], AT, SLOT_AT).unwrap();
        assert_eq!((moved.jump_back, moved.length), (Some(1), 1));
        assert_eq!(decoded(&moved.code), ["push rbp", "jmp 0000000000401001h"]);
    }

    #[test]
    fn relative_operands_of_copies_keep_their_targets() {
        // lea rax, [rip - 7], which is the address of the instruction itself.
        let moved = copy_instruction(&[0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff], AT, SLOT_AT).unwrap();
        assert_eq!(decoded(&moved.code)[0], "lea rax,[401000h]");
        // jne +0x10
        let moved = copy_instruction(&[0x75, 0x10], AT, SLOT_AT).unwrap();
        assert_eq!(decoded(&moved.code), ["jne 0000000000401012h", "jmp 0000000000401002h"]);
    }

    #[test]
    fn copied_calls_push_original_return_address() {
        let moved = copy_instruction(&[0xe8, 0x00, 0x01, 0x00, 0x00], AT, SLOT_AT).unwrap();
        let pushed = ["push 401005h", "mov dword ptr [rsp+4],0"];
        assert_eq!(decoded(&moved.code)[..2], pushed);
        assert_eq!(decoded(&moved.code)[2], "jmp 0000000000401105h");
        let moved = copy_instruction(&[0xff, 0xd0], 0x5555_8000_1000, 0x5555_8100_0000).unwrap();
        assert_eq!(
            decoded(&moved.code),
            ["push 0FFFFFFFF80001002h", "mov dword ptr [rsp+4],5555h", "jmp rax"]
        );
        // call [rsp+8]: the same memory is 16 bytes up once the return address is pushed.
        let moved = copy_instruction(&[0xff, 0x54, 0x24, 0x08], AT, SLOT_AT).unwrap();
        assert_eq!(decoded(&moved.code)[2], "jmp qword ptr [rsp+10h]");
    }

    #[test]
    fn invalid_instruction_is_not_copied() {
        assert!(copy_instruction(&[0x06], AT, SLOT_AT).is_none());
        assert!(copy_instruction(&[], AT, SLOT_AT).is_none());
    }

    #[test]
    fn exits_finds_returns_and_tail_calls() {
        // test edi, edi; je +1; ret; jmp far away
        let code = [0x85, 0xff, 0x74, 0x01, 0xc3, 0xe9, 0x00, 0x10, 0x00, 0x00];
        let mut found = FunctionExits::default();
        exits(&code, AT, |address| (AT..AT + 10).contains(&address), &mut found);
        assert_eq!(found, FunctionExits { returns: vec![AT + 4], tail_calls: vec![AT + 5] });
    }

    struct WordMemory(u64, u64);

    impl Memory for WordMemory {
        fn read(&self, at: u64, into: &mut [u8]) -> Result<(), invigil_debuginfo::machine::Inaccessible> {
            let word = if at == self.0 { self.1 } else { 0 };
            into.copy_from_slice(&word.to_le_bytes()[..into.len()]);
            Ok(())
        }
    }

    #[test]
    fn jump_target_respects_flags_and_operands() {
        // SAFETY: plain integers, for which zero is fine.
        let mut regs: Regs = unsafe { std::mem::zeroed() };
        let memory = WordMemory(0x7010, 0x1234);
        let to = |code: &[u8], regs: &Regs| jump_target(&decode(code, AT), regs, &memory);
        assert_eq!(to(&[0xeb, 0x10], &regs), Some(AT + 0x12));
        // je, jg: depend on the flags.
        assert_eq!(to(&[0x74, 0x10], &regs), None);
        assert_eq!(to(&[0x7f, 0x10], &regs), Some(AT + 0x12));
        regs.eflags = 1 << 6;
        assert_eq!(to(&[0x74, 0x10], &regs), Some(AT + 0x12));
        assert_eq!(to(&[0x7f, 0x10], &regs), None);
        // jmp rax; jmp [rbx + 8 * rcx]; jmp [rip + 2]
        (regs.rax, regs.rbx, regs.rcx) = (0x99, 0x7000, 2);
        assert_eq!(to(&[0xff, 0xe0], &regs), Some(0x99));
        assert_eq!(to(&[0xff, 0x24, 0xcb], &regs), Some(0x1234));
        let near = WordMemory(AT + 8, 0x77);
        assert_eq!(jump_target(&decode(&[0xff, 0x25, 2, 0, 0, 0], AT), &regs, &near), Some(0x77));
    }
}
