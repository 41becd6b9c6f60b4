//! CSV: the header contains the field names, each line is a record.
//!
//! Hand-written because the crate `csv` yields single records; this reads chunks with the same byte index as JSON Lines.
//!
//! Quoting follows RFC 4180, within a line. A line without quotes is read in one pass over its indexed delimiters; a
//! line with quotes is split cell by cell.

use crate::block::EventBlock;
use crate::byte_index::{ByteIndex, CsvDelimiters};
use crate::line_error_kind::{LineErrorKind, ScanError};
use crate::line_loop::{LineLoop, next_line};
use crate::name_table::NONE;
use crate::record::Record;
use crate::schema::{EVENT, Schema};
use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// The header of a CSV file.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    delimiter: u8,
    /// The field id of each column.
    columns: Vec<u32>,
    /// The names of the columns that no property reads.
    pub(crate) unread_columns: Vec<String>,
}

/// The supported delimiters, in order of preference.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// The delimiter of a line, if it is a header: one of its cells is `event`.
pub(crate) fn header_delimiter(line: &str) -> Option<u8> {
    DELIMITERS.into_iter().find(|delimiter| {
        line.split(char::from(*delimiter)).any(|cell| matches!(cell.trim_ascii(), "event" | "\"event\""))
    })
}

/// The delimiter of a line, if it is the header of a table of states: it has no cell `event`, but one that names
/// a state field. An event with arguments is not a header.
pub(crate) fn state_table_delimiter(line: &str, schema: &Schema) -> Option<u8> {
    let is_state_field = |cell: &str| {
        let name = cell.trim_ascii();
        let name = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(name);
        schema.is_state_field(schema.field(name.as_bytes(), 0, name.len()))
    };
    let mut candidates = DELIMITERS.into_iter().filter(|delimiter| line.contains(char::from(*delimiter)));
    candidates.find(|delimiter| !line.contains('(') && line.split(char::from(*delimiter)).any(is_state_field))
}

impl Header {
    /// Parses a header line.
    pub(crate) fn parse(line: &str, schema: &Schema) -> Result<Header, ScanError> {
        let delimiter = match header_delimiter(line).or_else(|| state_table_delimiter(line, schema)) {
            Some(delimiter) => delimiter,
            // A table with a single column has no delimiter.
            None if schema.is_state_field(single_field(line, schema)) => DELIMITERS[0],
            None if schema.state_event_id().is_some() => {
                return Err(
                    "the header has neither a column `event` nor a column that a property reads".into()
                );
            }
            None => return Err("the header has no column `event`".into()),
        };
        let (mut columns, mut unread_columns) = (Vec::new(), Vec::new());
        let line = line.trim_end_matches(['\r', '\n']);
        each_cell(line.as_bytes(), delimiter, |cell| {
            let name = cell.value(line);
            let field = schema.field(name.as_bytes(), 0, name.len());
            columns.push(field);
            if field == NONE {
                unread_columns.push(name.into_owned());
            }
        })?;
        if columns.iter().filter(|column| **column == EVENT).count() > 1 {
            return Err("the header has two columns `event`".into());
        }
        Ok(Header { delimiter, columns, unread_columns })
    }
}

/// The field id of a line that consists of a single name.
fn single_field(line: &str, schema: &Schema) -> u32 {
    let name = line.trim_ascii();
    schema.field(name.as_bytes(), 0, name.len())
}

/// Scanner for chunks of CSV.
pub(crate) struct Csv {
    header: Header,
    index: ByteIndex<CsvDelimiters>,
}

