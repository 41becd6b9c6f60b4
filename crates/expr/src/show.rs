//! Values as text, for `str`, `print`, `%` and f-strings.

use crate::compare::{Number, ValueReader, number};
use crate::fault::{EvalResult, Fault, FaultKind};
use crate::heap::ObjectKind;
use crate::value::{Tag, Value};
use alloc::string::String;
use core::fmt::Write;

/// Maximum length of a string that a block builds.
pub(crate) const MAX_TEXT: usize = 16 << 20;

/// Format specification: `[0][width][.precision][type]`, a subset of Python's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FormatSpec {
    /// Whether to pad with zeros instead of spaces.
    pub zeros: bool,
    /// Minimum number of characters.
    pub width: u8,
    /// Number of digits after the decimal point.
    pub precision: Option<u8>,
    /// `d`, `x`, `X`, `b`, `o`, `f`, `e`, `s` or `r`; zero if omitted.
    pub conversion: u8,
}

impl FormatSpec {
    /// Parses a specification such as `04d` or `.2f`.
    ///
    /// ```
    /// use invigil_expr::show::FormatSpec;
    /// let format = FormatSpec::parse("08.3f").unwrap();
    /// assert_eq!((format.zeros, format.width, format.precision, format.conversion), (true, 8, Some(3), b'f'));
    /// assert!(FormatSpec::parse("wide").is_none());
    /// ```
    pub fn parse(spec: &str) -> Option<FormatSpec> {
        let mut rest = spec;
        let mut format = FormatSpec::default();
        if let Some(after) = rest.strip_prefix('0') {
            (format.zeros, rest) = (true, after);
        }
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let width = digits(rest);
        if width > 0 {
            format.width = rest[..width].parse().ok()?;
            rest = &rest[width..];
        }
        if let Some(after) = rest.strip_prefix('.') {
            let len = digits(after);
            format.precision = Some(after[..len].parse().ok()?);
            rest = &after[len..];
        }
        match rest.as_bytes() {
            [] => Some(format),
            [conversion] if b"dxXbofesr".contains(conversion) => {
                Some(FormatSpec { conversion: *conversion, ..format })
            }
            _ => None,
        }
    }
}

