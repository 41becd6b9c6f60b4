//! Values as text, in the format of Java.

use super::value::Value;
use alloc::string::String;
use core::fmt::Write as _;

/// Appends a value; an undefined one is `undefined`.
pub(super) fn show(out: &mut String, value: Value<'_>) {
    match value {
        Value::Undefined => out.push_str("undefined"),
        Value::Boolean(v) => out.push_str(if v { "true" } else { "false" }),
        Value::Char(v) => out.push(char::from_u32(v.into()).unwrap_or(char::REPLACEMENT_CHARACTER)),
        Value::Byte(v) => whole(out, v.into()),
        Value::Short(v) => whole(out, v.into()),
        Value::Int(v) => whole(out, v.into()),
        Value::Long(v) => whole(out, v),
        Value::Float(v) => float(out, v),
        Value::Double(v) => double(out, v),
        Value::String(v) => out.push_str(v),
    }
}

fn whole(out: &mut String, value: i64) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

fn float(out: &mut String, value: f32) {
    if is_plain(value.abs().into()) {
        let _ = write!(out, "{value:?}");
    } else {
        let at = out.len();
        let _ = write!(out, "{value:E}");
        scientific(out, at);
    }
}

fn double(out: &mut String, value: f64) {
    if is_plain(value.abs()) {
        let _ = write!(out, "{value:?}");
    } else {
        let at = out.len();
        let _ = write!(out, "{value:E}");
        scientific(out, at);
    }
}

/// Whether Java writes a number of this magnitude without an exponent.
fn is_plain(size: f64) -> bool {
    size == 0.0 || (1e-3..1e7).contains(&size)
}

/// Converts a number written from `at` on to Java's format: `1E10` to `1.0E10`, `inf` to `Infinity`.
fn scientific(out: &mut String, at: usize) {
    let written = &out[at..];
    match written.find('E') {
        Some(exponent) if !written.contains('.') => out.insert_str(at + exponent, ".0"),
        None if written.ends_with("inf") => {
            out.truncate(out.len() - 3);
            out.push_str("Infinity");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_in_java() {
        let doubles = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.001, "0.001"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.25e-4, "1.25E-4"),
            (-1e300, "-1.0E300"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in doubles {
            let mut out = String::from("> ");
            show(&mut out, Value::Double(value));
            assert_eq!(&out[2..], text);
        }
        let mut out = String::new();
        show(&mut out, Value::Float(0.1));
        show(&mut out, Value::Char(u16::from(b'x')));
        show(&mut out, Value::Long(-5));
        assert_eq!(out, "0.1x-5");
    }
}
