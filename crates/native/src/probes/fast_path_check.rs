//! Checks that the fast path of the library uses few vector registers.
//!
//! Saving all vector registers takes as long as everything else at an event. The fast path hardly needs any, but the
//! compiler decides which, and guarantees nothing. So the code is checked before it is used: every instruction
//! reachable from the start of the fast path until it returns. If one uses another register, or if control flow
//! cannot be followed, the fast path is disabled, and all events take the slow path.

use super::image::Image;
use super::trampoline::falls_through;
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind,
    Register,
};
use invigil_probe::agent::SLOW_PATH;
use invigil_probe::entry::FAST_PATH_VECTORS;
use std::collections::BTreeSet;
use std::ops::Range;

/// Upper bound on the number of instructions of the fast path.
const MAX_INSTRUCTIONS: usize = 20_000;

/// A function of the library.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) range: Range<u64>,
    /// Whether it belongs to the panic path, which does not return.
    pub(super) is_panic: bool,
}

/// Disables the fast path if it uses other vector registers than it may, and returns why. `functions` are those of
/// the library, in order.
pub(super) fn check(image: &mut Image, base: u64, functions: &[Function]) -> Result<Option<String>, String> {
    let start = image.entry_points.fast_hit;
    let Err(why) = trace_from(image, base, start, functions) else { return Ok(None) };
    // mov eax, SLOW_PATH; ret
    let mut slow_path_stub = vec![0xb8];
    slow_path_stub.extend(SLOW_PATH.to_le_bytes());
    slow_path_stub.push(0xc3);
    let at = (start - base) as usize;
    let code =
        image.bytes.get_mut(at..at + slow_path_stub.len()).ok_or("its fast path is outside of its code")?;
    code.copy_from_slice(&slow_path_stub);
    Ok(Some(why))
}

/// Instructions still to check.
struct CodeRange {
    start: u64,
    /// End address if all instructions are to be checked; otherwise those that execute in sequence.
    end: Option<u64>,
}

fn trace_from(image: &Image, base: u64, start: u64, functions: &[Function]) -> Result<(), String> {
    let mut pending = vec![CodeRange { start, end: None }];
    let (mut seen, mut swept) = (BTreeSet::new(), BTreeSet::new());
    let mut info = InstructionInfoFactory::new();
    while let Some(CodeRange { start, end: sweep_end }) = pending.pop() {
        let code = start.checked_sub(base).filter(|_| image.code.contains(&start));
        let code = code.and_then(|from| image.bytes.get(from as usize..)).ok_or("it leaves the library")?;
        let mut before = Vec::new();
        for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
            let (at, is_new) = (instruction.ip() - base, seen.insert(instruction.ip()));
            if sweep_end.map_or(!is_new, |end| instruction.ip() >= end) {
                break;
            }
            let used = info.info(&instruction).used_registers();
            if let Some(used) = used.iter().find(|used| !may_be_used(used.register())) {
                return Err(format!("it uses {:?} at {at:#x}", used.register()));
            }
            // A trap of the library ends the path.
            let is_trap = instruction.code() == Code::Int3;
            let flow = instruction.flow_control();
            let is_unsupported =
                matches!(flow, FlowControl::Interrupt | FlowControl::XbeginXabortXend) && !is_trap;
            if is_unsupported || instruction.is_invalid() || seen.len() > MAX_INSTRUCTIONS {
                return Err(format!("its code at {at:#x} cannot be analysed"));
            }
            let mut continues = falls_through(&instruction) && !is_trap;
            if is_jump(&instruction) {
                match target(&instruction).or_else(|| indirect_target(image, base, &instruction)) {
                    Some(to) if function_at(functions, to).is_some_and(|function| function.is_panic) => {
                        continues &= instruction.flow_control() == FlowControl::ConditionalBranch;
                    }
                    Some(start) => pending.push(CodeRange { start, end: None }),
                    None => {
                        let function = function_at(functions, instruction.ip());
                        let function = function.filter(|_| is_table_jump(&instruction, &before));
                        let Range { start, end } = match function {
                            Some(function) => function.range.clone(),
                            None => return Err(format!("the target of the jump at {at:#x} is unknown")),
                        };
                        if swept.insert(start) {
                            pending.push(CodeRange { start, end: Some(end) });
                        }
                    }
                }
            }
            if !continues && sweep_end.is_none() {
                break;
            }
            before.push(instruction);
        }
    }
    Ok(())
}

/// Whether execution may continue elsewhere in the library. A system call does not.
fn is_jump(instruction: &Instruction) -> bool {
    match instruction.flow_control() {
        FlowControl::Call => instruction.code() != Code::Syscall,
        FlowControl::ConditionalBranch
        | FlowControl::UnconditionalBranch
        | FlowControl::IndirectBranch
        | FlowControl::IndirectCall => true,
        _ => false,
    }
}

/// The function that contains an address.
fn function_at(functions: &[Function], at: u64) -> Option<&Function> {
    let next = functions.partition_point(|function| function.range.start <= at);
    functions.get(next.checked_sub(1)?).filter(|function| function.range.contains(&at))
}

/// Whether a jump goes through a table of offsets within its function: an `add` computes the register that the jump
/// uses.
fn is_table_jump(jump: &Instruction, before: &[Instruction]) -> bool {
    let is_register = |at: &Instruction| at.op_count() > 0 && at.op0_kind() == OpKind::Register;
    let computed = before.iter().rfind(|at| is_register(at) && at.op0_register() == jump.op0_register());
    jump.flow_control() == FlowControl::IndirectBranch
        && is_register(jump)
        && computed.is_some_and(|computed| computed.mnemonic() == Mnemonic::Add)
}

