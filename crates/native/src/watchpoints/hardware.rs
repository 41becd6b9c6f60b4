//! The processor's debug registers: four ranges of up to eight bytes, at no cost until they are accessed. The thread
//! stops after the instruction that accessed them.

use crate::sys::{self, Tid};
use std::io;

/// Number of debug registers.
pub(crate) const REGISTERS: usize = 4;

/// What one debug register watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DebugRegister {
    pub(crate) address: u64,
    /// 1, 2, 4 or 8.
    pub(crate) length: u64,
    /// Whether reads count too. The processor cannot watch reads alone.
    pub(crate) reads: bool,
}

/// Splits a range into pieces that a debug register can watch.
pub(crate) fn aligned_pieces(address: u64, length: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = address.saturating_add(length);
    let mut at = address;
    std::iter::from_fn(move || {
        let size = [8, 4, 2, 1].into_iter().find(|size| at.is_multiple_of(*size) && at + size <= end)?;
        at += size;
        Some((at - size, size))
    })
}

/// Sets the debug registers of a thread.
pub(crate) fn arm(tid: Tid, all: &[Option<DebugRegister>; REGISTERS]) -> io::Result<()> {
    // Disable them first: the kernel rejects addresses that do not fit the current lengths.
    sys::set_debug_register(tid, 7, 0)?;
    for (number, register) in all.iter().enumerate() {
        if let Some(register) = register {
            sys::set_debug_register(tid, number, register.address)?;
        }
    }
    sys::set_debug_register(tid, 7, control(all))
}

/// Value of the control register.
fn control(all: &[Option<DebugRegister>; REGISTERS]) -> u64 {
    let bits = all.iter().enumerate().map(|(number, register)| match register {
        Some(register) => {
            let length = match register.length {
                1 => 0b00,
                2 => 0b01,
                4 => 0b11,
                _ => 0b10,
            };
            let kind = if register.reads { 0b11 } else { 0b01 };
            1 << (2 * number) | (length << 2 | kind) << (16 + 4 * number)
        }
        None => 0,
    });
    bits.fold(0, |all, bits| all | bits)
}

/// The registers that matched when the thread stopped. The status is cleared.
pub(crate) fn matched(tid: Tid) -> io::Result<[bool; REGISTERS]> {
    let status = sys::debug_register(tid, 6)?;
    if status & 0xf != 0 {
        sys::set_debug_register(tid, 6, 0)?;
    }
    Ok([0, 1, 2, 3].map(|number| status & 1 << number != 0))
}

/// Whether a register has matched in a stopped thread, and was not reported yet.
pub(crate) fn has_matched(tid: Tid, number: usize) -> bool {
    sys::debug_register(tid, 6).is_ok_and(|status| status & 1 << number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_split_into_aligned_pieces() {
        assert_eq!(aligned_pieces(0x1000, 8).collect::<Vec<_>>(), [(0x1000, 8)]);
        assert_eq!(aligned_pieces(0x1003, 6).collect::<Vec<_>>(), [(0x1003, 1), (0x1004, 4), (0x1008, 1)]);
        assert_eq!(aligned_pieces(0x1000, 0).count(), 0);
    }

    #[test]
    fn control_register_encodes_length_and_access() {
        let register = |length, reads| Some(DebugRegister { address: 0, length, reads });
        assert_eq!(control(&[register(8, false), None, None, None]), 0x9_0001);
        assert_eq!(control(&[None, register(4, true), None, None]), 0xf0_0004);
    }
}
