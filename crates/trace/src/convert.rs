//! From the text of a field to the value of a parameter.

use crate::number;
use crate::record::{Shape, Slot, looks};
use crate::words::beginning;
use invigil_expr::value::{SHORT_STRING, Tag, Value};
use invigil_monitor::event::Type;

/// Why a field does not give the value that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It is of another type.
    Type,
    /// It is an integer of more than 64 bits.
    Integer,
    /// It is a number beyond all floats.
    Float,
}

/// The text of a field, with what is around it: digits are read a word at a time, beyond their end.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a> {
    pub(crate) within: &'a str,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> Raw<'a> {
    pub(crate) fn text(self) -> &'a str {
        self.within.get(self.start..self.end).unwrap_or_default()
    }
}

/// The value of a field for a parameter of this type. `None` if the value is the field's text.
pub(crate) fn value(slot: &Slot, raw: Raw<'_>, ty: Option<Type>) -> Result<Option<Value>, Misfit> {
    match (slot.cell, slot.shape, ty) {
        (true, _, Some(Type::Str)) => return Ok(None),
        (true, Shape::Text, Some(ty)) => return value(&unquoted(slot, raw), raw, Some(ty)),
        // Without a point it may as well be the hexadecimal name of something: 12e4.
        (true, Shape::Float, None) if !raw.text().contains('.') => return Ok(None),
        _ => {}
    }
    match (slot.shape, ty) {
        // Nothing is of no type: where one is demanded, it is as good as missing.
        (Shape::Null, None) => Ok(Some(Value::NONE)),
        (Shape::Text | Shape::Nested, None | Some(Type::Str)) => Ok(None),
        (Shape::Int, None | Some(Type::Int)) => Ok(Some(Value::int(slot.word as i64))),
        (Shape::BigInt, None | Some(Type::Int)) => Err(Misfit::Integer),
        (Shape::Decimal | Shape::Float, Some(Type::Int)) => {
            whole(float(slot, raw).map_err(|_| Misfit::Integer)?).map(Some)
        }
        (Shape::True, None | Some(Type::Bool)) => Ok(Some(Value::TRUE)),
        (Shape::False, None | Some(Type::Bool)) => Ok(Some(Value::FALSE)),
        (_, None | Some(Type::Float)) => float(slot, raw).map(|f| Some(Value::float(f))),
        (_, Some(Type::Int | Type::Bool | Type::Str)) => Err(Misfit::Type),
    }
}

/// The number in a field, as a float.
pub(crate) fn float(slot: &Slot, raw: Raw<'_>) -> Result<f64, Misfit> {
    match slot.shape {
        Shape::Int => Ok(slot.word as i64 as f64),
        Shape::Decimal => Ok(number::decimal(slot.word as i64, slot.scale)),
        Shape::BigInt | Shape::Float => {
            raw.text().parse().ok().filter(|f: &f64| f.is_finite()).ok_or(Misfit::Float)
        }
        Shape::Text if slot.cell => float(&unquoted(slot, raw), raw),
        _ => Err(Misfit::Type),
    }
}

/// A cell of text as what it looks like: quotes do not keep a number from being one where one is wanted.
fn unquoted(slot: &Slot, raw: Raw<'_>) -> Slot {
    let mut slot = *slot;
    (slot.shape, slot.word, slot.scale) = looks(raw.within.as_bytes(), (raw.start, raw.end));
    slot.cell = false;
    slot
}

/// Whether an unquoted cell of this text stands for something else than the text.
pub(crate) fn reads_as_other(text: &str) -> bool {
    text.is_empty() || looks(text.as_bytes(), (0, text.len())).0 != Shape::Text
}

/// The integer that a float is.
fn whole(f: f64) -> Result<Value, Misfit> {
    if f.trunc() != f {
        return Err(Misfit::Type);
    }
    // 2^63 itself is a float, and just too large.
    let range = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    if range.contains(&f) { Ok(Value::int(f as i64)) } else { Err(Misfit::Integer) }
}

/// Text as a value: held in it if it is short, and otherwise a reference to `place` in the block's text.
#[inline(always)]
pub(crate) fn text(bytes: &[u8], start: usize, len: usize, place: u32) -> Value {
    if len > SHORT_STRING {
        return Value::text(place, len as u32);
    }
    // As `Value::short` does it, but in two registers: bytes that are written one by one and read back as
    // words stall the processor for longer than all the rest takes.
    let bits = beginning(bytes, start, start + len) << 16 | (len as u128) << 8 | Tag::Short as u128;
    Value::from_bits((bits as u64, (bits >> 64) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_has_the_form_that_values_give_it() {
        for len in 0..=SHORT_STRING {
            let word = &"abcdefghijklmn"[..len];
            for around in [format!("-{word}-----------------"), format!("-{word}")] {
                let ours = text(around.as_bytes(), 1, len, 1);
                assert_eq!(Some(ours.bits()), Value::short(word).map(Value::bits));
                assert_eq!(ours.as_short(), Some(word));
            }
        }
        assert_eq!(text(b"fifteen letters", 0, 15, 7).as_text(), Some((7, 15)));
    }
}
