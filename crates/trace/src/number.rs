//! Scanning and conversion of numbers, eight digits at a time.

use crate::name_table::eight_bytes;

/// A number in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    /// Its end.
    pub(crate) end: usize,
    pub(crate) form: NumberForm,
}

/// The form of a number, determined without an expensive conversion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NumberForm {
    /// An integer that fits into 64 bits.
    Int(i64),
    /// An integer that exceeds 64 bits.
    BigInt,
    /// `digits / 10^scale`, both small enough that the division is correctly rounded.
    Decimal { digits: i64, scale: u8 },
    /// Any other number with a fraction or an exponent.
    Float,
}

/// The powers of ten that `f64` represents exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The largest magnitude up to which every integer is exactly representable as `f64`.
const EXACT: u64 = 1 << 53;

/// The value of [`NumberForm::Decimal`].
#[inline]
pub(crate) fn decimal(digits: i64, scale: u8) -> f64 {
    digits as f64 / POWERS[usize::from(scale).min(POWERS.len() - 1)]
}

/// Scans the JSON number at `at`, if there is one. The caller checks what follows.
#[inline(always)]
pub(crate) fn scan(text: &[u8], at: usize) -> Option<Number> {
    let negative = text.get(at) == Some(&b'-');
    let start = at + usize::from(negative);
    let (value, count) = digits(text, start);
    if count == 0 || (count > 1 && text[start] == b'0') {
        return None;
    }
    let end = start + count;
    match text.get(end) {
        Some(b'.' | b'e' | b'E') => fraction(text, start, negative, value, count),
        _ => Some(Number { end, form: integer(negative, value, count) }),
    }
}

/// The form of an integer with `count` digits and no leading zeros. `value` is its value unless it overflowed.
#[inline(always)]
pub(crate) fn integer(negative: bool, value: u64, count: usize) -> NumberForm {
    // Any nineteen digits fit into a u64.
    if count > 19 || value > i64::MAX as u64 + u64::from(negative) {
        NumberForm::BigInt
    } else if negative {
        NumberForm::Int((value as i64).wrapping_neg())
    } else {
        NumberForm::Int(value as i64)
    }
}

/// Scans the rest of a number whose integral part of `count` digits is followed by a point or an exponent.
#[inline(never)]
fn fraction(text: &[u8], start: usize, negative: bool, whole: u64, count: usize) -> Option<Number> {
    let mut end = start + count;
    let (mut value, mut scale) = (whole, 0);
    let mut exact = count <= 18;
    if text.get(end) == Some(&b'.') {
        let (part, digits) = digits(text, end + 1);
        if digits == 0 {
            return None;
        }
        end += 1 + digits;
        scale = digits;
        exact = count + digits <= 18;
        if exact {
            value = whole * POWERS_OF_TEN[digits] + part;
        }
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let (_, digits) = digits(text, end + 1 + sign);
        if digits == 0 {
            return None;
        }
        return Some(Number { end: end + 1 + sign + digits, form: NumberForm::Float });
    }
    // Negative zero is not the negation of an integer.
    exact &= value <= EXACT && !(negative && value == 0);
    let signed = if negative { -(value as i64) } else { value as i64 };
    let form =
        if exact { NumberForm::Decimal { digits: signed, scale: scale as u8 } } else { NumberForm::Float };
    Some(Number { end, form })
}

const POWERS_OF_TEN: [u64; 19] = {
    let mut powers = [1; 19];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// Scans the decimal digits at `at`. Returns their value modulo 2^64 and their number.
#[inline(always)]
pub(crate) fn digits(text: &[u8], at: usize) -> (u64, usize) {
    let (mut value, mut count) = (0u64, 0);
    loop {
        let word = eight_bytes(text, at + count) ^ 0x3030_3030_3030_3030;
        // A byte above nine sets its high half. Its carry affects only later bytes, and only the first one matters.
        let other = (word.wrapping_add(0x0606_0606_0606_0606) | word) & 0xF0F0_F0F0_F0F0_F0F0;
        if other == 0 {
            value = value.wrapping_mul(POWERS_OF_TEN[8]).wrapping_add(eight_digits(word));
            count += 8;
            continue;
        }
        let run = (other.trailing_zeros() / 8) as usize;
        if run > 0 {
            // Shift the digits to the high end; leading zeros do not change the value.
            let part = eight_digits(word << (64 - 8 * run));
            value = value.wrapping_mul(POWERS_OF_TEN[run]).wrapping_add(part);
        }
        return (value, count + run);
    }
}

/// Value of eight digits, one per byte with the first in the lowest: combines pairs, then fours, then all.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    let pairs = word.wrapping_mul(10 * 256 + 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 * 65_536 + 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000 * 4_294_967_296 + 1) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The value of a number as the crate computes it.
    fn value(text: &str) -> Option<f64> {
        let number = scan(text.as_bytes(), 0)?;
        (number.end == text.len()).then(|| match number.form {
            NumberForm::Int(i) => i as f64,
            NumberForm::Decimal { digits, scale } => decimal(digits, scale),
            NumberForm::BigInt | NumberForm::Float => text.parse().unwrap(),
        })
    }

    #[test]
    fn integers_at_the_limits_of_64_bits_are_classified() {
        let form = |text: &str| scan(text.as_bytes(), 0).map(|n| n.form);
        assert_eq!(form("9223372036854775807"), Some(NumberForm::Int(i64::MAX)));
        assert_eq!(form("-9223372036854775808"), Some(NumberForm::Int(i64::MIN)));
        for big in ["9223372036854775808", "-9223372036854775809", "18446744073709551616"] {
            assert_eq!(form(big), Some(NumberForm::BigInt), "{big}");
        }
        assert_eq!(form("-0"), Some(NumberForm::Int(0)));
        assert_eq!(form("0"), Some(NumberForm::Int(0)));
        for not in ["", "-", "01", "-01", "1.", ".5", "1e", "1e+", "+1", "1.e3", "x"] {
            assert_eq!(value(not), None, "{not}");
        }
        assert!(value("-0.0").is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    }

    proptest! {
        #[test]
        fn integers_agree_with_the_standard_library(n in any::<i64>(), cut in 0u32..64) {
            let n = n >> cut;
            let form = scan(n.to_string().as_bytes(), 0).map(|n| n.form);
            prop_assert_eq!(form, Some(NumberForm::Int(n)));
        }

        #[test]
        fn fractions_agree_with_the_standard_library(
            text in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?",
        ) {
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(value(&text), Some(expected));
        }

        #[test]
        fn scan_accepts_what_serde_json_accepts(text in "[-+.eE0-9]{0,8}") {
            let ours = scan(text.as_bytes(), 0).is_some_and(|n| n.end == text.len());
            prop_assert_eq!(ours, serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok());
        }
    }
}