impl Csv {
    pub(crate) fn new(header: Header) -> Csv {
        let index = ByteIndex::new(CsvDelimiters { delimiter: header.delimiter });
        Csv { header, index }
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
                    (end, self.general_line(text, (start, end), record, block, line))
                }
            };
            lines.end_line(bytes, block, end, result);
        }
    }

    /// Scans the line at `at` if it has the right number of cells and no quotes. Returns the start of the next line.
    #[inline(always)]
    fn fast_line(&mut self, text: &[u8], at: usize, record: &mut Record) -> Option<usize> {
        let (last, before) = self.header.columns.split_last()?;
        let mut start = at;
        for field in before {
            let end = self.index.next();
            if *text.get(end)? != self.header.delimiter {
                return None;
            }
            set_cell(record, *field, text, (start, end));
            start = end + 1;
        }
        // With a single column, the line may be blank, which the general scanner detects.
        if before.is_empty() && text[start].is_ascii_whitespace() {
            return None;
        }
        let end = self.index.next();
        let newline = match *text.get(end)? {
            b'\r' => self.index.next(),
            _ => end,
        };
        if *text.get(newline)? != b'\n' || newline > end + 1 {
            return None;
        }
        set_cell(record, *last, text, (start, end));
        Some(newline + 1)
    }

    /// Scans a line that the fast path rejects.
    #[cold]
    fn general_line(
        &self,
        text: &str,
        at: (usize, usize),
        record: &mut Record,
        block: &mut EventBlock,
        line: u32,
    ) -> Result<(), LineErrorKind> {
        record.begin();
        if self.set_cells(text, at, record)? { record.finish(text, block, line) } else { Ok(()) }
    }

    /// Sets the fields to the cells of the line at `start..end`. Returns whether it is not blank.
    fn set_cells(
        &self,
        text: &str,
        (start, end): (usize, usize),
        record: &mut Record,
    ) -> Result<bool, ScanError> {
        let line = text[start..end].trim_end_matches(['\r', '\n']);
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        if memchr(0, line.as_bytes()).is_some() {
            return Err("the line contains a NUL byte".into());
        }
        let (columns, mut count) = (&self.header.columns, 0);
        each_cell(line.as_bytes(), self.header.delimiter, |cell| {
            let field = columns.get(count).copied().unwrap_or(NONE);
            count += 1;
            let at = (start + cell.start, start + cell.end);
            match (cell.is_quoted, cell.has_escapes) {
                (false, _) => set_cell(record, field, text.as_bytes(), at),
                (true, false) => record.set_cell(field, text.as_bytes(), at, true),
                (true, true) => record.set_decoded(field, text, &cell.value(line), true),
            }
        })?;
        if count != columns.len() {
            let (cells, columns) = (plural(count), columns.len());
            return Err(format!("the line has {cells}, the header {columns}").into());
        }
        Ok(true)
    }
}

fn plural(cells: usize) -> String {
    if cells == 1 { "1 cell".into() } else { format!("{cells} cells") }
}

/// Sets a field to an unquoted cell without surrounding blanks, unless it is empty.
#[inline(always)]
fn set_cell(record: &mut Record, field: u32, text: &[u8], (mut start, mut end): (usize, usize)) {
    while start < end && matches!(text[start], b' ' | b'\t') {
        start += 1;
    }
    while start < end && matches!(text[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    if start < end {
        record.set_cell(field, text, (start, end), false);
    }
}

/// A cell of a line: the range of its text, without quotes.
struct CellRange {
    start: usize,
    end: usize,
    is_quoted: bool,
    /// Whether the text contains doubled quotes, as escapes of quotes.
    has_escapes: bool,
}

impl CellRange {
    fn value<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let raw = &line[self.start..self.end];
        match (self.is_quoted, self.has_escapes) {
            (false, _) => raw.trim_ascii().into(),
            (true, false) => raw.into(),
            (true, true) => raw.replace("\"\"", "\"").into(),
        }
    }
}

/// Passes the cells of a line to `visit`.
fn each_cell(line: &[u8], delimiter: u8, mut visit: impl FnMut(&CellRange)) -> Result<(), ScanError> {
    let mut at = 0;
    loop {
        let blanks = line[at..].iter().take_while(|b| matches!(b, b' ' | b'\t') && **b != delimiter).count();
        let cell = if line.get(at + blanks) == Some(&b'"') {
            quoted_cell(line, at + blanks + 1)?
        } else {
            let end = memchr2(delimiter, b'"', &line[at..]).map_or(line.len(), |len| at + len);
            if line.get(end) == Some(&b'"') {
                return Err("quote inside an unquoted cell".into());
            }
            CellRange { start: at, end, is_quoted: false, has_escapes: false }
        };
        visit(&cell);
        let after = cell.end + usize::from(cell.is_quoted);
        let blanks =
            line[after..].iter().take_while(|b| matches!(b, b' ' | b'\t') && **b != delimiter).count();
        match line.get(after + blanks) {
            None => return Ok(()),
            Some(byte) if *byte == delimiter => at = after + blanks + 1,
            Some(_) => return Err("text after the closing quote of a cell".into()),
        }
    }
}

/// Parses the quoted cell whose text starts at `start`.
fn quoted_cell(line: &[u8], start: usize) -> Result<CellRange, ScanError> {
    let (mut at, mut has_escapes) = (start, false);
    loop {
        let Some(len) = memchr(b'"', &line[at..]) else {
            return Err("unterminated quoted cell (line breaks in cells are not supported)".into());
        };
        at += len;
        if line.get(at + 1) != Some(&b'"') {
            return Ok(CellRange { start, end: at, is_quoted: true, has_escapes });
        }
        has_escapes = true;
        at += 2;
    }
}
