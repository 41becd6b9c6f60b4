//! Watching memory with the processor's debug registers: four at a time, of up to eight bytes each, at no cost
//! until they are touched. The thread stops just behind the instruction that did.

use crate::sys::{self, Tid};
use std::io;

/// How many there are.
pub(crate) const REGISTERS: usize = 4;

/// What one debug register watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Armed {
    pub(crate) address: u64,
    /// 1, 2, 4 or 8.
    pub(crate) length: u64,
    /// Whether reading counts, too. There is no way to watch for reading alone.
    pub(crate) reads: bool,
}

/// Splits a stretch of memory into pieces that a debug register can watch.
pub(crate) fn pieces(address: u64, length: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = address.saturating_add(length);
    let mut at = address;
    std::iter::from_fn(move || {
        let size = [8, 4, 2, 1].into_iter().find(|size| at.is_multiple_of(*size) && at + size <= end)?;
        at += size;
        Some((at - size, size))
    })
}

/// Sets the debug registers of a thread.
pub(crate) fn arm(tid: Tid, all: &[Option<Armed>; REGISTERS]) -> io::Result<()> {
    // Turned off first: the kernel refuses addresses that do not fit the lengths in force.
    sys::set_debug_register(tid, 7, 0)?;
    for (number, armed) in all.iter().enumerate() {
        if let Some(armed) = armed {
            sys::set_debug_register(tid, number, armed.address)?;
        }
    }
    sys::set_debug_register(tid, 7, control(all))
}

/// The value of the control register.
fn control(all: &[Option<Armed>; REGISTERS]) -> u64 {
    let bits = all.iter().enumerate().map(|(number, armed)| match armed {
        Some(armed) => {
            let length = match armed.length {
                1 => 0b00,
                2 => 0b01,
                4 => 0b11,
                _ => 0b10,
            };
            let kind = if armed.reads { 0b11 } else { 0b01 };
            1 << (2 * number) | (length << 2 | kind) << (16 + 4 * number)
        }
        None => 0,
    });
    bits.fold(0, |all, bits| all | bits)
}

/// Which registers matched when the thread stopped. What it tells is told once.
pub(crate) fn matched(tid: Tid) -> io::Result<[bool; REGISTERS]> {
    let status = sys::debug_register(tid, 6)?;
    if status & 0xf != 0 {
        sys::set_debug_register(tid, 6, 0)?;
    }
    Ok([0, 1, 2, 3].map(|number| status & 1 << number != 0))
}

/// Whether a register has matched in a thread that stands still, and nobody was told yet.
pub(crate) fn has_matched(tid: Tid, number: usize) -> bool {
    sys::debug_register(tid, 6).is_ok_and(|status| status & 1 << number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_cut_into_aligned_pieces() {
        assert_eq!(pieces(0x1000, 8).collect::<Vec<_>>(), [(0x1000, 8)]);
        assert_eq!(pieces(0x1003, 6).collect::<Vec<_>>(), [(0x1003, 1), (0x1004, 4), (0x1008, 1)]);
        assert_eq!(pieces(0x1000, 0).count(), 0);
    }

    #[test]
    fn the_control_register() {
        let armed = |length, reads| Some(Armed { address: 0, length, reads });
        assert_eq!(control(&[armed(8, false), None, None, None]), 0x9_0001);
        assert_eq!(control(&[None, armed(4, true), None, None]), 0xf0_0004);
    }
}
