//! Plain lines: `[@TIME] [KIND] NAME[(ARG, ...)]`.

use crate::block::EventBlock;
use crate::line_error_kind::ScanError;
use crate::line_loop::{LineLoop, next_line};
use crate::number::{self, NumberForm};
use crate::record::{FieldType, Record};
use crate::schema::{EVENT, KIND, TIME};

// Classes of bytes, as bits.

/// Unquoted text: letters, digits and some punctuation.
const WORD: u8 = 1;
/// Event name: all bytes except blanks, control characters, quotes and the format's punctuation.
const NAME: u8 = 2;
/// Text of a quoted string, without escapes.
const STRING: u8 = 4;
/// Name of an argument, or an argument without a name.
const ARGUMENT: u8 = 8;

/// The classes of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'/' | b'-') {
            classes[i] |= WORD;
        }
        if b > b' ' && b != 0x7f && !is_punctuation(b) && b != b'\'' {
            classes[i] |= NAME;
        }
        if b >= b' ' && b != b'"' && b != b'\\' {
            classes[i] |= STRING;
        }
        if b >= b' ' && !is_punctuation(b) {
            classes[i] |= ARGUMENT;
        }
        i += 1;
    }
    classes
};

const fn is_punctuation(b: u8) -> bool {
    matches!(b, b'(' | b')' | b',' | b'=' | b'"')
}

/// Whether `text` can be written as the name of an event.
pub(crate) fn is_event_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('@') && text.bytes().all(|b| is_in(b, NAME))
}

/// Whether `text` can be written as the name of a parameter.
pub(crate) fn is_argument_name(text: &str) -> bool {
    !text.is_empty() && text.trim_ascii() == text && text.bytes().all(|b| is_in(b, ARGUMENT))
}

#[inline(always)]
fn is_in(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

/// End of the run of bytes of a class at `at`.
#[inline(always)]
fn run_end(text: &[u8], mut at: usize, class: u8) -> usize {
    while text.get(at).is_some_and(|b| is_in(*b, class)) {
        at += 1;
    }
    at
}

#[inline(always)]
fn after_blanks(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// Decodes all lines of `text`; in strict mode, only up to the first malformed one. Each line ends with a newline.
pub(crate) fn decode(text: &str, record: &mut Record, block: &mut EventBlock, strict: bool) {
    let bytes = text.as_bytes();
    let mut lines = LineLoop::new(strict);
    while let Some((start, line)) = lines.current(bytes) {
        record.begin();
        let (end, result) = match scan_line(text, start, record) {
            Ok((true, end)) => (end, record.finish(text, block, line)),
            Ok((false, end)) => (end, Ok(())),
            Err(error) => {
                let end = next_line(bytes, start);
                // A line of other white space counts as blank, as in the other formats.
                let is_blank = bytes[start..end].trim_ascii().is_empty();
                (end, if is_blank { Ok(()) } else { Err(error.into()) })
            }
        };
        lines.end_line(bytes, block, end, result);
    }
}

/// Scans the line at `at` into the record. Returns whether it is not blank, and the start of the next line.
#[inline(always)]
fn scan_line(text: &str, at: usize, record: &mut Record) -> Result<(bool, usize), ScanError> {
    let bytes = text.as_bytes();
    let mut at = after_blanks(bytes, at);
    if let Some(end) = line_end(bytes, at) {
        return Ok((false, end));
    }
    if bytes[at] == b'@' {
        at = time(bytes, at + 1, record)?;
    }
    let start = at;
    let mut end = run_end(bytes, start, NAME);
    if start == end {
        return Err("missing event name".into());
    }
    let next = after_blanks(bytes, end);
    let mut name_start = start;
    if next > end && bytes.get(next).is_some_and(|b| is_in(*b, NAME)) {
        // Two words: the first is the event kind.
        record.set(KIND, FieldType::Text, start, end);
        name_start = next;
        end = run_end(bytes, name_start, NAME);
    }
    record.set(EVENT, FieldType::Text, name_start, end);
    at = after_blanks(bytes, end);
    if bytes.get(at) == Some(&b'(') {
        at = arguments(text, at + 1, record)?;
    } else if bytes.get(at).is_some_and(|b| is_in(*b, NAME)) {
        return Err("expected `[KIND] NAME` or `[KIND] NAME(ARG, ...)`".into());
    }
    match line_end(bytes, at) {
        Some(end) => Ok((true, end)),
        None => Err("unexpected text after the event".into()),
    }
}

/// Start of the next line, if this one ends at `at`.
#[inline(always)]
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at) {
        Some(b'\n') => Some(at + 1),
        Some(b'\r') if text.get(at + 1) == Some(&b'\n') => Some(at + 2),
        None => Some(at),
        _ => None,
    }
}

/// Scans the time after an `@`. Returns the start of the rest.
fn time(text: &[u8], at: usize, record: &mut Record) -> Result<usize, ScanError> {
    let number = number::scan(text, at).filter(|number| matches!(text.get(number.end), Some(b' ' | b'\t')));
    let Some(number) = number else {
        return Err("`@` is not followed by a number of seconds and a blank".into());
    };
    record.set_number(TIME, (at, number.end), number.form);
    Ok(after_blanks(text, number.end))
}

