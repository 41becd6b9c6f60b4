//! Decoding a chunk of lines to a block of events, for all formats.

use crate::block::EventBlock;
use crate::chunks::Chunk;
use crate::csv::Csv;
use crate::json::Json;
use crate::line_error_kind::LineErrorKind;
use crate::line_errors::{LineErrors, TracePosition};
use crate::open_trace::InputFormat;
use crate::options::ReadOptions;
use crate::plain_lines;
use crate::record::Record;
use crate::schema::Schema;
use memchr::memchr;

/// Decoder for the chunks of an input. Each thread has its own.
pub(crate) struct Decoder {
    record: Record,
    scanner: Scanner,
    input: usize,
    strict: bool,
    max_line: usize,
}

/// The scanner of the input's format.
enum Scanner {
    Json(Box<Json>),
    Csv(Csv),
    PlainLines,
}

impl Decoder {
    /// Creates a decoder for input number `input`.
    pub(crate) fn new(format: &InputFormat, input: usize, schema: &Schema, options: &ReadOptions) -> Decoder {
        let scanner = match format {
            InputFormat::JsonLines => Scanner::Json(Box::new(Json::new())),
            InputFormat::Csv(header) => Scanner::Csv(Csv::new(header.clone())),
            InputFormat::PlainLines => Scanner::PlainLines,
        };
        let record = Record::new(schema.clone(), options.strict);
        Decoder { record, scanner, input, strict: options.strict, max_line: options.clamped_max_line() }
    }

    /// Decodes a chunk into an empty block, in which line numbers start at 0.
    pub(crate) fn decode(&mut self, chunk: Chunk, block: &mut EventBlock) {
        block.input = self.input;
        match chunk {
            Chunk::TooLong { start, bytes, offset } => {
                (block.lines, block.bytes, block.offset) = (1, bytes, offset);
                let message =
                    format!("the line has {bytes} bytes, which exceeds the limit of {}", self.max_line);
                block.add_line_error(0, &start, LineErrorKind::NotARecord(message.into()));
            }
            Chunk::Lines { text, offset } => {
                (block.bytes, block.offset) = (text.len() as u64, offset);
                match String::from_utf8(text) {
                    Ok(text) => self.decode_lines(text, block),
                    Err(error) => self.decode_invalid_utf8(error.into_bytes(), block),
                }
            }
        }
    }

    fn decode_lines(&mut self, text: String, block: &mut EventBlock) {
        self.record.begin_chunk();
        match &mut self.scanner {
            Scanner::Json(json) => json.decode(&text, &mut self.record, block, self.strict),
            Scanner::Csv(csv) => csv.decode(&text, &mut self.record, block, self.strict),
            Scanner::PlainLines => plain_lines::decode(&text, &mut self.record, block, self.strict),
        }
        block.batch.text = self.record.complete_text(text);
    }

    /// Decodes a chunk with invalid UTF-8: invalid lines are blanked and counted, the others are decoded.
    #[cold]
    fn decode_invalid_utf8(&mut self, mut text: Vec<u8>, block: &mut EventBlock) {
        let mut utf8_errors = LineErrors::default();
        let (mut at, mut line) = (0, 0);
        while at < text.len() {
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len);
            if std::str::from_utf8(&text[at..end]).is_err() {
                let error = LineErrorKind::NotARecord("the line is not valid UTF-8".into());
                utf8_errors.add(TracePosition { input: self.input, line }, &text[at..end], error);
                if self.strict {
                    text.truncate(at);
                    break;
                }
                text[at..end].fill(b' ');
            }
            line += 1;
            at = end + 1;
        }
        // All invalid lines are blank now, so nothing is replaced.
        self.decode_lines(String::from_utf8_lossy(&text).into_owned(), block);
        // A strict reader has stopped at its first error, which precedes the blanked lines.
        if !self.strict || block.line_errors.is_empty() {
            utf8_errors.merge(&block.line_errors);
            block.line_errors = utf8_errors;
        }
    }
}
