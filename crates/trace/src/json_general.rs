//! General JSON scanner: escapes, nested values, unusual spacing. Slower; defines which lines are valid.

use crate::line_error_kind::ScanError;
use crate::name_table::NONE;
use crate::number;
use crate::record::{FieldType, Record};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Scans the line at `start..end` of `text` into the record. Returns whether it is not blank.
pub(crate) fn read(text: &str, (start, end): (usize, usize), record: &mut Record) -> Result<bool, ScanError> {
    let line = &text[start..end];
    if line.trim_ascii().is_empty() {
        return Ok(false);
    }
    let mut reader = serde_json::Deserializer::from_str(line);
    let fields = Fields { text, start, record };
    match reader.deserialize_map(fields).and_then(|()| reader.end()) {
        Ok(()) => Ok(true),
        Err(error) if error.is_eof() => Err("unterminated JSON object".into()),
        Err(_) if !line.trim_ascii_start().starts_with('{') => Err("not a JSON object".into()),
        Err(error) => {
            let message = error.to_string();
            Err(format!("invalid JSON at column {}: {}", error.column(), without_position(&message)).into())
        }
    }
}

/// Strips the position from a message: "expected value" from "expected value at line 1 column 7".
fn without_position(message: &str) -> &str {
    message.split(" at line ").next().unwrap_or_default()
}

struct Fields<'a> {
    text: &'a str,
    /// Start of the line.
    start: usize,
    record: &'a mut Record,
}

impl<'de> Visitor<'de> for Fields<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((Text(key), value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
            let field = self.record.schema.field(key.as_bytes(), 0, key.len());
            self.set(field, value.get())
                .map_err(|error| A::Error::custom(self.with_column(&error, value.get())))?;
        }
        Ok(())
    }
}

impl Fields<'_> {
    /// Adds the position in the line to an error in a value, in the form that serde_json uses.
    fn with_column(&self, error: &serde_json::Error, raw: &str) -> String {
        let before = raw.as_ptr().addr() - self.text.as_ptr().addr() - self.start;
        let message = error.to_string();
        format!("{} at line 1 column {}", without_position(&message), before + error.column())
    }

    /// Sets a field to a value that is valid JSON, except possibly for its escapes.
    fn set(&mut self, field: u32, raw: &str) -> serde_json::Result<()> {
        // The value is a slice of the text: its address determines the offset.
        let start = raw.as_ptr().addr() - self.text.as_ptr().addr();
        let end = start + raw.len();
        match raw.as_bytes().first() {
            Some(b'"') if !raw.contains('\\') => self.record.set(field, FieldType::Text, start + 1, end - 1),
            // Unread text is checked as well if it may be invalid, such as half of a surrogate pair.
            Some(b'"') if field != NONE || raw.contains("\\u") => {
                let value: String = serde_json::from_str(raw)?;
                self.record.set_decoded(field, self.text, &value, false);
            }
            Some(b'"') => {}
            Some(b't') => self.record.set(field, FieldType::True, start, end),
            Some(b'f') => self.record.set(field, FieldType::False, start, end),
            Some(b'n') => self.record.set(field, FieldType::Null, start, end),
            Some(b'[' | b'{') => self.record.set(field, FieldType::Nested, start, end),
            _ => {
                if let Some(number) = number::scan(raw.as_bytes(), 0) {
                    self.record.set_number(field, (start, end), number.form);
                }
            }
        }
        Ok(())
    }
}

/// A string, borrowed if it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text<'de>, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        from.deserialize_str(Reader)
    }
}