/// Target of a direct jump or call.
fn target(instruction: &Instruction) -> Option<u64> {
    (instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64)
        .then(|| instruction.near_branch64())
}

/// Target of an indirect jump or call through a constant word of the library.
fn indirect_target(image: &Image, base: u64, instruction: &Instruction) -> Option<u64> {
    if !instruction.is_ip_rel_memory_operand() {
        return None;
    }
    let at = instruction.ip_rel_memory_address().checked_sub(base)? as usize;
    Some(u64::from_le_bytes(image.bytes.get(at..at + 8)?.try_into().ok()?))
}

fn may_be_used(register: Register) -> bool {
    if register.is_vector_register() {
        return register.is_xmm() && register.number() < FAST_PATH_VECTORS;
    }
    !(register.is_st() || register.is_mm() || register.is_k() || register.is_tmm() || register.is_bnd())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::host_proxy::library;
    use crate::probes::image;
    use invigil_probe::agent::{ENTRY_POINT_COUNT, EntryPoints};

    const BASE: u64 = 0x1000_0000;

    /// Checks some code, whose last function, starting at byte `panic`, belongs to the panic path.
    fn check_result(code: &[u8], panic: usize) -> Option<String> {
        let end = BASE + code.len() as u64;
        let mut image = Image {
            bytes: code.to_vec(),
            code: BASE..end,
            entry_points: EntryPoints { fast_hit: BASE, ..EntryPoints::from_words([0; ENTRY_POINT_COUNT]) },
            control: 0,
            slow_path_only: None,
        };
        let panic = BASE + panic as u64;
        let functions = [
            Function { range: BASE..panic, is_panic: false },
            Function { range: panic..end, is_panic: true },
        ];
        let reason = check(&mut image, BASE, &functions).unwrap();
        let is_disabled = image.bytes[..6] == [0xb8, SLOW_PATH as u8, 0, 0, 0, 0xc3];
        assert_eq!(is_disabled, reason.is_some(), "{reason:?}");
        reason
    }

    #[test]
    fn shipped_library_passes_fast_path_check() {
        assert_eq!(image::read(&library().unwrap(), BASE).unwrap().slow_path_only, None);
    }

    #[test]
    fn other_vector_registers_disable_fast_path() {
        // movq xmm3, rax; mov eax, 0; ret
        let few = [0x66, 0x48, 0x0f, 0x6e, 0xd8, 0xb8, 0, 0, 0, 0, 0xc3, 0xcc];
        assert_eq!(check_result(&few, 11), None);
        // xmm4; ymm0 by vzeroupper; mm0
        let many = [0x66, 0x48, 0x0f, 0x6e, 0xe0, 0xb8, 0, 0, 0, 0, 0xc3, 0xcc];
        assert!(check_result(&many, 11).unwrap().contains("XMM4"));
        let upper = [0xc5, 0xf8, 0x77, 0x90, 0x90, 0xb8, 0, 0, 0, 0, 0xc3, 0xcc];
        assert!(check_result(&upper, 11).is_some());
        let old = [0x48, 0x0f, 0x6e, 0xc0, 0x90, 0xb8, 0, 0, 0, 0, 0xc3, 0xcc];
        assert!(check_result(&old, 11).unwrap().contains("MM0"));
    }

    #[test]
    fn check_follows_branches_calls_and_jump_tables() {
        // je to the code after the ret: movq xmm9, rax; ret
        let branch = [0x74, 0x04, 0x90, 0x90, 0x90, 0xc3, 0x66, 0x4c, 0x0f, 0x6e, 0xc8, 0xc3, 0xcc];
        assert!(check_result(&branch, 12).unwrap().contains("XMM9"));
        let call = [0xe8, 0x01, 0, 0, 0, 0xc3, 0x66, 0x4c, 0x0f, 0x6e, 0xc8, 0xc3, 0xcc];
        assert!(check_result(&call, 12).unwrap().contains("XMM9"));
        // add rax, rcx; jmp rax; nop; and then somewhere
        let table = [0x48, 0x01, 0xc8, 0xff, 0xe0, 0x90, 0x66, 0x4c, 0x0f, 0x6e, 0xc8, 0xc3, 0xcc];
        assert!(check_result(&table, 12).unwrap().contains("XMM9"));
        let table = [0x48, 0x01, 0xc8, 0xff, 0xe0, 0x90, 0xc3, 0xcc];
        assert_eq!(check_result(&table, 7), None);
        // mov rax, rcx; jmp rax
        let anywhere = [0x48, 0x89, 0xc8, 0xff, 0xe0, 0x90, 0xc3, 0xcc];
        assert!(check_result(&anywhere, 7).unwrap().contains("is unknown"));
    }

    #[test]
    fn panic_code_is_not_checked() {
        // je over a call of the panic; ret. The panic: movq xmm9, rax; int3
        let code = [0x74, 0x05, 0xe8, 0x01, 0, 0, 0, 0xc3, 0x66, 0x4c, 0x0f, 0x6e, 0xc8, 0xcc];
        assert_eq!(check_result(&code, 8), None);
        assert!(check_result(&code, 13).is_some(), "it is not known as one");
    }
}
