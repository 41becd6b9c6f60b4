//! Values in big-endian order, and text in Java's modified UTF-8.

use super::{Cursor, ReadError};
use crate::error::{FormatError, USE_LINES};
use crate::snapshot::OwnedValue;
use invigil_monitor::mac::{Type, Value};

/// The codes of types in events: those of the JVM's `newarray`, then `String`. The publication does not give its codes.
const CODES: [(Type, u8); 9] = [
    (Type::Boolean, 4),
    (Type::Char, 5),
    (Type::Float, 6),
    (Type::Double, 7),
    (Type::Byte, 8),
    (Type::Short, 9),
    (Type::Int, 10),
    (Type::Long, 11),
    (Type::String, 12),
];
/// The code of an event without a value.
pub(super) const NO_VALUE: u8 = 0;

pub(super) fn type_code(ty: Type) -> u8 {
    CODES.iter().find(|(known, _)| *known == ty).map_or(NO_VALUE, |(_, code)| *code)
}

pub(super) fn type_of_code(code: u8) -> Option<Type> {
    CODES.iter().find(|(_, known)| *known == code).map(|(ty, _)| *ty)
}

/// Appends a value without its type; nothing if it is undefined.
pub(super) fn write(out: &mut Vec<u8>, value: Value<'_>) -> Result<(), FormatError> {
    match value {
        Value::Undefined => {}
        Value::Boolean(v) => out.push(v.into()),
        Value::Byte(v) => out.extend(v.to_be_bytes()),
        Value::Char(v) => out.extend(v.to_be_bytes()),
        Value::Short(v) => out.extend(v.to_be_bytes()),
        Value::Int(v) => out.extend(v.to_be_bytes()),
        Value::Long(v) => out.extend(v.to_be_bytes()),
        Value::Float(v) => out.extend(v.to_be_bytes()),
        Value::Double(v) => out.extend(v.to_be_bytes()),
        Value::String(v) => write_text(out, v)?,
    }
    Ok(())
}

pub(super) fn read(from: &mut Cursor<'_>, ty: Type) -> Result<OwnedValue, ReadError> {
    Ok(OwnedValue::Plain(match ty {
        Type::Boolean => Value::Boolean(read_boolean(from)?),
        Type::Byte => Value::Byte(i8::from_be_bytes(from.array()?)),
        Type::Char => Value::Char(u16::from_be_bytes(from.array()?)),
        Type::Short => Value::Short(i16::from_be_bytes(from.array()?)),
        Type::Int => Value::Int(i32::from_be_bytes(from.array()?)),
        Type::Long => Value::Long(i64::from_be_bytes(from.array()?)),
        Type::Float => Value::Float(f32::from_be_bytes(from.array()?)),
        Type::Double => Value::Double(f64::from_be_bytes(from.array()?)),
        Type::String => return read_text(from).map(OwnedValue::Text),
    }))
}

pub(super) fn read_boolean(from: &mut Cursor<'_>) -> Result<bool, ReadError> {
    match from.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(ReadError::Invalid(format!("a Boolean is 0 or 1, not {other}"))),
    }
}

/// Appends text in modified UTF-8: the length in two bytes, then each UTF-16 unit in one to three bytes.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) -> Result<(), FormatError> {
    let start = out.len();
    out.extend([0, 0]);
    for unit in text.encode_utf16() {
        match unit {
            1..=0x7f => out.push(unit as u8),
            0..=0x7ff => out.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
            _ => out.extend([
                0xe0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
    let length = out.len() - start - 2;
    let Ok(short) = u16::try_from(length) else {
        out.truncate(start);
        return Err(FormatError(format!(
            "a text of {length} bytes: the byte format supports 65,535; {USE_LINES}"
        )));
    };
    out[start..start + 2].copy_from_slice(&short.to_be_bytes());
    Ok(())
}

pub(super) fn read_text(from: &mut Cursor<'_>) -> Result<String, ReadError> {
    let length = u16::from_be_bytes(from.array()?);
    let bytes = from.take(length.into())?;
    let wrong = || ReadError::Invalid("a text that is not in Java's modified UTF-8".to_owned());
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().map(|byte| u16::from(*byte));
    let more = |rest: &mut dyn Iterator<Item = u16>| match rest.next() {
        Some(byte) if byte & 0xc0 == 0x80 => Ok(byte & 0x3f),
        _ => Err(wrong()),
    };
    while let Some(first) = rest.next() {
        units.push(match first {
            0..=0x7f => first,
            0xc0..=0xdf => (first & 0x1f) << 6 | more(&mut rest)?,
            0xe0..=0xef => (first & 0x0f) << 12 | more(&mut rest)? << 6 | more(&mut rest)?,
            _ => return Err(wrong()),
        });
    }
    // Java strings may contain unpaired surrogates, which are replaced.
    Ok(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_encoded_as_modified_utf8() {
        let mut out = Vec::new();
        write_text(&mut out, "a\0é€😀").unwrap();
        let java = b"\x00\x0e\x61\xc0\x80\xc3\xa9\xe2\x82\xac\xed\xa0\xbd\xed\xb8\x80";
        assert_eq!(out, java);
        assert_eq!(read_text(&mut Cursor::new(&out)).unwrap(), "a\0é€😀");
        assert!(matches!(read_text(&mut Cursor::new(b"\0\x01\xff")), Err(ReadError::Invalid(_))));
        assert!(matches!(read_text(&mut Cursor::new(b"\0\x02\xe2\x82")), Err(ReadError::Invalid(_))));
        assert!(matches!(read_text(&mut Cursor::new(b"\0\x02a")), Err(ReadError::Incomplete)));
    }

    #[test]
    fn text_over_65535_bytes_is_rejected() {
        let mut out = vec![7];
        let limit = write_text(&mut out, &"é".repeat(32_768)).unwrap_err();
        assert!(limit.to_string().contains("a text of 65536 bytes"), "{limit}");
        assert_eq!(out, [7], "nothing half is left");
        write_text(&mut out, &"x".repeat(65_535)).unwrap();
    }
}
