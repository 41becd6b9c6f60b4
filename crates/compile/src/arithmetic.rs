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

/// The comparison of the processor for an operator.
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
    /// Code for an arithmetic operator.
    pub(crate) fn arithmetic(&mut self, operator: Binary, left: Number, right: Number) -> Number {
        let (a, b) = (left.value, right.value);
        let value = match operator {
            Binary::Add => self.to.ins().iadd(a, b),
            Binary::Subtract => self.to.ins().isub(a, b),
            Binary::Multiply => self.to.ins().imul(a, b),
            Binary::BitAnd => self.to.ins().band(a, b),
            Binary::BitOr => self.to.ins().bor(a, b),
            Binary::BitXor => self.to.ins().bxor(a, b),
            Binary::ShiftLeft | Binary::ShiftRight => {
                if ranges::can_fault(operator, right.range) {
                    let is_right = self.compare(IntCC::UnsignedLessThan, b, 64);
                    self.check(is_right);
                }
                match operator {
                    Binary::ShiftLeft => self.to.ins().ishl(a, b),
                    _ => self.to.ins().sshr(a, b),
                }
            }
            _ => self.division(operator == Binary::Remainder, left, right),
        };
        let range = ranges::binary(operator, left.range, right.range);
        Number { value, range, is_certain: left.is_certain && right.is_certain }
    }

    /// Code for a quotient or remainder. The operands on which the processor traps must be excluded for arbitrary
    /// words.
    fn division(&mut self, is_remainder: bool, left: Number, right: Number) -> Value {
        let (a, b) = (left.value, right.value);
        if right.range.holds(0) || !right.is_certain {
            let is_right = self.compare(IntCC::NotEqual, b, 0);
            self.check(is_right);
        }
        let (a_range, b_range) = (left.range, right.range);
        if let Some(by) = b_range.constant().filter(|by| is_remainder && *by > 0 && a_range.low >= 0) {
            if a_range.high < by {
                return a;
            }
            if a_range.high - by < by {
                // A single subtraction suffices, as in `(x + 1) % n`.
                let less = self.to.ins().isub(a, b);
                let is_less = self.to.ins().icmp(IntCC::SignedLessThan, a, b);
                return self.to.ins().select(is_less, a, less);
            }
        }
        let short = Range::of(0, i64::from(u32::MAX));
        let is_certain = left.is_certain && right.is_certain;
        if is_certain && a_range.is_within(short) && b_range.is_within(Range::of(1, i64::from(u32::MAX))) {
            let (a, b) = (self.to.ins().ireduce(I32, a), self.to.ins().ireduce(I32, b));
            let short = if is_remainder { self.to.ins().urem(a, b) } else { self.to.ins().udiv(a, b) };
            return self.to.ins().uextend(I64, short);
        }
        if is_certain && !b_range.holds(-1) {
            return if is_remainder { self.to.ins().srem(a, b) } else { self.to.ins().sdiv(a, b) };
        }
        // Division by -1 is a negation, because the quotient of the smallest number overflows.
        let is_minus_one = self.compare(IntCC::Equal, b, -1);
        let one = self.constant(1);
        let by = self.to.ins().select(is_minus_one, one, b);
        if is_remainder {
            return self.to.ins().srem(a, by);
        }
        let (quotient, negated) = (self.to.ins().sdiv(a, by), self.to.ins().ineg(a));
        self.to.ins().select(is_minus_one, negated, quotient)
    }
}
