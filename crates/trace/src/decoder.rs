//! From a chunk of lines to a block of events, in whatever format.

use crate::block::Block;
use crate::chunks::Chunk;
use crate::csv::Csv;
use crate::fault::Fault;
use crate::json::Json;
use crate::line;
use crate::options::Options;
use crate::problems::{Place, Problems};
use crate::record::Record;
use crate::schema::Schema;
use crate::source::Layout;
use memchr::memchr;

/// Decodes the chunks of an input. Each thread has its own.
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
    /// A decoder for input number `input`, which is laid out like this.
    pub(crate) fn new(layout: &Layout, input: usize, schema: &Schema, options: &Options) -> Decoder {
        let format = match layout {
            Layout::JsonLines => Scanner::Json(Box::new(Json::new())),
            Layout::Csv(header) => Scanner::Csv(Csv::new(header.clone())),
            Layout::Line => Scanner::Line,
        };
        let record = Record::new(schema.clone(), options.strict);
        Decoder { record, format, input, strict: options.strict, max_line: options.line_bytes() }
    }

    /// Decodes a chunk into an empty block. Line numbers count from zero in it.
    pub(crate) fn decode(&mut self, chunk: Chunk, block: &mut Block) {
        block.input = self.input;
        match chunk {
            Chunk::TooLong { start, bytes, offset } => {
                (block.lines, block.bytes, block.offset) = (1, bytes, offset);
                let message = format!("the line has {bytes} bytes, more than the limit of {}", self.max_line);
                block.fault(0, &start, Fault::Line(message.into()));
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

    fn lines(&mut self, text: String, block: &mut Block) {
        self.record.restart();
        match &mut self.format {
            Scanner::Json(json) => json.decode(&text, &mut self.record, block, self.strict),
            Scanner::Csv(csv) => csv.decode(&text, &mut self.record, block, self.strict),
            Scanner::Line => line::decode(&text, &mut self.record, block, self.strict),
        }
        block.batch.text = self.record.complete(text);
    }

    /// Decodes lines of which some are not UTF-8: those are blanked and counted, the others are read.
    #[cold]
    fn bad_text(&mut self, mut text: Vec<u8>, block: &mut Block) {
        let mut bad = Problems::default();
        let (mut at, mut line) = (0, 0);
        while at < text.len() {
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len);
            if std::str::from_utf8(&text[at..end]).is_err() {
                let issue = "the line is not valid UTF-8".into();
                bad.add(Place { input: self.input, line }, &text[at..end], Fault::Line(issue));
                if self.strict {
                    text.truncate(at);
                    break;
                }
                text[at..end].fill(b' ');
            }
            line += 1;
            at = end + 1;
        }
        // Nothing is left to be replaced.
        self.lines(String::from_utf8_lossy(&text).into_owned(), block);
        // A strict reader has stopped at the first, which is before those that were blanked.
        if !self.strict || block.problems.is_empty() {
            bad.merge(&block.problems);
            block.problems = bad;
        }
    }
}
