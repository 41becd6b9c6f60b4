//! The line format: `[@TIME] [KIND] NAME[(ARG, ...)]`.

use crate::block::Block;
use crate::fault::Issue;
use crate::lines::{each_line, next_line};
use crate::number::{self, Form};
use crate::record::{Record, Shape};
use crate::schema::{EVENT, KIND, TIME};

/// What a byte can be part of.
const WORD: u8 = 1;
/// An event's name: all but blanks, controls, quotes and the format's own punctuation.
const NAME: u8 = 2;
/// The text of a quoted string, escapes apart.
const PLAIN: u8 = 4;
/// An argument up to its end or its `=`.
const ARGUMENT: u8 = 8;

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
            classes[i] |= PLAIN;
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
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('@') && text.bytes().all(|b| is(b, NAME))
}

/// Whether `text` can be written as the name of a parameter.
pub(crate) fn is_argument_name(text: &str) -> bool {
    !text.is_empty() && text.trim_ascii() == text && text.bytes().all(|b| is(b, ARGUMENT))
}

#[inline(always)]
fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

/// Where the bytes of a class end that begin at `at`.
#[inline(always)]
fn run(text: &[u8], mut at: usize, class: u8) -> usize {
    while text.get(at).is_some_and(|b| is(*b, class)) {
        at += 1;
    }
    at
}

#[inline(always)]
fn blanks(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// Reads all lines of `text`, each ended by a newline; in strict mode only up to the first bad one.
pub(crate) fn decode(text: &str, record: &mut Record, block: &mut Block, strict: bool) {
    let bytes = text.as_bytes();
    each_line(text, block, strict, |start, line, block| {
        record.begin();
        match read(text, start, record) {
            Ok((true, end)) => (end, record.finish(text, block, line)),
            Ok((false, end)) => (end, Ok(())),
            Err(issue) => {
                let end = next_line(bytes, start);
                // Odd white space is a blank line, as in the other formats.
                let is_blank = bytes[start..end].trim_ascii().is_empty();
                (end, if is_blank { Ok(()) } else { Err(issue.into()) })
            }
        }
    });
}

/// Reads the line at `at` into the record; gives whether there is anything on it, and the next one's start.
#[inline(always)]
fn read(text: &str, at: usize, record: &mut Record) -> Result<(bool, usize), Issue> {
    let bytes = text.as_bytes();
    let mut at = blanks(bytes, at);
    if let Some(end) = line_end(bytes, at) {
        return Ok((false, end));
    }
    if bytes[at] == b'@' {
        at = time(bytes, at + 1, record)?;
    }
    let start = at;
    let mut end = run(bytes, start, NAME);
    if start == end {
        return Err("no event name".into());
    }
    let next = blanks(bytes, end);
    let mut name = start;
    if next > end && bytes.get(next).is_some_and(|b| is(*b, NAME)) {
        // Two words: the first is the kind.
        record.set(KIND, Shape::Text, start, end);
        name = next;
        end = run(bytes, name, NAME);
    }
    record.set(EVENT, Shape::Text, name, end);
    at = blanks(bytes, end);
    if bytes.get(at) == Some(&b'(') {
        at = arguments(text, at + 1, record)?;
    } else if bytes.get(at).is_some_and(|b| is(*b, NAME)) {
        return Err("more than a kind and a name: write NAME(ARG, ...)".into());
    }
    match line_end(bytes, at) {
        Some(end) => Ok((true, end)),
        None => Err("unexpected text after the event".into()),
    }
}

/// The start of the next line, if this one ends at `at`.
#[inline(always)]
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at) {
        Some(b'\n') => Some(at + 1),
        Some(b'\r') if text.get(at + 1) == Some(&b'\n') => Some(at + 2),
        None => Some(at),
        _ => None,
    }
}

/// Reads the time after an `@`; gives where the rest begins.
fn time(text: &[u8], at: usize, record: &mut Record) -> Result<usize, Issue> {
    let number = number::scan(text, at).filter(|number| matches!(text.get(number.end), Some(b' ' | b'\t')));
    let Some(number) = number else {
        return Err("`@` is not followed by a number of seconds and a blank".into());
    };
    record.set_number(TIME, (at, number.end), number.form);
    Ok(blanks(text, number.end))
}

/// Reads the arguments that begin at `at`; gives where the rest of the line begins.
#[inline(always)]
fn arguments(text: &str, at: usize, record: &mut Record) -> Result<usize, Issue> {
    let bytes = text.as_bytes();
    let mut at = blanks(bytes, at);
    if bytes.get(at) == Some(&b')') {
        return Ok(blanks(bytes, at + 1));
    }
    let mut position = 0;
    loop {
        let end = run(bytes, at, ARGUMENT);
        let field = if bytes.get(end) == Some(&b'=') {
            let field = argument_name(bytes, at, end, record)?;
            at = blanks(bytes, end + 1);
            field
        } else {
            position += 1;
            record.schema.position(position)
        };
        at = value(text, at, field, record)?;
        match bytes.get(at) {
            Some(b',') => at = blanks(bytes, at + 1),
            Some(b')') => return Ok(blanks(bytes, at + 1)),
            Some(b'\n' | b'\r') | None => return Err("the arguments do not end with `)`".into()),
            Some(_) => return Err("arguments are separated by `,`".into()),
        }
    }
}

