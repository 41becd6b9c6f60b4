//! Conversion of field texts to parameter values.

use crate::name_table::key_of;
use crate::number;
use crate::record::{FieldType, Slot, guess_type};
use invigil_expr::value::{SHORT_STRING, Tag, Value};
use invigil_monitor::event::ParamType;

/// Why a field cannot be converted to the required type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConversionError {
    /// It has another type.
    Type,
    /// It is an integer that exceeds 64 bits.
    Integer,
    /// It is a number that exceeds the range of floats.
    Float,
}

/// The text of a field within its line: digits are read a word at a time, possibly beyond the end of the field.
#[derive(Clone, Copy)]
pub(crate) struct FieldText<'a> {
    pub(crate) within: &'a str,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> FieldText<'a> {
    pub(crate) fn text(self) -> &'a str {
        self.within.get(self.start..self.end).unwrap_or_default()
    }
}

/// Converts a field to a parameter of this type. Returns `None` if the value is the text itself.
pub(crate) fn value(
    slot: &Slot,
    raw: FieldText<'_>,
    ty: Option<ParamType>,
) -> Result<Option<Value>, ConversionError> {
    match (slot.is_convertible, slot.field_type, ty) {
        (true, _, Some(ParamType::Str)) => return Ok(None),
        (true, FieldType::Text, Some(ty)) => return value(&with_quotes_ignored(slot, raw), raw, Some(ty)),
        // Without a point it may be a hexadecimal identifier, such as 12e4.
        (true, FieldType::Float, None) if !raw.text().contains('.') => return Ok(None),
        _ => {}
    }
    match (slot.field_type, ty) {
        // Null has no type: if a type is required, the value counts as missing.
        (FieldType::Null, None) => Ok(Some(Value::NONE)),
        (FieldType::Text | FieldType::Nested, None | Some(ParamType::Str)) => Ok(None),
        (FieldType::Int, None | Some(ParamType::Int)) => Ok(Some(Value::int(slot.digits as i64))),
        (FieldType::BigInt, None | Some(ParamType::Int)) => Err(ConversionError::Integer),
        (FieldType::Decimal | FieldType::Float, Some(ParamType::Int)) => {
            float_to_int(float(slot, raw).map_err(|_| ConversionError::Integer)?).map(Some)
        }
        (FieldType::True, None | Some(ParamType::Bool)) => Ok(Some(Value::TRUE)),
        (FieldType::False, None | Some(ParamType::Bool)) => Ok(Some(Value::FALSE)),
        (_, None | Some(ParamType::Float)) => float(slot, raw).map(|f| Some(Value::float(f))),
        (_, Some(ParamType::Int | ParamType::Bool | ParamType::Str)) => Err(ConversionError::Type),
    }
}

/// Converts a numeric field to a float.
pub(crate) fn float(slot: &Slot, raw: FieldText<'_>) -> Result<f64, ConversionError> {
    match slot.field_type {
        FieldType::Int => Ok(slot.digits as i64 as f64),
        FieldType::Decimal => Ok(number::decimal(slot.digits as i64, slot.scale)),
        FieldType::BigInt | FieldType::Float => {
            raw.text().parse().ok().filter(|f: &f64| f.is_finite()).ok_or(ConversionError::Float)
        }
        FieldType::Text if slot.is_convertible => float(&with_quotes_ignored(slot, raw), raw),
        _ => Err(ConversionError::Type),
    }
}

/// The slot of a cell, with its type guessed again without the quotes: a quoted number is accepted where a number is
/// required.
fn with_quotes_ignored(slot: &Slot, raw: FieldText<'_>) -> Slot {
    let mut slot = *slot;
    (slot.field_type, slot.digits, slot.scale) = guess_type(raw.within.as_bytes(), (raw.start, raw.end));
    slot.is_convertible = false;
    slot
}

/// Whether an unquoted cell with this text would be read as something other than text.
pub(crate) fn needs_quotes(text: &str) -> bool {
    text.is_empty() || guess_type(text.as_bytes(), (0, text.len())).0 != FieldType::Text
}

/// Converts a float without fraction to an integer.
fn float_to_int(f: f64) -> Result<Value, ConversionError> {
    if f.trunc() != f {
        return Err(ConversionError::Type);
    }
    // 2^63 is representable as a float, but too large for an integer.
    let range = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    if range.contains(&f) { Ok(Value::int(f as i64)) } else { Err(ConversionError::Integer) }
}

/// Creates a text value: inline if it is short, otherwise a reference to `position` in the block's text.
#[inline(always)]
pub(crate) fn text(bytes: &[u8], start: usize, len: usize, position: u32) -> Value {
    if len > SHORT_STRING {
        return Value::text(position, len as u32);
    }
    // Equivalent to `Value::short`, but in two registers: bytes written one by one and read back as words would cause
    // store-forwarding stalls that take longer than the rest of the function.
    let bits = key_of(bytes, start, start + len) << 16 | (len as u128) << 8 | Tag::Short as u128;
    Value::from_bits((bits as u64, (bits >> 64) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_equals_value_short() {
        for len in 0..=SHORT_STRING {
            let word = &"abcdefghijklmn"[..len];
            for around in [format!("-{word}-----------------"), format!("-{word}")] {
                let value = text(around.as_bytes(), 1, len, 1);
                assert_eq!(Some(value.bits()), Value::short(word).map(Value::bits));
                assert_eq!(value.as_short(), Some(word));
            }
        }
        assert_eq!(text(b"fifteen letters", 0, 15, 7).as_text(), Some((7, 15)));
    }
}
