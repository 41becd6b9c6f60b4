//! Values as text.

use crate::snapshot::OwnedValue;
use invigil_monitor::mac::{Type, Value};
use std::fmt::Write as _;

/// The keyword for an undefined value.
const UNDEFINED: &str = "undefined";

/// Splits off the value at the start of a text. A value ends at a blank, a comma or a closing bracket, unless it is in
/// quotes.
pub(super) fn split(text: &str) -> (&str, &str) {
    let quote = text.chars().next().filter(|c| *c == '"' || *c == '\'');
    let Some(quote) = quote else {
        let end = text.find(|c: char| c.is_whitespace() || ",)".contains(c)).unwrap_or(text.len());
        return text.split_at(end);
    };
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return text.split_at(at + 1),
            _ => {}
        }
    }
    (text, "")
}

/// Parses a value of a known type.
pub(crate) fn parse_as(text: &str, ty: Type) -> Result<OwnedValue, String> {
    if text == UNDEFINED {
        return Ok(OwnedValue::UNDEFINED);
    }
    let whole = || text.parse::<i64>().ok();
    let value = match ty {
        Type::Boolean => text.parse().ok().map(Value::Boolean),
        Type::Byte => whole().and_then(|v| v.try_into().ok()).map(Value::Byte),
        Type::Short => whole().and_then(|v| v.try_into().ok()).map(Value::Short),
        Type::Int => whole().and_then(|v| v.try_into().ok()).map(Value::Int),
        Type::Long => whole().map(Value::Long),
        Type::Float => text.parse().ok().map(Value::Float),
        Type::Double => text.parse().ok().map(Value::Double),
        Type::Char => parse_character(text).map(Value::Char),
        Type::String => {
            let text: Result<String, _> = serde_json::from_str(text);
            return text.map(OwnedValue::Text).map_err(|_| "a String is written as \"text\"".to_owned());
        }
    };
    value.map(OwnedValue::Plain).ok_or_else(|| match ty {
        Type::Boolean => format!("`{text}` is neither `true` nor `false`"),
        Type::Char => format!("`{text}` is not a char; write 'a' or '\\u0061'"),
        _ => format!("`{text}` is not of type {ty}; write `undefined` if there is no value"),
    })
}

/// Parses a value whose syntax gives its type, as [`write_typed`] writes it.
pub(super) fn parse_typed(text: &str) -> Result<OwnedValue, String> {
    let ty = match text.as_bytes() {
        [b'"', ..] => Type::String,
        [b'\'', ..] => Type::Char,
        [b't' | b'f', ..] => Type::Boolean,
        [.., b'L'] => Type::Long,
        [.., b'b'] => Type::Byte,
        [.., b's'] => Type::Short,
        [.., b'f'] => Type::Float,
        _ if text.contains(['.', 'e', 'E', 'N', 'I']) => Type::Double,
        _ => Type::Int,
    };
    let suffixed = matches!(ty, Type::Long | Type::Byte | Type::Short | Type::Float);
    parse_as(if suffixed { &text[..text.len() - 1] } else { text }, ty)
}

/// Appends a value as [`parse_as`] reads it.
pub(crate) fn write_value(out: &mut String, value: Value<'_>) {
    // Writing to a string cannot fail.
    let _ = match value {
        Value::Undefined => write!(out, "{UNDEFINED}"),
        Value::Boolean(v) => write!(out, "{v}"),
        Value::Char(v) => return write_character(out, v),
        Value::Byte(v) => write!(out, "{v}"),
        Value::Short(v) => write!(out, "{v}"),
        Value::Int(v) => write!(out, "{v}"),
        Value::Long(v) => write!(out, "{v}"),
        Value::Float(v) if v.is_infinite() => write!(out, "{}", infinity(v > 0.0)),
        Value::Double(v) if v.is_infinite() => write!(out, "{}", infinity(v > 0.0)),
        Value::Float(v) => write!(out, "{v:?}"),
        Value::Double(v) => write!(out, "{v:?}"),
        Value::String(v) => write!(out, "{}", serde_json::Value::from(v)),
    };
}

/// Appends a value in a syntax that gives its type.
pub(super) fn write_typed(out: &mut String, value: Value<'_>) {
    write_value(out, value);
    match value {
        Value::Long(_) => out.push('L'),
        Value::Byte(_) => out.push('b'),
        Value::Short(_) => out.push('s'),
        Value::Float(_) => out.push('f'),
        _ => {}
    }
}

fn infinity(positive: bool) -> &'static str {
    if positive { "Infinity" } else { "-Infinity" }
}

fn parse_character(text: &str) -> Option<u16> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    if let Some(code) = inner.strip_prefix("\\u") {
        return (code.len() == 4).then(|| u16::from_str_radix(code, 16).ok()).flatten();
    }
    let inner = match inner.strip_prefix('\\') {
        Some(escaped @ ("\\" | "'")) => escaped,
        Some(_) => return None,
        None => inner,
    };
    let mut units = inner.encode_utf16();
    units.next().filter(|_| units.next().is_none())
}

fn write_character(out: &mut String, unit: u16) {
    let _ = match char::from_u32(unit.into()).filter(|c| !c.is_control() && !c.is_whitespace()) {
        Some(c @ ('\'' | '\\')) => write!(out, "'\\{c}'"),
        Some(c) => write!(out, "'{c}'"),
        None => write!(out, "'\\u{unit:04x}'"),
    };
}