/// The field of the argument that is named at `start..end`.
#[inline(always)]
fn argument_name(text: &[u8], start: usize, end: usize, record: &Record) -> Result<u32, Issue> {
    let end = without_blanks(text, start, end);
    if start == end {
        return Err("no name before `=`".into());
    }
    match record.schema.field(text, start, end) {
        EVENT => Err("`event` cannot be the name of an argument".into()),
        field => Ok(field),
    }
}

#[inline(always)]
fn without_blanks(text: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && matches!(text[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    end
}

/// Reads the value at `at` into a field; gives where the next punctuation is.
#[inline(always)]
fn value(text: &str, at: usize, field: u32, record: &mut Record) -> Result<usize, Issue> {
    let bytes = text.as_bytes();
    let end = match bytes.get(at) {
        Some(b'"') => string(text, at, field, record)?,
        Some(b'-' | b'0'..=b'9') => {
            let (end, form) = any_number(bytes, at)?;
            record.set_number(field, (at, end), form);
            end
        }
        Some(b) if is(*b, WORD) && !matches!(b, b'.' | b':' | b'/') => {
            let end = run(bytes, at, WORD);
            let shape = match &bytes[at..end] {
                b"true" | b"True" => Shape::True,
                b"false" | b"False" => Shape::False,
                b"none" | b"None" | b"null" => Shape::Null,
                _ => Shape::Text,
            };
            record.set(field, shape, at, end);
            end
        }
        Some(b',' | b')' | b'\n' | b'\r') | None => return Err("an argument without a value".into()),
        Some(_) => return Err("a value that is neither a number nor a word: put it in quotes".into()),
    };
    let next = blanks(bytes, end);
    match bytes.get(next) {
        Some(b',' | b')' | b'\n' | b'\r') | None => Ok(next),
        Some(_) => Err("a value that is neither a number nor a word: put it in quotes".into()),
    }
}

/// A number as programs print it: JSON's, and hexadecimal, and with leading zeros.
#[inline(always)]
fn any_number(text: &[u8], at: usize) -> Result<(usize, Form), Issue> {
    match number::scan(text, at) {
        Some(number) if text.get(number.end) != Some(&b'x') => Ok((number.end, number.form)),
        _ => odd_number(text, at),
    }
}

#[cold]
fn odd_number(text: &[u8], at: usize) -> Result<(usize, Form), Issue> {
    let negative = text[at] == b'-';
    let start = at + usize::from(negative);
    if text.get(start) == Some(&b'0') && text.get(start + 1) == Some(&b'x') {
        let digits = text[start + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        let end = start + 2 + digits;
        if digits > 0 {
            let value = std::str::from_utf8(&text[start + 2..end]).ok();
            let value = value.and_then(|digits| i128::from_str_radix(digits, 16).ok());
            let value = value.map(|value| if negative { -value } else { value });
            let form = value.and_then(|value| i64::try_from(value).ok()).map_or(Form::BigInt, Form::Int);
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

/// Reads the quoted string at `at` into a field; gives where it ends.
#[inline(always)]
fn string(text: &str, at: usize, field: u32, record: &mut Record) -> Result<usize, Issue> {
    let bytes = text.as_bytes();
    let end = run(bytes, at + 1, PLAIN);
    match bytes.get(end) {
        Some(b'"') => {
            record.set(field, Shape::Text, at + 1, end);
            Ok(end + 1)
        }
        Some(b'\\') => escaped_string(text, at, field, record),
        Some(b'\n' | b'\r') | None => Err("a string does not end on its line".into()),
        Some(_) => Err("a control character in a string: write it as an escape".into()),
    }
}

#[cold]
fn escaped_string(text: &str, at: usize, field: u32, record: &mut Record) -> Result<usize, Issue> {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    loop {
        end = run(bytes, end, PLAIN);
        match bytes.get(end) {
            Some(b'"') => break,
            Some(b'\\') if bytes.get(end + 1).is_some_and(|b| *b >= b' ') => end += 2,
            Some(b'\\' | b'\n' | b'\r') | None => return Err("a string does not end on its line".into()),
            Some(_) => return Err("a control character in a string: write it as an escape".into()),
        }
    }
    match serde_json::from_str::<String>(&text[at..=end]) {
        Ok(value) => record.set_owned(field, text, &value, false),
        Err(_) => return Err("an escape in a string that JSON does not know".into()),
    }
    Ok(end + 1)
}
