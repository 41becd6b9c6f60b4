//! Which vector registers the library uses on its shortest way.
//!
//! To put all of them aside at every event takes as long as everything else. On the shortest way hardly any is needed; but which
//! ones are used is up to the compiler that made the library, and promises nothing. So the code is looked at before it is used: every
//! instruction that a thread can come to from there, until it returns. If there is one that should not be, or if where it goes cannot
//! be told, that way is closed, and all threads take the other one.

use super::image::Image;
use super::trampoline::falls_through;
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind,
    Register,
};
use invigil_probe::agent::NOT_QUICK;
use invigil_probe::entry::FEW_VECTORS;
use std::collections::BTreeSet;
use std::ops::Range;

/// The shortest way has fewer instructions than this.
const MOST: usize = 20_000;

/// A function of the library.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) range: Range<u64>,
    /// Whether it is one that a panic calls, and that does not come back.
    pub(super) is_panic: bool,
}

/// Closes the shortest way, if it uses other vector registers than it may; says why. `functions` are those of the library, in
/// their order.
pub(super) fn check(image: &mut Image, base: u64, functions: &[Function]) -> Result<Option<String>, String> {
    let start = image.places.quick;
    let Err(why) = look(image, base, start, functions) else { return Ok(None) };
    // mov eax, NOT_QUICK; ret
    let mut closed = vec![0xb8];
    closed.extend(NOT_QUICK.to_le_bytes());
    closed.push(0xc3);
    let at = (start - base) as usize;
    let there = image.bytes.get_mut(at..at + closed.len()).ok_or("its shortest way lies outside")?;
    there.copy_from_slice(&closed);
    Ok(Some(why))
}

/// Instructions to look at.
struct Stretch {
    start: u64,
    /// All of them up to here; else those that are executed one after the other.
    whole: Option<u64>,
}

fn look(image: &Image, base: u64, start: u64, functions: &[Function]) -> Result<(), String> {
    let mut to_see = vec![Stretch { start, whole: None }];
    let (mut seen, mut swept) = (BTreeSet::new(), BTreeSet::new());
    let mut info = InstructionInfoFactory::new();
    while let Some(Stretch { start, whole }) = to_see.pop() {
        let code = start.checked_sub(base).filter(|_| image.code.contains(&start));
        let code =
            code.and_then(|from| image.bytes.get(from as usize..)).ok_or("it leads out of the library")?;
        let mut before = Vec::new();
        for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
            let (at, is_new) = (instruction.ip() - base, seen.insert(instruction.ip()));
            if whole.map_or(!is_new, |end| instruction.ip() >= end) {
                break;
            }
            let used = info.info(&instruction).used_registers();
            if let Some(used) = used.iter().find(|used| !may_be_used(used.register())) {
                return Err(format!("it uses {:?} at {at:#x}", used.register()));
            }
            // A trap of the library's own is the end of everything.
            let is_end = instruction.code() == Code::Int3;
            let flow = instruction.flow_control();
            let is_strange =
                matches!(flow, FlowControl::Interrupt | FlowControl::XbeginXabortXend) && !is_end;
            if is_strange || instruction.is_invalid() || seen.len() > MOST {
                return Err(format!("its code at {at:#x} cannot be followed"));
            }
            let mut goes_on = falls_through(&instruction) && !is_end;
            if is_jump(&instruction) {
                match target(&instruction).or_else(|| behind(image, base, &instruction)) {
                    Some(to) if function_at(functions, to).is_some_and(|function| function.is_panic) => {
                        goes_on &= instruction.flow_control() == FlowControl::ConditionalBranch;
                    }
                    Some(start) => to_see.push(Stretch { start, whole: None }),
                    None => {
                        let this = function_at(functions, instruction.ip());
                        let this = this.filter(|_| in_table(&instruction, &before));
                        let Range { start, end } = match this {
                            Some(this) => this.range.clone(),
                            None => return Err(format!("where it goes from {at:#x} cannot be told")),
                        };
                        if swept.insert(start) {
                            to_see.push(Stretch { start, whole: Some(end) });
                        }
                    }
                }
            }
            if !goes_on && whole.is_none() {
                break;
            }
            before.push(instruction);
        }
    }
    Ok(())
}

/// Whether what is executed next is, or may be, elsewhere in the library. A system call is not.
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

/// The function that an address lies in.
fn function_at(functions: &[Function], at: u64) -> Option<&Function> {
    let behind = functions.partition_point(|function| function.range.start <= at);
    functions.get(behind.checked_sub(1)?).filter(|function| function.range.contains(&at))
}

/// Whether a jump goes to somewhere in its own function, by a table of distances: `add rax, rcx` makes what `jmp rax` takes.
fn in_table(jump: &Instruction, before: &[Instruction]) -> bool {
    let is_register = |at: &Instruction| at.op_count() > 0 && at.op0_kind() == OpKind::Register;
    let made = before.iter().rfind(|at| is_register(at) && at.op0_register() == jump.op0_register());
    jump.flow_control() == FlowControl::IndirectBranch
        && is_register(jump)
        && made.is_some_and(|made| made.mnemonic() == Mnemonic::Add)
}

