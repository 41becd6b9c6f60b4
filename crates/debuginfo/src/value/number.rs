//! C arithmetic: integers of a given width and signedness, which wrap,, and floating-point numbers.

use crate::value::expression::Binary;
use std::cmp::Ordering;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(Integer),
    /// A floating-point number.
    Float(f64),
}

/// An integer with a width and signedness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Sign- or zero-extended to 128 bits.
    bits: u128,
    /// The width in bits: 1 to 128.
    width: u8,
    signed: bool,
}

impl Integer {
    /// Creates an integer from the low `width` bits of `bits`.
    pub(crate) fn new(bits: u128, width: u8, signed: bool) -> Self {
        let unused = 128 - u32::from(width.clamp(1, 128));
        let bits =
            if signed { (((bits << unused) as i128) >> unused) as u128 } else { (bits << unused) >> unused };
        Self { bits, width: width.clamp(1, 128), signed }
    }

    /// The bits, sign-extended if the type is signed.
    pub fn bits(self) -> u128 {
        self.bits
    }

    /// The low 64 bits.
    pub fn low(self) -> u64 {
        self.bits as u64
    }

    /// The width in bits.
    pub fn width(self) -> u8 {
        self.width
    }

    /// Whether the type is signed.
    pub fn is_signed(self) -> bool {
        self.signed
    }

    fn to_float(self) -> f64 {
        if self.signed { self.bits as i128 as f64 } else { self.bits as f64 }
    }

    /// Integer promotion: narrower types become `int`.
    fn promoted(self) -> Self {
        if self.width < 32 { Self::new(self.bits, 32, true) } else { self }
    }
}

impl std::fmt::Display for Integer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.signed { (self.bits as i128).fmt(f) } else { self.bits.fmt(f) }
    }
}

impl Number {
    /// Whether the number is not zero.
    pub fn is_true(self) -> bool {
        match self {
            Number::Integer(value) => value.bits != 0,
            Number::Float(value) => value != 0.0,
        }
    }

    /// Converts to floating point.
    pub fn to_float(self) -> f64 {
        match self {
            Number::Integer(value) => value.to_float(),
            Number::Float(value) => value,
        }
    }

    /// Converts to the bits of an integer, truncating fractions.
    pub fn to_bits(self) -> u128 {
        match self {
            Number::Integer(value) => value.bits,
            Number::Float(value) if value < 0.0 => (value as i128) as u128,
            Number::Float(value) => value as u128,
        }
    }

    pub(crate) fn negated(self) -> Number {
        match self {
            Number::Integer(value) => {
                let value = value.promoted();
                Number::Integer(Integer::new(value.bits.wrapping_neg(), value.width, value.signed))
            }
            Number::Float(value) => Number::Float(-value),
        }
    }

    /// `+a`: integer promotion only.
    pub(crate) fn promoted(self) -> Number {
        match self {
            Number::Integer(value) => Number::Integer(value.promoted()),
            float => float,
        }
    }

    /// `~a`; `None` for floating-point numbers.
    pub(crate) fn complement(self) -> Option<Number> {
        match self {
            Number::Integer(value) => {
                let value = value.promoted();
                Some(Number::Integer(Integer::new(!value.bits, value.width, value.signed)))
            }
            Number::Float(_) => None,
        }
    }
}

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArithmeticError {
    DivisionByZero,
    /// The operator requires integers.
    NeedsIntegers,
}

/// Result of an operator: a number, or a truth value for comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OperationResult {
    Number(Number),
    Truth(bool),
}

/// Computes `left operator right`. Both operands are already evaluated; `&&` and `||` do not short-circuit here.
pub(crate) fn compute(
    operator: Binary,
    left: Number,
    right: Number,
) -> Result<OperationResult, ArithmeticError> {
    if let Some(result) = truth(operator, left, right) {
        return Ok(OperationResult::Truth(result));
    }
    let result = match (left, right) {
        (Number::Integer(a), Number::Integer(b)) => Number::Integer(integers(operator, a, b)?),
        _ => {
            let (a, b) = (left.to_float(), right.to_float());
            Number::Float(match operator {
                Binary::Plus => a + b,
                Binary::Minus => a - b,
                Binary::Times => a * b,
                Binary::Divide => a / b,
                _ => return Err(ArithmeticError::NeedsIntegers),
            })
        }
    };
    Ok(OperationResult::Number(result))
}

/// Converts two integers to their common type: the wider one; of two types of equal width, the unsigned one.
fn common(a: Integer, b: Integer) -> (Integer, Integer) {
    let (a, b) = (a.promoted(), b.promoted());
    let (width, signed) = match a.width.cmp(&b.width) {
        Ordering::Less => (b.width, b.signed),
        Ordering::Greater => (a.width, a.signed),
        Ordering::Equal => (a.width, a.signed && b.signed),
    };
    (Integer::new(a.bits, width, signed), Integer::new(b.bits, width, signed))
}

