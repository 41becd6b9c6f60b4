//! Trampolines: the code that a probe jumps to, and the choice of the instructions that its jump replaces.

use crate::displaced_step;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, FlowControl, Instruction,
    InstructionBlock, MemoryOperand, OpKind, Register,
};
use invigil_probe::entry::RED_ZONE;
use std::ops::Range;

/// Size of a trampoline.
pub(crate) const TRAMPOLINE_SIZE: u64 = 160;
/// Length of a jump.
pub(crate) const JUMP_LEN: usize = 5;
/// Length of a short jump, which leads to a jump island.
pub(crate) const SHORT_JUMP_LEN: usize = 2;

/// Why a site keeps its trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotPatchable {
    /// The function ends before there is room for a jump.
    Short,
    /// A branch or a return may lead into the middle of the jump.
    JumpTarget,
    /// The instructions cannot be executed elsewhere.
    Immovable,
    /// There is no free memory within reach.
    OutOfReach,
    /// Reading the parameters takes more than a few loads.
    Capture,
    /// There is a breakpoint or another trap at the site, or in the bytes that the jump would replace.
    OtherTrap,
    /// The jump of another site is in the way.
    OtherProbe,
    /// The direction flag may be set.
    DirectionFlag,
    /// The code differs from the program's file.
    Changed,
}

impl std::fmt::Display for NotPatchable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NotPatchable::Short => "there is no room for a jump",
            NotPatchable::JumpTarget => "a branch or return may lead into the middle of the jump",
            NotPatchable::Immovable => "the instructions cannot be executed elsewhere",
            NotPatchable::OutOfReach => "there is no free memory within reach",
            NotPatchable::Capture => "reading the parameters takes more than a few loads",
            NotPatchable::OtherTrap => "there is also a breakpoint or another trap",
            NotPatchable::OtherProbe => "another probe is in the way",
            NotPatchable::DirectionFlag => "the direction flag may be set",
            NotPatchable::Changed => "the code differs from the program's file",
        })
    }
}

/// Instructions that a jump can replace.
#[derive(Clone, Debug)]
pub(crate) struct PatchWindow {
    instructions: Vec<Instruction>,
    /// Index of the instruction before which the probe is placed.
    probe: usize,
    /// Address of the first instruction.
    pub(crate) start: u64,
    /// Total length, without padding that follows.
    pub(crate) length: u64,
    /// Length of the probe's jump.
    pub(crate) jump_length: usize,
}

impl PatchWindow {
    /// Whether it is a single instruction, which cannot be entered in the middle.
    pub(crate) fn is_single(&self) -> bool {
        self.instructions.len() == 1
    }

    /// Whether the probe is at a conditional jump.
    pub(crate) fn is_conditional(&self) -> bool {
        self.instructions[self.probe].flow_control() == FlowControl::ConditionalBranch
    }

    /// All bytes that the jump replaces or whose instructions execute in the trampoline.
    pub(crate) fn range(&self) -> Range<u64> {
        self.start..self.start + self.length.max(self.jump_length as u64)
    }
}

/// Branches within a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct BranchTargets {
    /// Targets of direct jumps.
    jumps: Vec<u64>,
    /// Whether it has jumps with unknown targets.
    pub(crate) has_unknown_targets: bool,
    /// Whether a part does not decode: possibly data, after which decoding may be out of step.
    pub(crate) has_invalid_code: bool,
    /// Whether execution continues after the last instruction.
    pub(crate) falls_through: bool,
    /// Whether it sets the direction flag, which other code does not expect.
    pub(crate) sets_direction_flag: bool,
}

