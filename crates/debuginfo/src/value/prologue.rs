//! Analysis of prologues: which arguments have already been stored in their stack slots.
//!
//! In the middle of a prologue, the registers in which arguments were passed may have been overwritten.

use crate::image::Reader;
use crate::machine::{RBP, RSP};
use crate::value::info::DieRef;
use crate::value::scope::Scope;
use gimli::{AttributeValue, Expression, Operation, Register};

/// Maximum length of a prologue that is analysed.
const MAX_PROLOGUE_LEN: u64 = 512;
/// Offset from the frame pointer to the canonical frame address: two words were pushed.
const CFA_FROM_FRAME_POINTER: i64 = 16;

impl Scope<'_> {
    /// Whether the prologue has already stored an argument in its stack slot, according to the code before the frame's
    /// address.
    pub(crate) fn is_slot_filled(&self, near: DieRef, rule: Expression<Reader>, size: u64) -> bool {
        // Arguments of two words are stored by two instructions; the second one counts.
        let last_word = if (9..=16).contains(&size) { 8 } else { 0 };
        self.find_store(near, rule, last_word).unwrap_or(false)
    }

    fn find_store(&self, near: DieRef, rule: Expression<Reader>, last_word: i64) -> Option<bool> {
        let encoding = self.info.encoding(near)?;
        let Ok(Some(Operation::FrameOffset { offset })) = rule.operations(encoding).next() else {
            return None;
        };
        let (register, by) = self.slot_base()?;
        let distance = i32::try_from(offset.checked_add(by)?.checked_add(last_word)?).ok()?;
        let start = self.prologue()?.start;
        let length = self.pc().checked_sub(start).filter(|length| *length <= MAX_PROLOGUE_LEN)?;
        let mut code = vec![0; length as usize];
        self.memory.read(start, &mut code).ok()?;
        Some((1..code.len()).any(|at| is_store(&code, at, register, distance)))
    }

    /// The base register of the stack slots, and the offset of the frame base from it.
    fn slot_base(&self) -> Option<(Register, i64)> {
        let function = self.function()?;
        let entry = self.info.entry(function)?;
        let AttributeValue::Exprloc(rule) = entry.attribute(gimli::DW_AT_frame_base)? else { return None };
        match rule.operations(self.info.encoding(function)?).next() {
            Ok(Some(Operation::CallFrameCFA)) => Some((RBP, CFA_FROM_FRAME_POINTER)),
            Ok(Some(Operation::Register { register })) => Some((register, 0)),
            _ => None,
        }
    }
}

/// Whether the bytes at a position are the operand of a store at `distance` from a register.
fn is_store(code: &[u8], at: usize, register: Register, distance: i32) -> bool {
    // mov, movss/movsd/movups, movaps, movq/movd to memory
    let opcode = code.get(at.wrapping_sub(1)).copied();
    if !matches!(opcode, Some(0x88 | 0x89 | 0x11 | 0x29 | 0x7e | 0xd6 | 0x7f)) {
        return false;
    }
    let Some((mode, rest)) = code.get(at..).and_then(<[u8]>::split_first) else { return false };
    let rest = match register {
        RBP if mode & 7 == 5 => rest,
        RSP if mode & 7 == 4 && rest.first() == Some(&0x24) => rest.get(1..).unwrap_or_default(),
        _ => return false,
    };
    match mode >> 6 {
        0 if register == RSP => distance == 0,
        1 => rest.first().is_some_and(|byte| i32::from(*byte as i8) == distance),
        2 => rest.first_chunk().is_some_and(|bytes| i32::from_le_bytes(*bytes) == distance),
        _ => false,
    }
}
