//! The few instructions that a probe jumps to, and which instructions can make room for the jump.

use crate::displace;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, FlowControl, Instruction,
    InstructionBlock, MemoryOperand, OpKind, Register,
};
use invigil_probe::entry::RED_ZONE;
use std::ops::Range;

/// The room for one trampoline.
pub(crate) const ROOM: u64 = 160;
/// The length of a jump.
pub(crate) const JUMP: usize = 5;
/// The length of one that reaches a little way only: to where there is room for another.
pub(crate) const SHORT_JUMP: usize = 2;

/// Why a place keeps its trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The function, or the code, ends before there is room for a jump.
    Short,
    /// Something jumps, or returns, into the middle of where the jump would be.
    Entered,
    /// The instructions cannot be executed elsewhere.
    Immovable,
    /// Nothing near enough is free.
    Far,
    /// What the event carries takes more than a few loads.
    Capture,
    /// Somebody has a point there, too.
    Shared,
    /// The jump of another place is in the way.
    Crowded,
    /// The processor may be going through memory backwards there.
    Backwards,
    /// The code is not what the program's file says.
    Changed,
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unfit::Short => "there is no room for a jump",
            Unfit::Entered => "something may jump or return into the middle of the jump",
            Unfit::Immovable => "the instructions there cannot be executed elsewhere",
            Unfit::Far => "there is no free memory near enough",
            Unfit::Capture => "what the event carries takes more than a few loads",
            Unfit::Shared => "somebody has a point there, too",
            Unfit::Crowded => "another probe is in the way",
            Unfit::Backwards => "the processor may be going through memory backwards there",
            Unfit::Changed => "the program has changed its code there",
        })
    }
}

/// Instructions that a jump can lie over.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    instructions: Vec<Instruction>,
    /// Before which of them the probe is.
    probe: usize,
    /// Where they begin.
    pub(crate) start: u64,
    /// How long they are together; padding that follows them is not counted.
    pub(crate) length: u64,
    /// How long the jump is.
    pub(crate) jump: usize,
}

impl Window {
    /// Whether it is one instruction only: there is nothing in its middle that could be entered.
    pub(crate) fn is_single(&self) -> bool {
        self.instructions.len() == 1
    }

    /// Whether the probe is at a jump that depends on a condition.
    pub(crate) fn is_conditional(&self) -> bool {
        self.instructions[self.probe].flow_control() == FlowControl::ConditionalBranch
    }

    /// All bytes that the jump lies over, or whose instructions are executed elsewhere.
    pub(crate) fn range(&self) -> Range<u64> {
        self.start..self.start + self.length.max(self.jump as u64)
    }
}

/// What a function's own code says about jumps within it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    /// Where direct jumps go.
    jumps: Vec<u64>,
    /// Whether it has jumps that go nobody knows where.
    pub(crate) is_open: bool,
    /// Whether some of it is no instruction: data, perhaps, and what follows may be misunderstood.
    pub(crate) is_garbled: bool,
    /// Whether what follows the last instruction is executed after it.
    pub(crate) falls_through: bool,
    /// Whether it tells the processor to go through memory backwards, which nobody else expects.
    pub(crate) is_backwards: bool,
}

impl Targets {
    /// Looks through code that lies at `start`.
    pub(crate) fn add(&mut self, code: &[u8], start: u64) {
        for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
            self.is_garbled |= instruction.is_invalid();
            self.falls_through = falls_through(&instruction);
            self.is_backwards |= instruction.code() == Code::Std;
            match instruction.flow_control() {
                FlowControl::IndirectBranch => self.is_open = true,
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

    /// All is known of it.
    pub(crate) fn sort(&mut self) {
        self.jumps.sort_unstable();
        self.jumps.dedup();
    }

    /// Whether one goes into a range.
    pub(crate) fn any_in(&self, range: Range<u64>) -> bool {
        let from = self.jumps.partition_point(|target| *target < range.start);
        self.jumps.get(from).is_some_and(|target| range.contains(target))
    }
}

/// Code of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around<'a> {
    /// What lies there, up to the end of this part of the function, and a little further.
    pub(crate) code: &'a [u8],
    /// Where that begins.
    pub(crate) start: u64,
    /// Where the function ends.
    pub(crate) end: u64,
    /// Where something else begins.
    pub(crate) next: u64,
    /// Where jumps go.
    pub(crate) targets: &'a Targets,
}

/// Whether what follows an instruction may be executed after it.
pub(super) fn falls_through(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::Return
            | FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Exception
    )
}