impl ValueReader<'_> {
    /// Appends `str(value)`.
    pub fn write_str(&self, out: &mut String, value: Value) -> EvalResult<()> {
        match self.str(&value) {
            Some(text) => out.push_str(text),
            None => self.write_repr(out, value)?,
        }
        if out.len() > MAX_TEXT {
            return Err(Fault::new(FaultKind::Limit, "string too long: the limit is 16 MiB"));
        }
        Ok(())
    }

    /// Appends `repr(value)`, with strings in quotes.
    pub fn write_repr(&self, out: &mut String, value: Value) -> EvalResult<()> {
        match self.write_repr_within(MAX_TEXT, out, value) {
            true => Ok(()),
            false => Err(Fault::new(FaultKind::Limit, "string too long: the limit is 16 MiB")),
        }
    }

    /// Appends `repr(value)` until `out` has about `limit` bytes. Returns whether that was all of it.
    pub fn write_repr_within(&self, limit: usize, out: &mut String, value: Value) -> bool {
        if out.len() > limit {
            return false;
        }
        if let Some(text) = self.str(&value) {
            let shown = text.floor_char_boundary(limit);
            write_quoted(out, &text[..shown]);
            return shown == text.len();
        }
        match value.tag() {
            Tag::Unset => out.push_str("<unset>"),
            Tag::None => out.push_str("None"),
            Tag::Bool => out.push_str(if self.truth(value) { "True" } else { "False" }),
            Tag::Int => write_int(out, value.as_int().unwrap_or(0)),
            Tag::Float => write_float(out, value.as_float().unwrap_or(0.0)),
            Tag::Short | Tag::Text | Tag::Pool => {}
            Tag::Object => return self.write_object(limit, out, value.as_object().unwrap_or(0)),
        }
        true
    }

    fn write_object(&self, limit: usize, out: &mut String, object: u32) -> bool {
        let kind = self.heap.kind(object);
        let (open, close) = match kind {
            ObjectKind::List => ('[', ']'),
            ObjectKind::Tuple => ('(', ')'),
            _ => ('{', '}'),
        };
        if kind == ObjectKind::Set && self.heap.len(object) == self.heap.aux(object) {
            out.push_str("set()");
            return true;
        }
        out.push(open);
        let mut first = true;
        for word in 0..self.heap.len(object) {
            let item = match kind {
                ObjectKind::Set | ObjectKind::Dict => self.key(object, word),
                _ => self.heap.item(object, word),
            };
            if item.is_unset() {
                continue;
            }
            if !core::mem::take(&mut first) {
                out.push_str(", ");
            }
            if !self.write_repr_within(limit, out, item) {
                return false;
            }
            if kind == ObjectKind::Dict {
                out.push_str(": ");
                if !self.write_repr_within(limit, out, self.entry_value(object, word)) {
                    return false;
                }
            }
        }
        if kind == ObjectKind::Tuple && self.heap.len(object) == 1 {
            out.push(',');
        }
        out.push(close);
        true
    }

    /// Appends a value in a format.
    pub fn write_formatted(&self, out: &mut String, value: Value, format: FormatSpec) -> EvalResult<()> {
        let start = out.len();
        match (format.conversion, number(value)) {
            (b'd', Some(Number::Float(f))) => write_int(out, f as i64),
            (b'x', Some(Number::Int(i))) => append(out, format_args!("{}{:x}", sign(i), i.unsigned_abs())),
            (b'X', Some(Number::Int(i))) => append(out, format_args!("{}{:X}", sign(i), i.unsigned_abs())),
            (b'b', Some(Number::Int(i))) => append(out, format_args!("{}{:b}", sign(i), i.unsigned_abs())),
            (b'o', Some(Number::Int(i))) => append(out, format_args!("{}{:o}", sign(i), i.unsigned_abs())),
            (b'f', Some(n)) => {
                append(out, format_args!("{:.*}", usize::from(format.precision.unwrap_or(6)), float(n)));
            }
            (b'e', Some(n)) => {
                append(out, format_args!("{:.*e}", usize::from(format.precision.unwrap_or(6)), float(n)));
            }
            (0, Some(n)) if format.precision.is_some() => {
                append(out, format_args!("{:.*}", usize::from(format.precision.unwrap_or(6)), float(n)));
            }
            (b'd' | b'x' | b'X' | b'b' | b'o' | b'f' | b'e', None) => {
                return Err(Fault::new(
                    FaultKind::Type,
                    alloc::format!(
                        "%{} needs a number, not {}",
                        char::from(format.conversion),
                        self.type_name(value)
                    ),
                ));
            }
            (b'x' | b'X' | b'b' | b'o', Some(Number::Float(_))) => {
                return Err(Fault::new(FaultKind::Type, "this format needs an int, not float"));
            }
            (b'd', Some(Number::Int(i))) => write_int(out, i),
            (b'r', _) => self.write_repr(out, value)?,
            _ => self.write_str(out, value)?,
        }
        self.pad(out, start, value, format);
        Ok(())
    }

    /// Pads the text from `start` on to the width of the format: numbers on the left, other values on the right.
    fn pad(&self, out: &mut String, start: usize, value: Value, format: FormatSpec) {
        let written = out[start..].chars().count();
        let missing = usize::from(format.width).saturating_sub(written);
        let numeric = number(value).is_some();
        for _ in 0..missing {
            match (numeric, format.zeros) {
                (true, true) => {
                    let at = start + usize::from(out[start..].starts_with('-'));
                    out.insert(at, '0');
                }
                (true, false) => out.insert(start, ' '),
                (false, _) => out.push(' '),
            }
        }
    }
}

/// Appends formatted text. Writing to a string cannot fail.
fn append(out: &mut String, text: core::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

fn sign(i: i64) -> &'static str {
    if i < 0 { "-" } else { "" }
}

fn float(n: Number) -> f64 {
    match n {
        Number::Int(i) => i as f64,
        Number::Float(f) => f,
    }
}

/// Appends an integer.
pub fn write_int(out: &mut String, i: i64) {
    append(out, format_args!("{i}"));
}

/// Appends a float as Python does, always with a point or an exponent.
fn write_float(out: &mut String, f: f64) {
    let start = out.len();
    append(out, format_args!("{f:?}"));
    if f.is_nan() {
        out.truncate(start);
        out.push_str("nan");
    } else if let Some(e) = out[start..].find('e').map(|e| start + e + 1) {
        let negative = out[e..].starts_with('-');
        if !negative {
            out.insert(e, '+');
        }
        if out.len() - e - 1 < 2 {
            out.insert(e + 1, '0');
        }
    }
}

fn write_quoted(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || c as u32 == 0x7f => append(out, format_args!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
}
