//! Opcodes and instruction lengths.

use crate::bytes::u4;
use crate::descriptor::Shape;

pub(crate) const ACONST_NULL: u8 = 0x01;
pub(crate) const ICONST_0: u8 = 0x03;
pub(crate) const BIPUSH: u8 = 0x10;
pub(crate) const SIPUSH: u8 = 0x11;
pub(crate) const LDC_W: u8 = 0x13;
pub(crate) const ILOAD: u8 = 0x15;
pub(crate) const ILOAD_0: u8 = 0x1a;
pub(crate) const ISTORE: u8 = 0x36;
pub(crate) const ISTORE_0: u8 = 0x3b;
pub(crate) const POP: u8 = 0x57;
pub(crate) const POP2: u8 = 0x58;
pub(crate) const DUP: u8 = 0x59;
pub(crate) const DUP_X1: u8 = 0x5a;
pub(crate) const DUP_X2: u8 = 0x5b;
pub(crate) const DUP2: u8 = 0x5c;
pub(crate) const DUP2_X1: u8 = 0x5d;
pub(crate) const IINC: u8 = 0x84;
pub(crate) const I2L: u8 = 0x85;
pub(crate) const F2D: u8 = 0x8d;
pub(crate) const IFEQ: u8 = 0x99;
pub(crate) const GOTO: u8 = 0xa7;
pub(crate) const JSR: u8 = 0xa8;
pub(crate) const RET: u8 = 0xa9;
pub(crate) const TABLESWITCH: u8 = 0xaa;
pub(crate) const LOOKUPSWITCH: u8 = 0xab;
pub(crate) const IRETURN: u8 = 0xac;
pub(crate) const RETURN: u8 = 0xb1;
pub(crate) const GETSTATIC: u8 = 0xb2;
pub(crate) const PUTSTATIC: u8 = 0xb3;
pub(crate) const PUTFIELD: u8 = 0xb5;
pub(crate) const INVOKEVIRTUAL: u8 = 0xb6;
pub(crate) const INVOKESPECIAL: u8 = 0xb7;
pub(crate) const INVOKESTATIC: u8 = 0xb8;
pub(crate) const INVOKEINTERFACE: u8 = 0xb9;
pub(crate) const NEW: u8 = 0xbb;
pub(crate) const ATHROW: u8 = 0xbf;
pub(crate) const MONITORENTER: u8 = 0xc2;
pub(crate) const MONITOREXIT: u8 = 0xc3;
pub(crate) const WIDE: u8 = 0xc4;
pub(crate) const IFNULL: u8 = 0xc6;
pub(crate) const IFNONNULL: u8 = 0xc7;
pub(crate) const GOTO_W: u8 = 0xc8;
pub(crate) const JSR_W: u8 = 0xc9;

/// Number of padding bytes between a switch at `pc` and its operands.
pub(crate) fn padding(pc: usize) -> usize {
    3 - pc % 4
}

/// The length of the instruction at `pc`. `None` if it is unknown or exceeds the code.
pub(crate) fn length(code: &[u8], pc: usize) -> Option<usize> {
    let length = match *code.get(pc)? {
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | RET | 0xbc => 2,
        0x11
        | 0x13
        | 0x14
        | IINC
        | IFEQ..=JSR
        | 0xb2..=0xb8
        | NEW
        | 0xbd
        | 0xc0
        | 0xc1
        | IFNULL
        | IFNONNULL => 3,
        0xc5 => 4,
        INVOKEINTERFACE | 0xba | GOTO_W | JSR_W => 5,
        WIDE => match *code.get(pc + 1)? {
            IINC => 6,
            0x15..=0x19 | 0x36..=0x3a | RET => 4,
            _ => return None,
        },
        op @ (TABLESWITCH | LOOKUPSWITCH) => {
            let operands = pc + 1 + padding(pc);
            if operands + 12 > code.len() && (op == TABLESWITCH || operands + 8 > code.len()) {
                return None;
            }
            let fixed = operands - pc;
            if op == TABLESWITCH {
                let (low, high) =
                    (u4(code, operands + 4).cast_signed(), u4(code, operands + 8).cast_signed());
                let entries = i64::from(high) - i64::from(low) + 1;
                // More entries than bytes of code: the length is certainly too large.
                fixed + 12 + 4 * usize::try_from(entries).ok().filter(|&n| n > 0 && n < 0x1_0000)?
            } else {
                fixed + 8 + 8 * usize::try_from(u4(code, operands + 4)).ok().filter(|&n| n < 0x1_0000)?
            }
        }
        0xca..=0xff => return None,
        _ => 1,
    };
    (pc + length <= code.len()).then_some(length)
}

/// The shape of loads and stores by their index among the five variants.
fn shape(rank: u8) -> Shape {
    [Shape::Int, Shape::Long, Shape::Float, Shape::Double, Shape::Reference][usize::from(rank.min(4))]
}

/// The variable that the instruction at `pc` writes, and its shape.
pub(crate) fn written_variable(code: &[u8], pc: usize) -> Option<(Shape, u16)> {
    let byte = |at: usize| code.get(at).copied().unwrap_or(0);
    let op = byte(pc);
    match op {
        0x36..=0x3a => Some((shape(op - ISTORE), byte(pc + 1).into())),
        ISTORE_0..=0x4e => Some((shape((op - ISTORE_0) / 4), ((op - ISTORE_0) % 4).into())),
        IINC => Some((Shape::Int, byte(pc + 1).into())),
        WIDE => {
            let slot = u16::from_be_bytes([byte(pc + 2), byte(pc + 3)]);
            match byte(pc + 1) {
                op @ 0x36..=0x3a => Some((shape(op - ISTORE), slot)),
                IINC => Some((Shape::Int, slot)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether an instruction is a conditional branch.
pub(crate) fn is_conditional(op: u8) -> bool {
    matches!(op, IFEQ..=0xa6 | IFNULL | IFNONNULL)
}

/// Whether an instruction has a 16-bit or 32-bit offset to another one.
pub(crate) fn is_branch(op: u8) -> bool {
    matches!(op, IFEQ..=JSR | IFNULL..=JSR_W)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        assert_eq!(length(&[0x2a], 0), Some(1));
        assert_eq!(length(&[0xc4, 0x84, 0, 1, 0, 1], 0), Some(6));
        assert_eq!(length(&[0xc4, 0x00, 0, 1], 0), None);
        assert_eq!(length(&[0xb8, 0], 0), None);
        assert_eq!(length(&[], 0), None);
        // A switch at 1: two zeros, then default, low, high, two entries.
        let mut code = vec![0, 0xaa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6];
        code.extend([0; 8]);
        assert_eq!(length(&code, 1), Some(23));
        code[15] = 0xff;
        assert_eq!(length(&code, 1), None);
        assert_eq!(length(&[0xab, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0), Some(12));
    }

    #[test]
    fn stores() {
        assert_eq!(written_variable(&[0x3b], 0), Some((Shape::Int, 0)));
        assert_eq!(written_variable(&[0x4e], 0), Some((Shape::Reference, 3)));
        assert_eq!(written_variable(&[0x37, 9], 0), Some((Shape::Long, 9)));
        assert_eq!(written_variable(&[0xc4, 0x39, 1, 0], 0), Some((Shape::Double, 256)));
        assert_eq!(written_variable(&[0x84, 7, 1], 0), Some((Shape::Int, 7)));
        assert_eq!(written_variable(&[0x1a], 0), None);
    }
}