/// The instructions that a jump of some length, for a probe at `address`, can lie over.
pub(crate) fn window_at(address: u64, around: &Around<'_>, jump: usize) -> Result<Window, Unfit> {
    match window(address, around, jump) {
        // The last instructions of a function, with those before them.
        Err(Unfit::Short) if !around.targets.is_open => window_before(address, around, jump),
        other => other,
    }
}

/// The instructions up to `address`, at which a function ends.
fn window_before(address: u64, around: &Around<'_>, jump: usize) -> Result<Window, Unfit> {
    let mut decoder = Decoder::with_ip(64, around.code, around.start, DecoderOptions::NONE);
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
        return Err(Unfit::Immovable);
    };
    let behind = last.next_ip();
    let padding = around.code.get((behind - around.start) as usize..).unwrap_or_default();
    // Padding that is executed is none.
    let room = if falls_through(last) { 0 } else { around.next.saturating_sub(behind) as usize };
    let room = room.min(padding.len());
    let padding = (0..=room.min(jump)).rev().find(|length| is_padding(&padding[..*length])).unwrap_or(0);
    let mut from = all.len() - 1;
    while behind - all[from].ip() + (padding as u64) < jump as u64 {
        from = from.checked_sub(1).ok_or(Unfit::Short)?;
        if all[from].flow_control() != FlowControl::Next || all[from].is_invalid() {
            return Err(Unfit::Short);
        }
    }
    let start = all[from].ip();
    let window = Window {
        probe: all.len() - 1 - from,
        start,
        length: behind - start,
        instructions: all.split_off(from),
        jump,
    };
    match around.targets.any_in(start + 1..window.range().end) {
        true => Err(Unfit::Entered),
        false => Ok(window),
    }
}

/// The instructions from `address` on that a jump can lie over.
fn window(address: u64, around: &Around<'_>, jump: usize) -> Result<Window, Unfit> {
    let code = around.code.get((address - around.start) as usize..).ok_or(Unfit::Short)?;
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instructions = Vec::new();
    let mut length = 0;
    let mut goes_on = true;
    while (length as usize) < jump {
        if address + length >= around.end {
            break;
        }
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return Err(if code.len() < jump { Unfit::Short } else { Unfit::Immovable });
        }
        length += instruction.len() as u64;
        instructions.push(instruction);
        goes_on = falls_through(&instruction);
        // What follows is not executed after it, or only after something else.
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::ConditionalBranch => {}
            FlowControl::Interrupt | FlowControl::Exception | FlowControl::XbeginXabortXend => {
                return Err(Unfit::Immovable);
            }
            FlowControl::Call | FlowControl::IndirectCall if (length as usize) < jump => {
                // It would return into the middle.
                return Err(Unfit::Entered);
            }
            _ => break,
        }
    }
    if around.targets.any_in(address + 1..address + (length.max(jump as u64))) {
        return Err(Unfit::Entered);
    }
    if (length as usize) < jump {
        let padding = code.get(length as usize..jump).ok_or(Unfit::Short)?;
        // Padding that is executed is none: the next function follows without a jump.
        if goes_on || address + jump as u64 > around.next || !is_padding(padding) {
            return Err(Unfit::Short);
        }
    }
    Ok(Window { instructions, probe: 0, start: address, length, jump })
}

/// Whether bytes between functions are there only to fill.
pub(crate) fn is_padding(bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    bytes.iter().all(|byte| matches!(byte, 0x90 | 0xcc | 0x00))
        || decoder.iter().all(|instruction| {
            instruction.is_invalid() || instruction.code().mnemonic() == iced_x86::Mnemonic::Nop
        }) && matches!(bytes.first(), Some(0x0f | 0x66 | 0x90 | 0x2e))
}

/// A trampoline, as it is to lie at an address.
#[derive(Clone, Debug)]
pub(crate) struct Trampoline {
    pub(crate) code: Vec<u8>,
    /// How far into it a thread comes that is at the place.
    pub(crate) enter: u64,
    /// How far into it the way to the library begins, and where the thread comes back from it.
    pub(crate) probe: u64,
    pub(crate) back: u64,
    /// How far into it the copies of the program's instructions lie, and which address the program has for them; behind the
    /// last of them is the jump back.
    pub(crate) copies: Vec<(u64, u64)>,
}

