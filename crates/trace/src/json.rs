//! JSON Lines: one flat object per line.
//!
//! Hand-written because `serde_json`, `sonic-rs` and `simd-json` took three times as long per event.
//!
//! A simple line (no escapes, no nesting, no blanks except single ones after punctuation) is read here in one pass over
//! its indexed delimiters. All other lines are read by
//! [`json_general`](crate::json_general), which decides what is valid. Both fill the same record.

use crate::block::EventBlock;
use crate::byte_index::{ByteIndex, JsonDelimiters};
use crate::json_general;
use crate::line_error_kind::LineErrorKind;
use crate::line_loop::{LineLoop, next_line};
use crate::name_table::LookupHint;
use crate::number;
use crate::record::{FieldType, Record};

/// Scanner for chunks of JSON Lines.
pub(crate) struct Json {
    index: ByteIndex<JsonDelimiters>,
    /// Lookup hints: the fields of the last record, in order.
    hints: [LookupHint; HINTS],
}

/// Number of fields with a lookup hint; a power of two.
const HINTS: usize = 16;

impl Json {
    pub(crate) fn new() -> Json {
        Json { index: ByteIndex::new(JsonDelimiters), hints: [LookupHint::NEW; HINTS] }
    }

    /// Decodes all lines of `text`; in strict mode, only up to the first malformed one. Each line ends with a newline.
    pub(crate) fn decode(&mut self, text: &str, record: &mut Record, block: &mut EventBlock, strict: bool) {
        let bytes = text.as_bytes();
        self.index.restart();
        let mut lines = LineLoop::new(strict);
        while let Some((start, line)) = lines.current(bytes) {
            self.index.prepare(bytes);
            record.begin();
            let (end, result) = match self.fast_line(bytes, start, record) {
                Some(end) => (end, record.finish(text, block, line)),
                None => {
                    let end = next_line(bytes, start);
                    self.index.seek(bytes, end);
                    (end, general_line(text, (start, end), record, block, line))
                }
            };
            lines.end_line(bytes, block, end, result);
        }
    }

    /// Scans the line at `at` if it is plain. Returns the start of the next line.
    #[inline(always)]
    fn fast_line(&mut self, text: &[u8], at: usize, record: &mut Record) -> Option<usize> {
        if text[at] != b'{' {
            return None;
        }
        let mut at = after_blank(text, at + 1);
        let mut position = 0;
        loop {
            // All delimiters up to here are consumed, so the next one is the quote.
            if *text.get(at)? != b'"' {
                return None;
            }
            self.index.next();
            let end = self.index.next();
            if *text.get(end)? != b'"' || *text.get(end + 1)? != b':' {
                return None;
            }
            let hint = &mut self.hints[position % HINTS];
            let field = record.schema.field_with_hint(hint, text, at + 1, end);
            position += 1;
            at = self.value(text, after_blank(text, end + 2), field, record)?;
            match *text.get(at)? {
                b',' => at = after_blank(text, at + 1),
                b'}' => break,
                _ => return None,
            }
        }
        let mut end = self.index.next();
        if end != at + 1 {
            return None;
        }
        if text.get(end) == Some(&b'\r') {
            end = self.index.next();
            if end != at + 2 {
                return None;
            }
        }
        (*text.get(end)? == b'\n').then_some(end + 1)
    }

    /// Scans the value at `at` into a field. Returns its end.
    #[inline(always)]
    fn value(&mut self, text: &[u8], at: usize, field: u32, record: &mut Record) -> Option<usize> {
        match *text.get(at)? {
            b'"' => {
                self.index.next();
                let end = self.index.next();
                if *text.get(end)? != b'"' {
                    return None;
                }
                record.set(field, FieldType::Text, at + 1, end);
                Some(end + 1)
            }
            b'-' | b'0'..=b'9' => {
                let number = number::scan(text, at)?;
                record.set_number(field, (at, number.end), number.form);
                Some(number.end)
            }
            b't' => literal(text, at, b"true", FieldType::True, field, record),
            b'f' => literal(text, at, b"false", FieldType::False, field, record),
            b'n' => literal(text, at, b"null", FieldType::Null, field, record),
            _ => None,
        }
    }
}

/// Scans a line that the fast path rejects.
#[cold]
fn general_line(
    text: &str,
    at: (usize, usize),
    record: &mut Record,
    block: &mut EventBlock,
    line: u32,
) -> Result<(), LineErrorKind> {
    record.begin();
    if json_general::read(text, at, record)? { record.finish(text, block, line) } else { Ok(()) }
}

fn literal(
    text: &[u8],
    at: usize,
    word: &[u8],
    field_type: FieldType,
    field: u32,
    record: &mut Record,
) -> Option<usize> {
    let end = at + word.len();
    if text.get(at..end)? != word {
        return None;
    }
    record.set(field, field_type, at, end);
    Some(end)
}

