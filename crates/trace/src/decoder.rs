//! Decoding a chunk of lines to a block of events, for all formats.

use crate::block::EventBlock;
use crate::chunks::Chunk;
use crate::csv::Csv;
use crate::json::Json;
use crate::line;
use crate::line_errors::{LineErrors, TracePosition};
use crate::line_fault::LineFault;
use crate::options::ReadOptions;
use crate::record::Record;
use crate::schema::Schema;
use crate::source::Layout;
use memchr::memchr;

/// Decoder for the chunks of an input. Each thread has its own.
pub(crate) struct Decoder {
    record: Record,
    format: Scanner,
    input: usize,
    strict: bool,
    max_line: usize,
}

enum Scanner {
    Json(Box<Json>),
    Csv(Csv),
    Line,
}

impl Decoder {
    /// Creates a decoder for input number `input`.
    pub(crate) fn new(layout: &Layout, input: usize, schema: &Schema, options: &ReadOptions) -> Decoder {
        let format = match layout {
            Layout::JsonLines => Scanner::Json(Box::new(Json::new())),
            Layout::Csv(header) => Scanner::Csv(Csv::new(header.clone())),
            Layout::Line => Scanner::Line,
        };
        let record = Record::new(schema.clone(), options.strict);
        Decoder { record, format, input, strict: options.strict, max_line: options.line_bytes() }
    }

    /// Decodes a chunk into an empty block, in which line numbers start at 0.
    pub(crate) fn decode(&mut self, chunk: Chunk, block: &mut EventBlock) {
        block.input = self.input;
        match chunk {
            Chunk::TooLong { start, bytes, offset } => {
                (block.lines, block.bytes, block.offset) = (1, bytes, offset);
                let message =
                    format!("the line has {bytes} bytes, which exceeds the limit of {}", self.max_line);
                block.fault(0, &start, LineFault::Line(message.into()));
            }
            Chunk::Lines { text, offset } => {
                (block.bytes, block.offset) = (text.len() as u64, offset);
                match String::from_utf8(text) {
                    Ok(text) => self.lines(text, block),
                    Err(bad) => self.bad_text(bad.into_bytes(), block),
                }
            }
        }
    }

    fn lines(&mut self, text: String, block: &mut EventBlock) {
        self.record.restart();
        match &mut self.format {
            Scanner::Json(json) => json.decode(&text, &mut self.record, block, self.strict),
            Scanner::Csv(csv) => csv.decode(&text, &mut self.record, block, self.strict),
            Scanner::Line => line::decode(&text, &mut self.record, block, self.strict),
        }
        block.batch.text = self.record.complete(text);
    }

    /// Decodes a chunk with invalid UTF-8: invalid lines are blanked and counted, the others are decoded.
    #[cold]
    fn bad_text(&mut self, mut text: Vec<u8>, block: &mut EventBlock) {
        let mut bad = LineErrors::default();
        let (mut at, mut line) = (0, 0);
        while at < text.len() {
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len);
            if std::str::from_utf8(&text[at..end]).is_err() {
                let issue = "the line is not valid UTF-8".into();
                bad.add(TracePosition { input: self.input, line }, &text[at..end], LineFault::Line(issue));
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
        self.lines(String::from_utf8_lossy(&text).into_owned(), block);
        // A strict reader has stopped at its first error, which precedes the blanked lines.
        if !self.strict || block.line_errors.is_empty() {
            bad.merge(&block.line_errors);
            block.line_errors = bad;
        }
    }
}