/// Where a direct jump or call goes.
fn target(instruction: &Instruction) -> Option<u64> {
    (instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64)
        .then(|| instruction.near_branch64())
}

/// Where one goes by way of a word of the library that holds an address, and does not change.
fn behind(image: &Image, base: u64, instruction: &Instruction) -> Option<u64> {
    if !instruction.is_ip_rel_memory_operand() {
        return None;
    }
    let at = instruction.ip_rel_memory_address().checked_sub(base)? as usize;
    Some(u64::from_le_bytes(image.bytes.get(at..at + 8)?.try_into().ok()?))
}

fn may_be_used(register: Register) -> bool {
    if register.is_vector_register() {
        return register.is_xmm() && register.number() < FEW_VECTORS;
    }
    !(register.is_st() || register.is_mm() || register.is_k() || register.is_tmm() || register.is_bnd())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inline::image;
    use crate::inline::room::LIBRARY;
    use invigil_probe::agent::{PLACES, Places};

    const BASE: u64 = 0x1000_0000;

    /// What is said of some code, whose last function, from this byte on, is one that a panic calls.
    fn said_of(code: &[u8], panic: usize) -> Option<String> {
        let end = BASE + code.len() as u64;
        let mut image = Image {
            bytes: code.to_vec(),
            code: BASE..end,
            places: Places { quick: BASE, ..Places::from_words([0; PLACES]) },
            words: 0,
            closed: None,
        };
        let panic = BASE + panic as u64;
        let functions = [
            Function { range: BASE..panic, is_panic: false },
            Function { range: panic..end, is_panic: true },
        ];
        let said = check(&mut image, BASE, &functions).unwrap();
        let is_closed = image.bytes[..6] == [0xb8, NOT_QUICK as u8, 0, 0, 0, 0xc3];
        assert_eq!(is_closed, said.is_some(), "{said:?}");
        said
    }

    #[test]
    fn the_library_is_as_it_should_be() {
        let file = std::fs::read(LIBRARY.find().unwrap()).unwrap();
        assert_eq!(image::read(&file, BASE).unwrap().closed, None);
    }

    #[test]
    fn a_vector_register_too_many() {
        // movq xmm3, rax; mov eax, 0; ret
        let few = [0x66, 0x48, 0x0f, 0x6e, 0xd8, 0xb8, 0, 0, 0, 0, 0xc3, 0xcc];
        assert_eq!(said_of(&few, 11), None);
        // xmm4; ymm0 by vzeroupper; mm0
        let many = [0x66, 0x48, 0x0f, 0x6e, 0xe0, 0xb8, 0, 0, 0, 0, 0xc3, 0xcc];
        assert!(said_of(&many, 11).unwrap().contains("XMM4"));
        let upper = [0xc5, 0xf8, 0x77, 0x90, 0x90, 0xb8, 0, 0, 0, 0, 0xc3, 0xcc];
        assert!(said_of(&upper, 11).is_some());
        let old = [0x48, 0x0f, 0x6e, 0xc0, 0x90, 0xb8, 0, 0, 0, 0, 0xc3, 0xcc];
        assert!(said_of(&old, 11).unwrap().contains("MM0"));
    }

    #[test]
    fn behind_a_branch_a_call_and_a_table() {
        // je to what comes behind the ret: movq xmm9, rax; ret
        let branch = [0x74, 0x04, 0x90, 0x90, 0x90, 0xc3, 0x66, 0x4c, 0x0f, 0x6e, 0xc8, 0xc3, 0xcc];
        assert!(said_of(&branch, 12).unwrap().contains("XMM9"));
        let call = [0xe8, 0x01, 0, 0, 0, 0xc3, 0x66, 0x4c, 0x0f, 0x6e, 0xc8, 0xc3, 0xcc];
        assert!(said_of(&call, 12).unwrap().contains("XMM9"));
        // add rax, rcx; jmp rax; nop; and then somewhere
        let table = [0x48, 0x01, 0xc8, 0xff, 0xe0, 0x90, 0x66, 0x4c, 0x0f, 0x6e, 0xc8, 0xc3, 0xcc];
        assert!(said_of(&table, 12).unwrap().contains("XMM9"));
        let table = [0x48, 0x01, 0xc8, 0xff, 0xe0, 0x90, 0xc3, 0xcc];
        assert_eq!(said_of(&table, 7), None);
        // mov rax, rcx; jmp rax
        let anywhere = [0x48, 0x89, 0xc8, 0xff, 0xe0, 0x90, 0xc3, 0xcc];
        assert!(said_of(&anywhere, 7).unwrap().contains("cannot be told"));
    }

    #[test]
    fn what_a_panic_does_counts_for_nothing() {
        // je over a call of the panic; ret. The panic: movq xmm9, rax; int3
        let code = [0x74, 0x05, 0xe8, 0x01, 0, 0, 0, 0xc3, 0x66, 0x4c, 0x0f, 0x6e, 0xc8, 0xcc];
        assert_eq!(said_of(&code, 8), None);
        assert!(said_of(&code, 13).is_some(), "it is not known as one");
    }
}
