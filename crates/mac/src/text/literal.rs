//! Values as text.

use crate::taken::Held;
use invigil_monitor::mac::{Type, Value};
use std::fmt::Write as _;

/// The word for a value that is not known.
const UNDEFINED: &str = "undefined";

/// Takes the value at the beginning of a text: gives it and the rest. A value ends at a blank, a comma or a bracket,
/// unless it is in quotes.
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

/// A value of a type that is known beforehand.
pub(crate) fn of_type(text: &str, ty: Type) -> Result<Held, String> {
    if text == UNDEFINED {
        return Ok(Held::UNDEFINED);
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
        Type::Char => character(text).map(Value::Char),
        Type::String => {
            let text: Result<String, _> = serde_json::from_str(text);
            return text.map(Held::Text).map_err(|_| "a String is written as \"text\"".to_owned());
        }
    };
    value.map(Held::Plain).ok_or_else(|| match ty {
        Type::Boolean => format!("`{text}` is neither `true` nor `false`"),
        Type::Char => format!("`{text}` is no char; write one as 'a' or '\\u0061'"),
        _ => format!("`{text}` is no {ty}; `undefined` says that there is none"),
    })
}

/// A value that says its type itself, as [`show`] writes it.
pub(super) fn typed(text: &str) -> Result<Held, String> {
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
    of_type(if suffixed { &text[..text.len() - 1] } else { text }, ty)
}

/// Appends a value as [`of_type`] reads it.
pub(crate) fn plain(out: &mut String, value: Value<'_>) {
    // Writing to a string does not fail.
    let _ = match value {
        Value::Undefined => write!(out, "{UNDEFINED}"),
        Value::Boolean(v) => write!(out, "{v}"),
        Value::Char(v) => return show_character(out, v),
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

/// Appends a value so that its type can be told.
pub(super) fn show(out: &mut String, value: Value<'_>) {
    plain(out, value);
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

fn character(text: &str) -> Option<u16> {
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

fn show_character(out: &mut String, unit: u16) {
    let _ = match char::from_u32(unit.into()).filter(|c| !c.is_control() && !c.is_whitespace()) {
        Some(c @ ('\'' | '\\')) => write!(out, "'\\{c}'"),
        Some(c) => write!(out, "'{c}'"),
        None => write!(out, "'\\u{unit:04x}'"),
    };
}
