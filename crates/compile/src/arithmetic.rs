//! Code for arithmetic operators.

use crate::function_emitter::{FunctionEmitter, Number};
use crate::ranges::{self, Range};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use invigil_model::Binary;

/// Whether the result of the operator can be any number, not only 0 and 1.
pub(crate) fn is_arithmetic(operator: Binary) -> bool {
    !matches!(operator, Binary::And | Binary::Or | Binary::Implies) && comparison(operator).is_none()
}

/// The condition code of a comparison operator; none for other operators.
pub(crate) fn comparison(operator: Binary) -> Option<IntCC> {
    Some(match operator {
        Binary::Equal => IntCC::Equal,
        Binary::NotEqual => IntCC::NotEqual,
        Binary::Less => IntCC::SignedLessThan,
        Binary::LessOrEqual => IntCC::SignedLessThanOrEqual,
        Binary::Greater => IntCC::SignedGreaterThan,
        Binary::GreaterOrEqual => IntCC::SignedGreaterThanOrEqual,
        _ => return None,
    })
}

impl FunctionEmitter<'_, '_> {
    /// Emits an arithmetic operation.
    pub(crate) fn emit_arithmetic(&mut self, operator: Binary, left: Number, right: Number) -> Number {
        let (a, b) = (left.value, right.value);
        let value = match operator {
            Binary::Add => self.builder.ins().iadd(a, b),
            Binary::Subtract => self.builder.ins().isub(a, b),
            Binary::Multiply => self.builder.ins().imul(a, b),
            Binary::BitAnd => self.builder.ins().band(a, b),
            Binary::BitOr => self.builder.ins().bor(a, b),
            Binary::BitXor => self.builder.ins().bxor(a, b),
            Binary::ShiftLeft | Binary::ShiftRight => {
                if ranges::can_fault(operator, right.range) {
                    let is_in_range = self.compare(IntCC::UnsignedLessThan, b, 64);
                    self.check(is_in_range);
                }
                match operator {
                    Binary::ShiftLeft => self.builder.ins().ishl(a, b),
                    _ => self.builder.ins().sshr(a, b),
                }
            }
            _ => self.emit_division(operator == Binary::Remainder, left, right),
        };
        let range = ranges::binary(operator, left.range, right.range);
        Number {
            value,
            range,
            is_range_unconditional: left.is_range_unconditional && right.is_range_unconditional,
        }
    }

    /// Emits a quotient or remainder. The operands on which the processor traps are excluded even if the words of the
    /// configuration are arbitrary.
    fn emit_division(&mut self, is_remainder: bool, left: Number, right: Number) -> Value {
        let (a, b) = (left.value, right.value);
        if right.range.contains(0) || !right.is_range_unconditional {
            let is_nonzero = self.compare(IntCC::NotEqual, b, 0);
            self.check(is_nonzero);
        }
        let (a_range, b_range) = (left.range, right.range);
        if let Some(divisor) =
            b_range.constant().filter(|divisor| is_remainder && *divisor > 0 && a_range.low >= 0)
        {
            if a_range.high < divisor {
                return a;
            }
            if a_range.high - divisor < divisor {
                // A single subtraction suffices, as in `(x + 1) % n`.
                let difference = self.builder.ins().isub(a, b);
                let is_less = self.builder.ins().icmp(IntCC::SignedLessThan, a, b);
                return self.builder.ins().select(is_less, a, difference);
            }
        }
        let unsigned_32 = Range::of(0, i64::from(u32::MAX));
        let is_range_unconditional = left.is_range_unconditional && right.is_range_unconditional;
        if is_range_unconditional
            && a_range.is_within(unsigned_32)
            && b_range.is_within(Range::of(1, i64::from(u32::MAX)))
        {
            let (a, b) = (self.builder.ins().ireduce(I32, a), self.builder.ins().ireduce(I32, b));
            let result =
                if is_remainder { self.builder.ins().urem(a, b) } else { self.builder.ins().udiv(a, b) };
            return self.builder.ins().uextend(I64, result);
        }
        if is_range_unconditional && !b_range.contains(-1) {
            return if is_remainder { self.builder.ins().srem(a, b) } else { self.builder.ins().sdiv(a, b) };
        }
        // Division by -1 is a negation, because the quotient of the smallest number overflows.
        let is_minus_one = self.compare(IntCC::Equal, b, -1);
        let one = self.constant(1);
        let divisor = self.builder.ins().select(is_minus_one, one, b);
        if is_remainder {
            return self.builder.ins().srem(a, divisor);
        }
        let (quotient, negated) = (self.builder.ins().sdiv(a, divisor), self.builder.ins().ineg(a));
        self.builder.ins().select(is_minus_one, negated, quotient)
    }
}