impl BranchTargets {
    /// Adds the branches of code at `start`.
    pub(crate) fn add(&mut self, code: &[u8], start: u64) {
        for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
            self.has_invalid_code |= instruction.is_invalid();
            self.falls_through = falls_through(&instruction);
            self.sets_direction_flag |= instruction.code() == Code::Std;
            match instruction.flow_control() {
                FlowControl::IndirectBranch => self.has_unknown_targets = true,
                FlowControl::UnconditionalBranch
                | FlowControl::ConditionalBranch
                | FlowControl::Call
                | FlowControl::XbeginXabortXend
                    if instruction.op0_kind() == OpKind::NearBranch64 =>
                {
                    self.jumps.push(instruction.near_branch64());
                }
                _ => {}
            }
        }
    }

    /// Sorts the targets when all code was added.
    pub(crate) fn sort(&mut self) {
        self.jumps.sort_unstable();
        self.jumps.dedup();
    }

    /// Whether a branch leads into a range.
    pub(crate) fn any_in(&self, range: Range<u64>) -> bool {
        let from = self.jumps.partition_point(|target| *target < range.start);
        self.jumps.get(from).is_some_and(|target| range.contains(target))
    }
}

/// Code of a part of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionCode<'a> {
    /// The bytes up to the end of the part, and a few more.
    pub(crate) code: &'a [u8],
    /// Start address.
    pub(crate) start: u64,
    /// End of the function.
    pub(crate) end: u64,
    /// Start of the next code.
    pub(crate) next: u64,
    /// Branch targets in it.
    pub(crate) targets: &'a BranchTargets,
}

/// Whether execution may continue after an instruction.
pub(super) fn falls_through(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::Return
            | FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Exception
    )
}

/// The instructions that a jump of length `jump_length` can replace, for a probe at `address`.
pub(crate) fn window_at(
    address: u64,
    function: &FunctionCode<'_>,
    jump_length: usize,
) -> Result<PatchWindow, NotPatchable> {
    match window(address, function, jump_length) {
        // At the end of a function, include the instructions before the probe.
        Err(NotPatchable::Short) if !function.targets.has_unknown_targets => {
            window_before(address, function, jump_length)
        }
        other => other,
    }
}

/// The instructions up to `address`, at which a function ends.
fn window_before(
    address: u64,
    function: &FunctionCode<'_>,
    jump_length: usize,
) -> Result<PatchWindow, NotPatchable> {
    let mut decoder = Decoder::with_ip(64, function.code, function.start, DecoderOptions::NONE);
    let mut all: Vec<Instruction> = Vec::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        let is_last = instruction.ip() >= address;
        all.push(instruction);
        if is_last {
            break;
        }
    }
    let Some(last) = all.last().filter(|last| last.ip() == address && !last.is_invalid()) else {
        return Err(NotPatchable::Immovable);
    };
    let next = last.next_ip();
    let padding = function.code.get((next - function.start) as usize..).unwrap_or_default();
    // Padding that is executed is not free.
    let room = if falls_through(last) { 0 } else { function.next.saturating_sub(next) as usize };
    let room = room.min(padding.len());
    let padding =
        (0..=room.min(jump_length)).rev().find(|length| is_padding(&padding[..*length])).unwrap_or(0);
    let mut from = all.len() - 1;
    while next - all[from].ip() + (padding as u64) < jump_length as u64 {
        from = from.checked_sub(1).ok_or(NotPatchable::Short)?;
        if all[from].flow_control() != FlowControl::Next || all[from].is_invalid() {
            return Err(NotPatchable::Short);
        }
    }
    let start = all[from].ip();
    let window = PatchWindow {
        probe: all.len() - 1 - from,
        start,
        length: next - start,
        instructions: all.split_off(from),
        jump_length,
    };
    match function.targets.any_in(start + 1..window.range().end) {
        true => Err(NotPatchable::JumpTarget),
        false => Ok(window),
    }
}