/// Scans the arguments at `at`. Returns the start of the rest of the line.
#[inline(always)]
fn arguments(text: &str, at: usize, record: &mut Record) -> Result<usize, ScanError> {
    let bytes = text.as_bytes();
    let mut at = after_blanks(bytes, at);
    if bytes.get(at) == Some(&b')') {
        return Ok(after_blanks(bytes, at + 1));
    }
    let mut position = 0;
    loop {
        let end = run_end(bytes, at, ARGUMENT);
        let field = if bytes.get(end) == Some(&b'=') {
            let field = argument_name(bytes, at, end, record)?;
            at = after_blanks(bytes, end + 1);
            field
        } else {
            position += 1;
            record.schema.argument(position)
        };
        at = value(text, at, field, record)?;
        match bytes.get(at) {
            Some(b',') => at = after_blanks(bytes, at + 1),
            Some(b')') => return Ok(after_blanks(bytes, at + 1)),
            Some(b'\n' | b'\r') | None => return Err("missing `)` after the arguments".into()),
            Some(_) => return Err("expected `,` between arguments".into()),
        }
    }
}

/// The field id of the argument named at `start..end`.
#[inline(always)]
fn argument_name(text: &[u8], start: usize, end: usize, record: &Record) -> Result<u32, ScanError> {
    let end = trim_blanks_end(text, start, end);
    if start == end {
        return Err("missing name before `=`".into());
    }
    match record.schema.field(text, start, end) {
        EVENT => Err("`event` cannot be the name of an argument".into()),
        field => Ok(field),
    }
}

#[inline(always)]
fn trim_blanks_end(text: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && matches!(text[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    end
}

/// Scans the value at `at` into a field. Returns the position of the next punctuation.
#[inline(always)]
fn value(text: &str, at: usize, field: u32, record: &mut Record) -> Result<usize, ScanError> {
    let bytes = text.as_bytes();
    let end = match bytes.get(at) {
        Some(b'"') => string(text, at, field, record)?,
        Some(b'-' | b'0'..=b'9') => {
            let (end, form) = any_number(bytes, at)?;
            record.set_number(field, (at, end), form);
            end
        }
        Some(b) if is_in(*b, WORD) && !matches!(b, b'.' | b':' | b'/') => {
            let end = run_end(bytes, at, WORD);
            let field_type = match &bytes[at..end] {
                b"true" | b"True" => FieldType::True,
                b"false" | b"False" => FieldType::False,
                b"none" | b"None" | b"null" => FieldType::Null,
                _ => FieldType::Text,
            };
            record.set(field, field_type, at, end);
            end
        }
        Some(b',' | b')' | b'\n' | b'\r') | None => return Err("argument without a value".into()),
        Some(_) => return Err("invalid value: put text in quotes".into()),
    };
    let next = after_blanks(bytes, end);
    match bytes.get(next) {
        Some(b',' | b')' | b'\n' | b'\r') | None => Ok(next),
        Some(_) => Err("invalid value: put text in quotes".into()),
    }
}

/// Scans a number as programs print it: JSON numbers, hexadecimal, leading zeros.
#[inline(always)]
fn any_number(text: &[u8], at: usize) -> Result<(usize, NumberForm), ScanError> {
    match number::scan(text, at) {
        Some(number) if text.get(number.end) != Some(&b'x') => Ok((number.end, number.form)),
        _ => unusual_number(text, at),
    }
}

#[cold]
fn unusual_number(text: &[u8], at: usize) -> Result<(usize, NumberForm), ScanError> {
    let negative = text[at] == b'-';
    let start = at + usize::from(negative);
    if text.get(start) == Some(&b'0') && text.get(start + 1) == Some(&b'x') {
        let digits = text[start + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        let end = start + 2 + digits;
        if digits > 0 {
            let value = std::str::from_utf8(&text[start + 2..end]).ok();
            let value = value.and_then(|digits| i128::from_str_radix(digits, 16).ok());
            let value = value.map(|value| if negative { -value } else { value });
            let form =
                value.and_then(|value| i64::try_from(value).ok()).map_or(NumberForm::BigInt, NumberForm::Int);
            return Ok((end, form));
        }
    }
    let zeros = text[start..].iter().take_while(|b| **b == b'0').count();
    let (value, count) = number::digits(text, start + zeros);
    let end = start + zeros + count;
    if zeros + count == 0 || matches!(text.get(end), Some(b'.')) {
        return Err("not a number: put text in quotes".into());
    }
    Ok((end, number::integer(negative, value, count)))
}

/// Scans the quoted string at `at` into a field. Returns its end.
#[inline(always)]
fn string(text: &str, at: usize, field: u32, record: &mut Record) -> Result<usize, ScanError> {
    let bytes = text.as_bytes();
    let end = run_end(bytes, at + 1, STRING);
    match bytes.get(end) {
        Some(b'"') => {
            record.set(field, FieldType::Text, at + 1, end);
            Ok(end + 1)
        }
        Some(b'\\') => escaped_string(text, at, field, record),
        Some(b'\n' | b'\r') | None => Err("unterminated string".into()),
        Some(_) => Err("control character in a string: use an escape".into()),
    }
}

#[cold]
fn escaped_string(text: &str, at: usize, field: u32, record: &mut Record) -> Result<usize, ScanError> {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    loop {
        end = run_end(bytes, end, STRING);
        match bytes.get(end) {
            Some(b'"') => break,
            Some(b'\\') if bytes.get(end + 1).is_some_and(|b| *b >= b' ') => end += 2,
            Some(b'\\' | b'\n' | b'\r') | None => return Err("unterminated string".into()),
            Some(_) => return Err("control character in a string: use an escape".into()),
        }
    }
    match serde_json::from_str::<String>(&text[at..=end]) {
        Ok(value) => record.set_decoded(field, text, &value, false),
        Err(_) => return Err("invalid escape in a string".into()),
    }
    Ok(end + 1)
}