/// The address of an instruction until it is known where it will lie.
fn address_for_now(n: usize) -> u64 {
    0x6fff_0000_0000 + 16 * n as u64
}

/// Makes the trampoline of a site, to lie at `at`; `entry` is the address of a word that holds the library's entry. If the probe
/// is at a jump that depends on a condition, and is only for when it `jumps`, it is passed by otherwise.
pub(crate) fn make(
    window: &Window,
    at: u64,
    (site, jumps): (u32, bool),
    entry: u64,
) -> Result<Trampoline, Unfit> {
    let stack = |by: i64| MemoryOperand::with_base_displ(Register::RSP, by);
    let own = [
        Instruction::with2(Code::Lea_r64_m, Register::RSP, stack(-(RED_ZONE as i64))),
        Instruction::with1(Code::Pushq_imm32, site as i32),
        Instruction::with1(Code::Call_rm64, MemoryOperand::with_base_displ(Register::RIP, entry as i64)),
        Instruction::with2(Code::Lea_r64_m, Register::RSP, stack(RED_ZONE as i64 + 8)),
    ];
    let own = own.into_iter().collect::<Result<Vec<_>, _>>().map_err(|_| Unfit::Immovable)?;
    let passes_by = jumps && window.is_conditional();
    if passes_by && !window.instructions[window.probe].is_jcc_short_or_near() {
        return Err(Unfit::Immovable);
    }
    // Each with the address of the program's instruction that it is the first for.
    let mut all: Vec<(Option<u64>, Instruction)> = Vec::new();
    let mut ends = false;
    for (n, instruction) in window.instructions.iter().enumerate() {
        if n == window.probe {
            if passes_by {
                let mut past = *instruction;
                past.negate_condition_code();
                past.set_near_branch64(address_for_now(all.len() + 1 + own.len()));
                all.push((None, past));
            }
            all.extend(own.iter().map(|own| (None, *own)));
        }
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => {
                let copies = displace::call(*instruction, instruction.next_ip()).ok_or(Unfit::Immovable)?;
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
    let behind = window.start + window.length;
    if !ends {
        let jump = Instruction::with_branch(Code::Jmp_rel32_64, behind).map_err(|_| Unfit::Immovable)?;
        all.push((Some(behind), jump));
    }
    // With their own addresses the encoder would take operands that point to one of them for ones that point to its copy.
    for (n, (_, instruction)) in all.iter_mut().enumerate() {
        instruction.set_ip(address_for_now(n));
    }
    let (addresses, instructions): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let block = InstructionBlock::new(&instructions, at);
    let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
    let encoded = BlockEncoder::encode(64, block, options).map_err(|_| Unfit::Immovable)?;
    let offsets = encoded.new_instruction_offsets;
    if encoded.code_buffer.len() as u64 > ROOM || offsets.contains(&u32::MAX) {
        return Err(Unfit::Immovable);
    }
    let copies =
        addresses.iter().zip(&offsets).filter_map(|(address, at)| Some((u64::from(*at), (*address)?)));
    let probe = window.probe + usize::from(passes_by);
    Ok(Trampoline {
        copies: copies.collect(),
        enter: u64::from(offsets[window.probe]),
        probe: u64::from(offsets[probe]),
        back: u64::from(offsets[probe + 3]),
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

    /// The window of a probe `probe` bytes into a function that is `end` bytes long.
    fn within(code: &[u8], probe: u64, end: u64) -> Result<Window, Unfit> {
        let mut targets = Targets::default();
        targets.add(&code[..end as usize], AT);
        targets.sort();
        let around =
            Around { code, start: AT, end: AT + end, next: AT + code.len() as u64, targets: &targets };
        window_at(AT + probe, &around, JUMP)
    }

    fn at(code: &[u8], end: u64) -> Result<Window, Unfit> {
        within(code, 0, end)
    }

    #[test]
    fn a_jump_by_a_condition_is_passed_by_if_it_is_not_taken() {
        // je far away; ret
        let code = [0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, 0xc3];
        let window = at(&code, 7).unwrap();
        assert!(window.is_conditional());
        let made = make(&window, TRAMPOLINE, (7, true), ENTRY).unwrap();
        let all = lines(&made);
        let copy = TRAMPOLINE + made.copies[0].0;
        assert_eq!(all[0], format!("jne short {copy:016X}h"));
        assert_eq!(all[5..], ["je 0000000000402006h", "jmp 0000000000401006h"]);
        assert!(made.enter < made.probe && made.probe < made.back);
        // What happens either way is not passed by.
        let made = make(&window, TRAMPOLINE, (7, false), ENTRY).unwrap();
        assert_eq!(made.enter, made.probe);
        assert_eq!(lines(&made).len(), all.len() - 1);
    }

    #[test]
    fn a_prologue() {
        // push rbp; mov rbp, rsp; sub rsp, 16
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc3];
        let window = at(&code, 9).unwrap();
        assert_eq!(window.length, 8);
        let made = make(&window, TRAMPOLINE, (7, false), ENTRY).unwrap();
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
        assert_eq!(made.copies[0].0, made.back + 8);
    }

    #[test]
    fn too_short_unless_padding_follows() {
        assert_eq!(at(&[0xc3, 0x55, 0x55, 0x55, 0x55], 1).unwrap_err(), Unfit::Short);
        let window = at(&[0xc3, 0x90, 0x90, 0x90, 0x90], 1).unwrap();
        assert_eq!(lines(&make(&window, TRAMPOLINE, (1, false), ENTRY).unwrap())[4..], ["ret"]);
        assert!(at(&[0xc3, 0x0f, 0x1f, 0x40, 0x00, 0x90], 1).is_ok());
        assert_eq!(at(&[0xc3, 0x90], 1).unwrap_err(), Unfit::Short);
    }

    #[test]
    fn padding_on_the_way_to_the_next_function_is_executed() {
        // xor eax, eax; and then, over some padding, whatever follows.
        assert_eq!(at(&[0x31, 0xc0, 0x90, 0x90, 0x90, 0x90], 2).unwrap_err(), Unfit::Short);
        assert!(at(&[0xeb, 0x40, 0x90, 0x90, 0x90, 0x90], 2).is_ok());
    }

    #[test]
    fn a_loop_to_the_middle() {
        // push rax; dec edi; jne to the dec; ret
        let code = [0x50, 0xff, 0xcf, 0x75, 0xfc, 0xc3];
        assert_eq!(at(&code, 6).unwrap_err(), Unfit::Entered);
        // A loop to the begin is fine: every round is an entry for whoever jumps there.
        let code = [0xff, 0xcf, 0x75, 0xfc, 0x90, 0xc3];
        assert!(at(&code, 6).is_ok());
    }

    #[test]
    fn a_call_returns_to_where_it_is_written() {
        let code = [0xe8, 0x00, 0x01, 0x00, 0x00, 0xc3];
        let made = make(&at(&code, 6).unwrap(), TRAMPOLINE, (1, false), ENTRY).unwrap();
        assert_eq!(lines(&made)[4..], ["push 401005h", "mov dword ptr [rsp+4],0", "jmp 0000000000401105h"]);
        // call rax, and then something: it would return into the jump.
        assert_eq!(at(&[0xff, 0xd0, 0x90, 0x90, 0x90, 0xc3], 6).unwrap_err(), Unfit::Entered);
    }

    #[test]
    fn a_return_with_what_is_before_it() {
        // mov eax, edi; add rsp, 8; pop rbx; ret
        let code = [0x89, 0xf8, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0xc3, 0x55, 0x55];
        let window = within(&code, 7, 8).unwrap();
        assert_eq!((window.start - AT, window.length), (2, 6));
        let made = make(&window, TRAMPOLINE, (3, false), ENTRY).unwrap();
        assert_eq!(lines(&made)[..3], ["add rsp,8", "pop rbx", "lea rsp,[rsp-80h]"]);
        assert_eq!(lines(&made)[6..], ["ret"]);
        assert_eq!(made.copies.iter().map(|(_, from)| *from - AT).collect::<Vec<_>>(), [2, 6, 7]);
        // With padding behind it, fewer are needed.
        let code = [0x89, 0xf8, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0xc3, 0x90, 0x90, 0x90, 0x90];
        assert_eq!(within(&code, 7, 8).unwrap().start, AT + 7);
        // Somebody jumps to the ret.
        let code = [0x74, 0x05, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0xc3];
        assert_eq!(within(&code, 7, 8).unwrap_err(), Unfit::Entered);
    }
}