/// The instructions from `address` on.
fn window(
    address: u64,
    function: &FunctionCode<'_>,
    jump_length: usize,
) -> Result<PatchWindow, NotPatchable> {
    let code = function.code.get((address - function.start) as usize..).ok_or(NotPatchable::Short)?;
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instructions = Vec::new();
    let mut length = 0;
    let mut continues = true;
    while (length as usize) < jump_length {
        if address + length >= function.end {
            break;
        }
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return Err(if code.len() < jump_length { NotPatchable::Short } else { NotPatchable::Immovable });
        }
        length += instruction.len() as u64;
        instructions.push(instruction);
        continues = falls_through(&instruction);
        // After any other instruction, the next one is not executed, or not directly.
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::ConditionalBranch => {}
            FlowControl::Interrupt | FlowControl::Exception | FlowControl::XbeginXabortXend => {
                return Err(NotPatchable::Immovable);
            }
            FlowControl::Call | FlowControl::IndirectCall if (length as usize) < jump_length => {
                // The call would return into the middle of the jump.
                return Err(NotPatchable::JumpTarget);
            }
            _ => break,
        }
    }
    if function.targets.any_in(address + 1..address + (length.max(jump_length as u64))) {
        return Err(NotPatchable::JumpTarget);
    }
    if (length as usize) < jump_length {
        let padding = code.get(length as usize..jump_length).ok_or(NotPatchable::Short)?;
        // Padding that is executed is not free: execution falls through to the next function.
        if continues || address + jump_length as u64 > function.next || !is_padding(padding) {
            return Err(NotPatchable::Short);
        }
    }
    Ok(PatchWindow { instructions, probe: 0, start: address, length, jump_length })
}

/// Whether bytes between functions are padding.
pub(crate) fn is_padding(bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    bytes.iter().all(|byte| matches!(byte, 0x90 | 0xcc | 0x00))
        || decoder.iter().all(|instruction| {
            instruction.is_invalid() || instruction.code().mnemonic() == iced_x86::Mnemonic::Nop
        }) && matches!(bytes.first(), Some(0x0f | 0x66 | 0x90 | 0x2e))
}

/// A trampoline, encoded for an address.
#[derive(Clone, Debug)]
pub(crate) struct Trampoline {
    pub(crate) code: Vec<u8>,
    /// Offset at which a thread enters.
    pub(crate) entry: u64,
    /// Offsets of the call of the library and of its return.
    pub(crate) call_start: u64,
    pub(crate) agent_return: u64,
    /// Offsets of the copied instructions, with their original addresses; the last entry is the jump back.
    pub(crate) copies: Vec<(u64, u64)>,
}

/// Preliminary address of an instruction.
fn preliminary_address(n: usize) -> u64 {
    0x6fff_0000_0000 + 16 * n as u64
}

