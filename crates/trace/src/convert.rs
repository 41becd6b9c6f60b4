//! From the text of a field to the value of a parameter.

use crate::number::{self, Form};
use crate::record::{Shape, Slot};
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

    /// What number the text is, if it is one from end to end.
    #[inline]
    fn number(self) -> Option<Form> {
        let bytes = self.within.as_bytes();
        match bytes.get(self.start)? {
            b'-' | b'0'..=b'9' => {
                let number = number::scan(bytes, self.start)?;
                (number.end == self.end).then_some(number.form)
            }
            _ => None,
        }
    }
}

/// The value of a field for a parameter of this type. `None` if the value is the field's text.
pub(crate) fn value(slot: &Slot, raw: Raw<'_>, ty: Option<Type>) -> Result<Option<Value>, Misfit> {
    match slot.shape {
        Shape::Null => return Ok(Some(Value::NONE)),
        Shape::Quoted if ty.is_none() => return Ok(None),
        Shape::Cell | Shape::Quoted => return cell(raw, ty),
        _ => {}
    }
    match (ty, slot.shape) {
        (None | Some(Type::Str), Shape::Text | Shape::Nested) => Ok(None),
        (None | Some(Type::Int), Shape::Int) => Ok(Some(Value::int(slot.word as i64))),
        (None | Some(Type::Int), Shape::BigInt) => Err(Misfit::Integer),
        (None | Some(Type::Bool), Shape::True) => Ok(Some(Value::TRUE)),
        (None | Some(Type::Bool), Shape::False) => Ok(Some(Value::FALSE)),
        (Some(Type::Int), Shape::Decimal | Shape::Float) => {
            whole(float(slot, raw).map_err(|_| Misfit::Integer)?).map(Some)
        }
        (None | Some(Type::Float), _) => float(slot, raw).map(|f| Some(Value::float(f))),
        (Some(Type::Int | Type::Bool | Type::Str), _) => Err(Misfit::Type),
    }
}

/// The number in a field, as a float.
#[inline]
pub(crate) fn float(slot: &Slot, raw: Raw<'_>) -> Result<f64, Misfit> {
    match slot.shape {
        Shape::Int => Ok(slot.word as i64 as f64),
        Shape::Decimal => Ok(number::decimal(slot.word as i64, slot.scale)),
        Shape::BigInt | Shape::Float => parse_float(raw),
        Shape::Cell | Shape::Quoted => match raw.number() {
            Some(form) => form_float(form, raw),
            None => Err(Misfit::Type),
        },
        _ => Err(Misfit::Type),
    }
}

/// The value of a cell, as far as it is not text.
fn cell(raw: Raw<'_>, ty: Option<Type>) -> Result<Option<Value>, Misfit> {
    let form = match ty {
        Some(Type::Str) => return Ok(None),
        Some(Type::Bool) => return truth(raw.text()).map(Some).ok_or(Misfit::Type),
        _ => raw.number(),
    };
    match (ty, form) {
        (None | Some(Type::Int), Some(Form::Int(i))) => Ok(Some(Value::int(i))),
        (None | Some(Type::Int), Some(Form::BigInt)) => Err(Misfit::Integer),
        (Some(Type::Int), Some(form)) => whole(form_float(form, raw).map_err(|_| Misfit::Integer)?).map(Some),
        (Some(Type::Float), Some(form)) => form_float(form, raw).map(|f| Some(Value::float(f))),
        // Without a point it may as well be the hexadecimal name of something: 12e4.
        (None, Some(form)) if raw.text().contains('.') => {
            form_float(form, raw).map(|f| Some(Value::float(f)))
        }
        (None, _) => Ok(truth(raw.text())),
        (Some(_), None) => Err(Misfit::Type),
        (Some(Type::Bool | Type::Str), Some(_)) => Err(Misfit::Type),
    }
}

fn truth(raw: &str) -> Option<Value> {
    match raw {
        "true" | "True" => Some(Value::TRUE),
        "false" | "False" => Some(Value::FALSE),
        _ => None,
    }
}

/// Whether an unquoted cell of this text stands for something else than the text, when nobody says what is
/// wanted.
pub(crate) fn reads_as_other(raw: &str) -> bool {
    let number = Raw { within: raw, start: 0, end: raw.len() }.number();
    raw.is_empty() || number.is_some() || truth(raw).is_some()
}

fn form_float(form: Form, raw: Raw<'_>) -> Result<f64, Misfit> {
    match form {
        Form::Int(i) => Ok(i as f64),
        Form::Decimal { digits, scale } => Ok(number::decimal(digits, scale)),
        Form::BigInt | Form::Float => parse_float(raw),
    }
}

fn parse_float(raw: Raw<'_>) -> Result<f64, Misfit> {
    raw.text().parse().ok().filter(|f: &f64| f.is_finite()).ok_or(Misfit::Float)
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
