//! An open input with its format: yields chunks of lines without the CSV header.

use crate::chunks::{Chunk, Chunks};
use crate::csv::{self, Header};
use crate::error::TraceError;
use crate::format::Format;
use crate::input::Input;
use crate::options::ReadOptions;
use crate::schema::Schema;
use memchr::memchr;

/// The format of an input, with its header if there is one.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    JsonLines,
    Csv(Header),
    Line,
}

impl Layout {
    pub(crate) fn format(&self) -> Format {
        match self {
            Layout::JsonLines => Format::JsonLines,
            Layout::Csv(_) => Format::Csv,
            Layout::Line => Format::Line,
        }
    }
}

/// An open input.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    /// Number of lines consumed before the first chunk.
    pub(crate) lines_before: u64,
    pub(crate) compression: Option<&'static str>,
    chunks: Chunks,
    /// The first chunk, which was read to detect the format.
    first: Option<Chunk>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Source {
    pub(crate) fn open(input: Input, schema: &Schema, options: &ReadOptions) -> Result<Source, TraceError> {
        let opened = input.open()?;
        let chunks = Chunks::new(opened.reader, options.block_bytes(), options.line_bytes());
        let layout = Layout::Line;
        let (name, compression) = (opened.name, opened.compression);
        let mut source = Source { name, layout, lines_before: 0, compression, chunks, first: None };
        source.detect(schema, options.format)?;
        Ok(source)
    }

    /// Reads the next chunk into `buffer`. Returns `None` at the end.
    pub(crate) fn next(&mut self, buffer: Vec<u8>) -> std::io::Result<Option<Chunk>> {
        match self.first.take() {
            Some(chunk) => Ok(Some(chunk)),
            None => self.chunks.next(buffer),
        }
    }

    /// The error for a failed read at line `line`.
    pub(crate) fn read_error(&self, line: u64, source: std::io::Error) -> TraceError {
        TraceError::Read { name: self.name.clone(), line, compression: self.compression, source }
    }

    /// Detects the format from the first non-blank line, and consumes a header.
    fn detect(&mut self, schema: &Schema, format: Option<Format>) -> Result<(), TraceError> {
        let mut at_start = true;
        loop {
            let line = self.lines_before + 1;
            let chunk = self.chunks.next(Vec::new()).map_err(|source| self.read_error(line, source))?;
            match chunk {
                None => return self.empty(format),
                Some(Chunk::TooLong { start, bytes, offset }) => {
                    let text = String::from_utf8_lossy(&start).into_owned();
                    self.first = Some(Chunk::TooLong { start, bytes, offset });
                    return self.decide(&text, line, schema, format);
                }
                Some(Chunk::Lines { mut text, mut offset }) => {
                    if at_start && text.starts_with(BYTE_ORDER_MARK) {
                        text.drain(..BYTE_ORDER_MARK.len());
                        offset += BYTE_ORDER_MARK.len() as u64;
                    }
                    at_start = false;
                    let Some(found) = text.iter().position(|byte| !byte.is_ascii_whitespace()) else {
                        self.lines_before += newlines(&text);
                        continue;
                    };
                    let line = line + newlines(&text[..found]);
                    let end = memchr(b'\n', &text[found..]).map_or(text.len(), |len| found + len + 1);
                    let first_line = String::from_utf8_lossy(&text[found..end]).into_owned();
                    self.decide(&first_line, line, schema, format)?;
                    if let Layout::Csv(_) = self.layout {
                        self.lines_before = line;
                        text.drain(..end);
                        self.first = Some(Chunk::Lines { text, offset: offset + end as u64 });
                    } else {
                        self.first = Some(Chunk::Lines { text, offset });
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Handles an empty trace. It simply has no events, unless CSV was requested: then the missing header is an error.
    fn empty(&mut self, format: Option<Format>) -> Result<(), TraceError> {
        match format {
            Some(Format::Csv) => {
                let message = "the file is empty".to_owned();
                Err(TraceError::Header { name: self.name.clone(), line: 1, message })
            }
            Some(Format::JsonLines) => {
                self.layout = Layout::JsonLines;
                Ok(())
            }
            Some(Format::Line) | None => Ok(()),
        }
    }

    fn decide(
        &mut self,
        first_line: &str,
        line: u64,
        schema: &Schema,
        format: Option<Format>,
    ) -> Result<(), TraceError> {
        let first_line = first_line.trim_start_matches('\u{feff}');
        let start = first_line.trim();
        if format.is_none() && (start == "[" || start.starts_with("[{")) {
            let remedy = "write one object per line: jq -c '.[]' FILE | invigil check -p PROPERTY -";
            return Err(TraceError::Unsupported { name: self.name.clone(), what: "a JSON array", remedy });
        }
        let guessed = || match Format::of_line(first_line) {
            Format::Line if csv::delimiter_of_states(first_line, schema).is_some() => Format::Csv,
            format => format,
        };
        self.layout = match format.unwrap_or_else(guessed) {
            Format::JsonLines => Layout::JsonLines,
            Format::Line => Layout::Line,
            Format::Csv => match Header::parse(first_line, schema) {
                Ok(_) if self.first.is_some() => {
                    let message = "the header exceeds the maximum line length".to_owned();
                    return Err(TraceError::Header { name: self.name.clone(), line, message });
                }
                Ok(header) => Layout::Csv(header),
                Err(issue) => {
                    let message = issue.into_owned();
                    return Err(TraceError::Header { name: self.name.clone(), line, message });
                }
            },
        };
        Ok(())
    }
}

fn newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}