/// Creates the trampoline of a site, for address `at`. `entry_word` is the address of a word that holds the
/// library's entry. With `is_for_jump`, the probe of a conditional jump is bypassed if the jump is not taken.
pub(crate) fn make_trampoline(
    window: &PatchWindow,
    at: u64,
    (site, is_for_jump): (u32, bool),
    entry_word: u64,
) -> Result<Trampoline, NotPatchable> {
    let stack = |by: i64| MemoryOperand::with_base_displ(Register::RSP, by);
    let call_agent = [
        Instruction::with2(Code::Lea_r64_m, Register::RSP, stack(-(RED_ZONE as i64))),
        Instruction::with1(Code::Pushq_imm32, site as i32),
        Instruction::with1(Code::Call_rm64, MemoryOperand::with_base_displ(Register::RIP, entry_word as i64)),
        Instruction::with2(Code::Lea_r64_m, Register::RSP, stack(RED_ZONE as i64 + 8)),
    ];
    let call_agent =
        call_agent.into_iter().collect::<Result<Vec<_>, _>>().map_err(|_| NotPatchable::Immovable)?;
    let is_bypassed = is_for_jump && window.is_conditional();
    if is_bypassed && !window.instructions[window.probe].is_jcc_short_or_near() {
        return Err(NotPatchable::Immovable);
    }
    // Each with the original address that it is the first copy for.
    let mut all: Vec<(Option<u64>, Instruction)> = Vec::new();
    let mut ends = false;
    for (n, instruction) in window.instructions.iter().enumerate() {
        if n == window.probe {
            if is_bypassed {
                let mut bypass = *instruction;
                bypass.negate_condition_code();
                bypass.set_near_branch64(preliminary_address(all.len() + 1 + call_agent.len()));
                all.push((None, bypass));
            }
            all.extend(call_agent.iter().map(|instruction| (None, *instruction)));
        }
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => {
                let copies = displaced_step::expand_call(*instruction, instruction.next_ip())
                    .ok_or(NotPatchable::Immovable)?;
                all.extend(
                    copies
                        .into_iter()
                        .enumerate()
                        .map(|(n, copy)| ((n == 0).then_some(instruction.ip()), copy)),
                );
                ends = true;
            }
            flow => {
                all.push((Some(instruction.ip()), *instruction));
                ends = matches!(
                    flow,
                    FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch
                );
            }
        }
    }
    let next = window.start + window.length;
    if !ends {
        let jump = Instruction::with_branch(Code::Jmp_rel32_64, next).map_err(|_| NotPatchable::Immovable)?;
        all.push((Some(next), jump));
    }
    // With their own addresses, the encoder would redirect operands that refer to one of them to its copy.
    for (n, (_, instruction)) in all.iter_mut().enumerate() {
        instruction.set_ip(preliminary_address(n));
    }
    let (addresses, instructions): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let block = InstructionBlock::new(&instructions, at);
    let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
    let encoded = BlockEncoder::encode(64, block, options).map_err(|_| NotPatchable::Immovable)?;
    let offsets = encoded.new_instruction_offsets;
    if encoded.code_buffer.len() as u64 > TRAMPOLINE_SIZE || offsets.contains(&u32::MAX) {
        return Err(NotPatchable::Immovable);
    }
    let copies =
        addresses.iter().zip(&offsets).filter_map(|(address, at)| Some((u64::from(*at), (*address)?)));
    let probe = window.probe + usize::from(is_bypassed);
    Ok(Trampoline {
        copies: copies.collect(),
        entry: u64::from(offsets[window.probe]),
        call_start: u64::from(offsets[probe]),
        agent_return: u64::from(offsets[probe + 3]),
        code: encoded.code_buffer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x40_1000;
    const TRAMPOLINE: u64 = 0x50_0000;
    const ENTRY: u64 = 0x4f_fff8;

    fn lines(trampoline: &Trampoline) -> Vec<String> {
        let all = Decoder::with_ip(64, &trampoline.code, TRAMPOLINE, DecoderOptions::NONE);
        all.into_iter().map(|instruction| instruction.to_string()).collect()
    }

    /// The window of a probe `probe` bytes into a function of `end` bytes.
    fn within(code: &[u8], probe: u64, end: u64) -> Result<PatchWindow, NotPatchable> {
        let mut targets = BranchTargets::default();
        targets.add(&code[..end as usize], AT);
        targets.sort();
        let function =
            FunctionCode { code, start: AT, end: AT + end, next: AT + code.len() as u64, targets: &targets };
        window_at(AT + probe, &function, JUMP_LEN)
    }

    fn at(code: &[u8], end: u64) -> Result<PatchWindow, NotPatchable> {
        within(code, 0, end)
    }

    #[test]
    fn untaken_conditional_jump_bypasses_probe() {
        // je far away; ret
        let code = [0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, 0xc3];
        let window = at(&code, 7).unwrap();
        assert!(window.is_conditional());
        let made = make_trampoline(&window, TRAMPOLINE, (7, true), ENTRY).unwrap();
        let all = lines(&made);
        let copy = TRAMPOLINE + made.copies[0].0;
        assert_eq!(all[0], format!("jne short {copy:016X}h"));
        assert_eq!(all[5..], ["je 0000000000402006h", "jmp 0000000000401006h"]);
        assert!(made.entry < made.call_start && made.call_start < made.agent_return);
        // A probe needed in both cases is not bypassed.
        let made = make_trampoline(&window, TRAMPOLINE, (7, false), ENTRY).unwrap();
        assert_eq!(made.entry, made.call_start);
        assert_eq!(lines(&made).len(), all.len() - 1);
    }

    #[test]
    fn trampoline_of_prologue_copies_whole_instructions() {
        // push rbp; mov rbp, rsp; sub rsp, 16
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc3];
        let window = at(&code, 9).unwrap();
        assert_eq!(window.length, 8);
        let made = make_trampoline(&window, TRAMPOLINE, (7, false), ENTRY).unwrap();
        assert_eq!(
            lines(&made),
            [
                "lea rsp,[rsp-80h]",
                "push 7",
                "call qword ptr [4FFFF8h]",
                "lea rsp,[rsp+88h]",
                "push rbp",
                "mov rbp,rsp",
                "sub rsp,10h",
                "jmp 0000000000401008h",
            ]
        );
        let copies: Vec<u64> = made.copies.iter().map(|(_, from)| *from - AT).collect();
        assert_eq!(copies, [0, 1, 4, 8]);
        assert_eq!(made.copies[0].0, made.agent_return + 8);
    }

    #[test]
    fn short_function_needs_padding() {
        assert_eq!(at(&[0xc3, 0x55, 0x55, 0x55, 0x55], 1).unwrap_err(), NotPatchable::Short);
        let window = at(&[0xc3, 0x90, 0x90, 0x90, 0x90], 1).unwrap();
        assert_eq!(lines(&make_trampoline(&window, TRAMPOLINE, (1, false), ENTRY).unwrap())[4..], ["ret"]);
        assert!(at(&[0xc3, 0x0f, 0x1f, 0x40, 0x00, 0x90], 1).is_ok());
        assert_eq!(at(&[0xc3, 0x90], 1).unwrap_err(), NotPatchable::Short);
    }

    #[test]
    fn padding_after_fall_through_is_not_free() {
        // xor eax, eax; then padding falls through to the next function.
        assert_eq!(at(&[0x31, 0xc0, 0x90, 0x90, 0x90, 0x90], 2).unwrap_err(), NotPatchable::Short);
        assert!(at(&[0xeb, 0x40, 0x90, 0x90, 0x90, 0x90], 2).is_ok());
    }

    #[test]
    fn branch_into_window_is_rejected() {
        // push rax; dec edi; jne to the dec; ret
        let code = [0x50, 0xff, 0xcf, 0x75, 0xfc, 0xc3];
        assert_eq!(at(&code, 6).unwrap_err(), NotPatchable::JumpTarget);
        // A loop to the start is harmless: every round passes the probe as an entry.
        let code = [0xff, 0xcf, 0x75, 0xfc, 0x90, 0xc3];
        assert!(at(&code, 6).is_ok());
    }

    #[test]
    fn copied_call_pushes_original_return_address() {
        let code = [0xe8, 0x00, 0x01, 0x00, 0x00, 0xc3];
        let made = make_trampoline(&at(&code, 6).unwrap(), TRAMPOLINE, (1, false), ENTRY).unwrap();
        assert_eq!(lines(&made)[4..], ["push 401005h", "mov dword ptr [rsp+4],0", "jmp 0000000000401105h"]);
        // call rax, and then something: it would return into the jump.
        assert_eq!(at(&[0xff, 0xd0, 0x90, 0x90, 0x90, 0xc3], 6).unwrap_err(), NotPatchable::JumpTarget);
    }

    #[test]
    fn window_before_return_includes_previous_instructions() {
        // mov eax, edi; add rsp, 8; pop rbx; ret
        let code = [0x89, 0xf8, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0xc3, 0x55, 0x55];
        let window = within(&code, 7, 8).unwrap();
        assert_eq!((window.start - AT, window.length), (2, 6));
        let made = make_trampoline(&window, TRAMPOLINE, (3, false), ENTRY).unwrap();
        assert_eq!(lines(&made)[..3], ["add rsp,8", "pop rbx", "lea rsp,[rsp-80h]"]);
        assert_eq!(lines(&made)[6..], ["ret"]);
        assert_eq!(made.copies.iter().map(|(_, from)| *from - AT).collect::<Vec<_>>(), [2, 6, 7]);
        // With padding after it, fewer are needed.
        let code = [0x89, 0xf8, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0xc3, 0x90, 0x90, 0x90, 0x90];
        assert_eq!(within(&code, 7, 8).unwrap().start, AT + 7);
        // A branch leads to the ret.
        let code = [0x74, 0x05, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0xc3];
        assert_eq!(within(&code, 7, 8).unwrap_err(), NotPatchable::JumpTarget);
    }
}