fn truth(operator: Binary, left: Number, right: Number) -> Option<bool> {
    let order = match (left, right) {
        (Number::Integer(a), Number::Integer(b)) => {
            let (a, b) = common(a, b);
            Some(if a.signed { (a.bits as i128).cmp(&(b.bits as i128)) } else { a.bits.cmp(&b.bits) })
        }
        _ => left.to_float().partial_cmp(&right.to_float()),
    };
    Some(match operator {
        Binary::Less => order == Some(Ordering::Less),
        Binary::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Binary::Greater => order == Some(Ordering::Greater),
        Binary::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Binary::Equal => order == Some(Ordering::Equal),
        Binary::Unequal => order != Some(Ordering::Equal),
        Binary::LogicalAnd => left.is_true() && right.is_true(),
        Binary::LogicalOr => left.is_true() || right.is_true(),
        _ => return None,
    })
}

fn integers(operator: Binary, a: Integer, b: Integer) -> Result<Integer, ArithmeticError> {
    if matches!(operator, Binary::ShiftLeft | Binary::ShiftRight) {
        // The result has the type of the left operand; the processor takes the count modulo the width.
        let a = a.promoted();
        let count = (b.bits % u128::from(a.width)) as u32;
        let bits = match operator {
            Binary::ShiftLeft => a.bits << count,
            _ if a.signed => ((a.bits as i128) >> count) as u128,
            _ => a.bits >> count,
        };
        return Ok(Integer::new(bits, a.width, a.signed));
    }
    let (a, b) = common(a, b);
    if matches!(operator, Binary::Divide | Binary::Modulo) && b.bits == 0 {
        return Err(ArithmeticError::DivisionByZero);
    }
    let (x, y) = (a.bits as i128, b.bits as i128);
    let bits = match operator {
        Binary::Plus => a.bits.wrapping_add(b.bits),
        Binary::Minus => a.bits.wrapping_sub(b.bits),
        Binary::Times => a.bits.wrapping_mul(b.bits),
        Binary::Divide if a.signed => x.wrapping_div(y) as u128,
        Binary::Divide => a.bits / b.bits,
        Binary::Modulo if a.signed => x.wrapping_rem(y) as u128,
        Binary::Modulo => a.bits % b.bits,
        Binary::And => a.bits & b.bits,
        Binary::Or => a.bits | b.bits,
        Binary::Xor => a.bits ^ b.bits,
        _ => return Err(ArithmeticError::NeedsIntegers),
    };
    Ok(Integer::new(bits, a.width, a.signed))
}

/// Converts a ten-byte x87 number to the nearest `f64`.
pub(crate) fn from_extended(bytes: [u8; 10]) -> f64 {
    let mantissa =
        u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]);
    let head = u16::from_le_bytes([bytes[8], bytes[9]]);
    let sign = if head & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(head & 0x7fff);
    match exponent {
        0x7fff if mantissa << 1 == 0 => sign * f64::INFINITY,
        0x7fff => f64::NAN,
        _ => {
            // In two steps, because the power alone may underflow although the product does not.
            let power = exponent - 16383 - 63;
            let half = power / 2;
            sign * (mantissa as f64) * 2f64.powi(half) * 2f64.powi(power - half)
        }
    }
}

/// Converts a number to the ten-byte x87 format.
pub(crate) fn to_extended(value: f64) -> [u8; 10] {
    let bits = value.to_bits();
    let sign = ((bits >> 48) & 0x8000) as u16;
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (head, mantissa) = match exponent {
        0 if fraction == 0 => (0, 0),
        0 => {
            let shift = fraction.leading_zeros();
            ((16383 - 1022 + 11 - shift as i32) as u16, fraction << shift)
        }
        0x7ff => (0x7fff, 1 << 63 | fraction << 11),
        _ => ((exponent - 1023 + 16383) as u16, 1 << 63 | fraction << 11),
    };
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&u64::to_le_bytes(mantissa));
    bytes[8..].copy_from_slice(&(sign | head).to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i32) -> Integer {
        Integer::new(value as u128, 32, true)
    }

    #[test]
    fn x87_conversion_round_trips() {
        for value in [0.0, 1.0, -2.5, 1e300, 3.0e-310, f64::INFINITY, 0.1] {
            assert_eq!(from_extended(to_extended(value)), value);
        }
        assert!(from_extended(to_extended(f64::NAN)).is_nan());
    }

    #[test]
    fn integer_arithmetic_wraps_as_in_c() {
        let max = Number::Integer(int(i32::MAX));
        let one = Number::Integer(int(1));
        let Ok(OperationResult::Number(Number::Integer(sum))) = compute(Binary::Plus, max, one) else {
            panic!()
        };
        assert_eq!((sum.to_string(), sum.width()), ("-2147483648".into(), 32));
        let unsigned = Number::Integer(Integer::new(0, 32, false));
        assert_eq!(
            compute(Binary::Greater, Number::Integer(int(-1)), unsigned),
            Ok(OperationResult::Truth(true))
        );
        assert_eq!(compute(Binary::Divide, one, unsigned), Err(ArithmeticError::DivisionByZero));
    }
}
