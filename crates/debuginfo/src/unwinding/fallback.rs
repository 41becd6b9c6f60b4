//! Fallback for code without unwinding rules: generated code, assembly, calls to invalid addresses.

use crate::machine::{Memory, RBP, RIP, RSP, Registers};
use crate::program::Program;
use gimli::Register;

/// The instructions by which a signal handler returns: `mov $15, %rax; syscall`.
const RETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];

/// Offset from the stack pointer at that instruction to the registers that the kernel saved.
const SAVED: u64 = 40;

/// The order in which the kernel saves the registers.
const ORDER: [Register; 17] = [
    Register(8),
    Register(9),
    Register(10),
    Register(11),
    Register(12),
    Register(13),
    Register(14),
    Register(15),
    Register(5),
    Register(4),
    RBP,
    Register(3),
    Register(1),
    Register(0),
    Register(2),
    RSP,
    RIP,
];

/// The registers of the code that a signal interrupted, if the thread is about to return from a handler.
pub(super) fn signal_return(registers: &Registers, memory: &dyn Memory) -> Option<Registers> {
    let mut code = [0; RETURN.len()];
    memory.read(registers.pc(), &mut code).ok()?;
    if code != RETURN {
        return None;
    }
    let mut interrupted = Registers::unknown(registers.thread_base);
    for (position, register) in (0_u64..).zip(ORDER) {
        let at = registers.sp().checked_add(SAVED)?.checked_add(position * 8)?;
        interrupted.set(register, Some(memory.word(at).ok()?));
    }
    Some(interrupted)
}

/// Guesses the canonical frame address and the registers of the caller. After a call to an address without code, the
/// return address is on top of the stack; otherwise `rbp` is taken for a frame pointer.
pub(super) fn without_rules(
    program: &Program,
    registers: &Registers,
    memory: &dyn Memory,
    is_first: bool,
) -> Option<(u64, Registers)> {
    let sp = registers.get(RSP)?;
    if is_first && program.image_at(registers.pc()).is_none() {
        let found = memory.word(sp).ok().filter(|address| program.is_code(*address));
        if let Some(address) = found {
            let mut next = *registers;
            next.set_vectors(None);
            next.set(RSP, Some(sp.checked_add(8)?));
            next.set(RIP, Some(address));
            return Some((sp.checked_add(8)?, next));
        }
    }
    let frame = registers.get(RBP).filter(|frame| *frame >= sp && frame % 8 == 0)?;
    let address = memory.word(frame.checked_add(8)?).ok().filter(|address| program.is_code(*address))?;
    let mut next = Registers::unknown(registers.thread_base);
    next.set(RBP, memory.word(frame).ok());
    next.set(RSP, Some(frame.checked_add(16)?));
    next.set(RIP, Some(address));
    Some((frame.checked_add(16)?, next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Inaccessible;

    /// The signal return code at 0x1000, and the registers saved by the kernel from 0x8000 on.
    struct Kernel;

    impl Memory for Kernel {
        fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
            let saved = 0x8000 + SAVED;
            if at == 0x1000 && into.len() == RETURN.len() {
                into.copy_from_slice(&RETURN);
            } else if (saved..saved + 17 * 8).contains(&at) && into.len() == 8 {
                into.copy_from_slice(&(100 + (at - saved) / 8).to_le_bytes());
            } else {
                return Err(Inaccessible(at));
            }
            Ok(())
        }
    }

    #[test]
    fn signal_frame_without_rules_yields_interrupted_registers() {
        let mut registers = Registers::unknown(7);
        registers.set(RIP, Some(0x1000));
        registers.set(RSP, Some(0x8000));
        let interrupted = signal_return(&registers, &Kernel).unwrap();
        // The kernel's order begins with r8 and ends with rsp, rip.
        assert_eq!((interrupted.get(Register(8)), interrupted.sp(), interrupted.pc()), (Some(100), 115, 116));
        assert_eq!((interrupted.get(Register(5)), interrupted.thread_base), (Some(108), 7));
        registers.set(RSP, Some(0x9000));
        assert_eq!(signal_return(&registers, &Kernel), None, "the stack cannot be read");
        registers.set(RIP, Some(0x2000));
        assert_eq!(signal_return(&registers, &Kernel), None, "it is other code");
    }
}