#[inline(always)]
fn after_blank(text: &[u8], at: usize) -> usize {
    at + usize::from(text.get(at) == Some(&b' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use invigil_monitor::event::{EventCatalog, EventKind, Param, ParamSource};
    use proptest::prelude::*;

    fn schema() -> Schema {
        let mut catalog = EventCatalog::default();
        for (name, kind) in [("push", EventKind::Before), ("pop", EventKind::After), ("é", EventKind::Before)]
        {
            let event = catalog.declare(name, kind);
            for field in ["queue", "c", "", "a long name of a field"] {
                let param = Param { source: ParamSource::Name(field.into()), name: "other".into(), ty: None };
                catalog.declare_param(event, &param);
            }
        }
        Schema::new(&catalog)
    }

    /// The event or error that one of the scanners produces for a line.
    fn outcome(line: &str, fast: bool) -> Option<Result<String, String>> {
        let text = format!("{line}\n");
        let mut record = Record::new(schema(), false);
        let mut block = EventBlock::default();
        record.begin();
        let has_record = if fast {
            let mut json = Json::new();
            json.index.prepare(text.as_bytes());
            let end = json.fast_line(text.as_bytes(), 0, &mut record)?;
            assert_eq!(end, text.len(), "{text}");
            Ok(true)
        } else {
            json_general::read(&text, (0, text.len()), &mut record)
        };
        let finished =
            has_record.map_err(LineErrorKind::NotARecord).and_then(|has_record| match has_record {
                true => record.finish(&text, &mut block, 0),
                false => Ok(()),
            });
        Some(finished.map_err(|error| format!("{error:?} {:?}", block.batch)).map(|()| {
            let batch = std::mem::take(&mut block.batch);
            let text = record.complete_text(text);
            let events: Vec<_> = (0..batch.len()).map(|i| (batch.event(i), batch.meta(i).time)).collect();
            let strings: Vec<_> = events
                .iter()
                .flat_map(|(event, _)| event.params)
                .filter_map(|value| value.as_text())
                .map(|(start, len)| &text[start as usize..(start + len) as usize])
                .collect();
            format!(
                "{:?} {strings:?} {}",
                events.iter().map(|(e, t)| (e.id, e.params, t)).collect::<Vec<_>>(),
                block.ignored
            )
        }))
    }

    fn agree(line: &str) {
        if let Some(fast) = outcome(line, true) {
            assert_eq!(Some(fast), outcome(line, false), "{line}");
        }
    }

    #[test]
    fn plain_lines_take_the_fast_path() {
        for line in [
            r#"{"event":"push","queue":"q12345"}"#,
            r#"{"event": "push", "time": 1.25, "queue": 93824992252512}"#,
            r#"{ "event":"pop","kind":"after","queue":null,"c":true,"":false,"x":-1.5e-3}"#,
            "{\"event\":\"push\",\"queue\":1}\r",
        ] {
            assert!(outcome(line, true).is_some(), "{line}");
            agree(line);
        }
    }

    #[test]
    fn unusual_lines_leave_the_fast_path() {
        for line in [
            "",
            "{}",
            r#"{"event":"p\u0075sh"}"#,
            r#"{"event":"push","queue":[1]}"#,
            r#"{"event":"push","queue":01}"#,
            r#"{"event":"push","queue":1"#,
            r#"{"event":"push",}"#,
            r#"{"event":"push"}}"#,
            "{\"event\":\"pu\tsh\"}",
            "{\"event\":\"push\"}\r\r",
        ] {
            assert!(outcome(line, true).is_none(), "{line}");
        }
    }

    /// A JSON value, mostly plain.
    fn json_value() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<i64>().prop_map(|n| n.to_string()),
            "(0|[1-9][0-9]{0,22})(\\.[0-9]{1,4})?([eE][-+]?[0-9]{1,3})?",
            "[a-zé0-9 ]{0,20}".prop_map(|s| format!("\"{s}\"")),
            any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap()),
            prop::sample::select(vec!["true", "false", "null", "[1, {\"a\": 2}]", "{}"])
                .prop_map(String::from),
        ]
    }

    fn json_line() -> impl Strategy<Value = String> {
        let key = prop::sample::select(vec![
            "event",
            "time",
            "kind",
            "queue",
            "c",
            "other",
            "",
            "thread",
            "a long name of a field",
            "é",
        ]);
        let name = prop::sample::select(vec!["push", "pop", "é", "other"]);
        let fields = prop::collection::vec((key, json_value()), 0..6);
        (name, fields, any::<[bool; 2]>()).prop_map(|(name, fields, blanks)| {
            let [colon, comma] = blanks.map(|blank| if blank { " " } else { "" });
            let mut line = format!("{{\"event\":{colon}\"{name}\"");
            for (key, value) in fields {
                line += &format!(",{comma}\"{key}\":{colon}{value}");
            }
            line + "}"
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn fast_and_general_scanner_agree(line in json_line()) {
            agree(&line);
        }

        #[test]
        fn fast_and_general_scanner_agree_on_corrupt_lines(
            line in json_line(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), 0u8..3, any::<u8>()), 1..4),
        ) {
            let mut bytes = line.into_bytes();
            for (at, what, byte) in damage {
                let at = at.index(bytes.len());
                let byte = if byte < 128 { b"\"\\{}[]:, \t\r0-.eE1truenul"[byte as usize % 24] } else { byte & 127 };
                match what {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ => drop(bytes.remove(at)),
                }
                if bytes.is_empty() {
                    return Ok(());
                }
            }
            let line = String::from_utf8_lossy(&bytes).replace('\n', " ");
            agree(&line);
        }
    }
}
