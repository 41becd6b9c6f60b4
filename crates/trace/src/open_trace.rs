//! An open input with its format: yields chunks of lines without the CSV header.

use crate::chunks::{Chunk, Chunks};
use crate::csv::{self, Header};
use crate::error::TraceError;
use crate::format::Format;
use crate::input::{Input, OpenInput};
use crate::options::ReadOptions;
use crate::schema::Schema;
use memchr::{memchr, memrchr};

/// The format of an input, with the header if it is CSV.
#[derive(Clone, Debug)]
pub(crate) enum InputFormat {
    JsonLines,
    Csv(Header),
    PlainLines,
}

impl InputFormat {
    pub(crate) fn format(&self) -> Format {
        match self {
            InputFormat::JsonLines => Format::JsonLines,
            InputFormat::Csv(_) => Format::Csv,
            InputFormat::PlainLines => Format::PlainLines,
        }
    }
}

/// An open input whose format is known.
pub(crate) struct OpenTrace {
    pub(crate) name: String,
    pub(crate) format: InputFormat,
    /// Number of lines consumed before the first chunk.
    pub(crate) lines_before: u64,
    /// How the input is compressed, if it is.
    pub(crate) compression: Option<&'static str>,
    chunks: Chunks,
    /// The chunk that was read to detect the format, until it is returned.
    first_chunk: Option<Chunk>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl OpenTrace {
    pub(crate) fn open(
        input: Input,
        schema: &Schema,
        options: &ReadOptions,
    ) -> Result<OpenTrace, TraceError> {
        let OpenInput { name, reader, compression } = input.open()?;
        let chunks = Chunks::new(reader, options.clamped_chunk_bytes(), options.clamped_max_line());
        let format = InputFormat::PlainLines;
        let mut trace = OpenTrace { name, format, lines_before: 0, compression, chunks, first_chunk: None };
        trace.read_first_line(schema, options.format)?;
        Ok(trace)
    }

    /// Reads the next chunk into `buffer`. Returns `None` at the end.
    pub(crate) fn next(&mut self, buffer: Vec<u8>) -> std::io::Result<Option<Chunk>> {
        match self.first_chunk.take() {
            Some(chunk) => Ok(Some(chunk)),
            None => self.chunks.next(buffer),
        }
    }

    /// The error for a failed read at line `line`.
    pub(crate) fn read_error(&self, line: u64, source: std::io::Error) -> TraceError {
        TraceError::Read { name: self.name.clone(), line, compression: self.compression, source }
    }

    /// Sets the format, by the first non-blank line unless one was requested, and consumes a header.
    fn read_first_line(&mut self, schema: &Schema, requested: Option<Format>) -> Result<(), TraceError> {
        let mut at_start = true;
        loop {
            let line = self.lines_before + 1;
            let chunk = self.chunks.next(Vec::new()).map_err(|source| self.read_error(line, source))?;
            match chunk {
                None => return self.set_format_of_empty(requested),
                Some(Chunk::TooLong { start, bytes, offset }) => {
                    let text = String::from_utf8_lossy(&start).into_owned();
                    self.first_chunk = Some(Chunk::TooLong { start, bytes, offset });
                    return self.set_format(&text, line, schema, requested);
                }
                Some(Chunk::Lines { mut text, mut offset }) => {
                    if at_start && text.starts_with(BYTE_ORDER_MARK) {
                        text.drain(..BYTE_ORDER_MARK.len());
                        offset += BYTE_ORDER_MARK.len() as u64;
                    }
                    at_start = false;
                    let Some(content_start) = text.iter().position(|byte| !byte.is_ascii_whitespace()) else {
                        self.lines_before += newlines(&text);
                        continue;
                    };
                    // A header may start with a tab: its first cell is empty then.
                    let line_start = memrchr(b'\n', &text[..content_start]).map_or(0, |at| at + 1);
                    let line = line + newlines(&text[..line_start]);
                    let end =
                        memchr(b'\n', &text[line_start..]).map_or(text.len(), |len| line_start + len + 1);
                    let first_line = String::from_utf8_lossy(&text[line_start..end]).into_owned();
                    self.set_format(&first_line, line, schema, requested)?;
                    if let InputFormat::Csv(_) = self.format {
                        self.lines_before = line;
                        text.drain(..end);
                        self.first_chunk = Some(Chunk::Lines { text, offset: offset + end as u64 });
                    } else {
                        self.first_chunk = Some(Chunk::Lines { text, offset });
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Sets the format of an empty trace. If CSV was requested, the missing header is an error.
    fn set_format_of_empty(&mut self, requested: Option<Format>) -> Result<(), TraceError> {
        match requested {
            Some(Format::Csv) => {
                let message = "the file is empty".to_owned();
                Err(TraceError::Header { name: self.name.clone(), line: 1, message })
            }
            Some(Format::JsonLines) => {
                self.format = InputFormat::JsonLines;
                Ok(())
            }
            Some(Format::PlainLines) | None => Ok(()),
        }
    }

    /// Sets the format of a trace with this first line, which has number `line`.
    fn set_format(
        &mut self,
        first_line: &str,
        line: u64,
        schema: &Schema,
        requested: Option<Format>,
    ) -> Result<(), TraceError> {
        let first_line = first_line.trim_start_matches('\u{feff}');
        let start = first_line.trim();
        if requested.is_none() && (start == "[" || start.starts_with("[{")) {
            let remedy = "write one object per line: jq -c '.[]' FILE | invigil check -p PROPERTY -";
            return Err(TraceError::Unsupported { name: self.name.clone(), format: "a JSON array", remedy });
        }
        let detect = || match Format::detect(first_line) {
            Format::PlainLines if csv::state_table_delimiter(first_line, schema).is_some() => Format::Csv,
            format => format,
        };
        self.format = match requested.unwrap_or_else(detect) {
            Format::JsonLines => InputFormat::JsonLines,
            Format::PlainLines => InputFormat::PlainLines,
            Format::Csv => match Header::parse(first_line, schema) {
                Ok(_) if self.first_chunk.is_some() => {
                    let message = "the header exceeds the maximum line length".to_owned();
                    return Err(TraceError::Header { name: self.name.clone(), line, message });
                }
                Ok(header) => InputFormat::Csv(header),
                Err(error) => {
                    let message = error.into_owned();
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
