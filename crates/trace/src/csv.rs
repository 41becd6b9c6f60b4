//! CSV: the header names the fields, each line is a record.
//!
//! Quoting is RFC 4180's, within a line. A line without quotes is read in one pass over its marks; one with
//! quotes is taken apart cell by cell.

use crate::block::Block;
use crate::fault::{Fault, Issue};
use crate::lines::{each_line, next_line};
use crate::marks::{CsvMarks, Marks};
use crate::record::Record;
use crate::schema::{EVENT, Schema};
use crate::words::NONE;
use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// The header of a CSV file.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    delimiter: u8,
    /// The number of each column's field.
    columns: Vec<u32>,
    /// The names of the columns that nobody asks for.
    pub(crate) unread: Vec<String>,
}

/// The delimiters that a header may use, the usual one first.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// The delimiter of a header line, if it is one: some cell of it is `event`.
pub(crate) fn delimiter(line: &str) -> Option<u8> {
    DELIMITERS.into_iter().find(|delimiter| {
        line.split(char::from(*delimiter)).any(|cell| matches!(cell.trim_ascii(), "event" | "\"event\""))
    })
}

/// The delimiter of a header line of states, if it is one: it has no cell `event`, but one that a property
/// looks for in such records. An event with arguments is no header.
pub(crate) fn delimiter_of_states(line: &str, schema: &Schema) -> Option<u8> {
    let is_wanted = |cell: &str| {
        let name = cell.trim_ascii();
        let name = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(name);
        schema.tells_state(schema.field(name.as_bytes(), 0, name.len()))
    };
    let mut fitting = DELIMITERS.into_iter().filter(|delimiter| line.contains(char::from(*delimiter)));
    fitting.find(|delimiter| !line.contains('(') && line.split(char::from(*delimiter)).any(is_wanted))
}

impl Header {
    /// Reads a header line.
    pub(crate) fn parse(line: &str, schema: &Schema) -> Result<Header, Issue> {
        let delimiter = match delimiter(line).or_else(|| delimiter_of_states(line, schema)) {
            Some(delimiter) => delimiter,
            // A table of one column has no delimiter.
            None if schema.tells_state(name_of(line, schema)) => DELIMITERS[0],
            None if schema.state().is_some() => {
                return Err("the header names no column `event`, nor one that a property reads".into());
            }
            None => return Err("the header names no column `event`".into()),
        };
        let (mut columns, mut unread) = (Vec::new(), Vec::new());
        let line = line.trim_end_matches(['\r', '\n']);
        cells(line.as_bytes(), delimiter, |cell| {
            let name = cell.value(line);
            let field = schema.field(name.as_bytes(), 0, name.len());
            columns.push(field);
            if field == NONE {
                unread.push(name.into_owned());
            }
        })?;
        if columns.iter().filter(|column| **column == EVENT).count() > 1 {
            return Err("the header names two columns `event`".into());
        }
        Ok(Header { delimiter, columns, unread })
    }
}

/// The number of the field that a line names which is nothing but a name.
fn name_of(line: &str, schema: &Schema) -> u32 {
    let name = line.trim_ascii();
    schema.field(name.as_bytes(), 0, name.len())
}

/// Reads blocks of CSV.
pub(crate) struct Csv {
    header: Header,
    marks: Marks<CsvMarks>,
}

impl Csv {
    pub(crate) fn new(header: Header) -> Csv {
        let marks = Marks::new(CsvMarks { delimiter: header.delimiter });
        Csv { header, marks }
    }

    /// Reads all lines of `text`, each ended by a newline; in strict mode only up to the first bad one.
    pub(crate) fn decode(&mut self, text: &str, record: &mut Record, block: &mut Block, strict: bool) {
        let bytes = text.as_bytes();
        self.marks.restart();
        each_line(text, block, strict, |start, line, block| {
            self.marks.prepare(bytes);
            record.begin();
            match self.plain_line(bytes, start, record) {
                Some(end) => (end, record.finish(text, block, line)),
                None => {
                    let end = next_line(bytes, start);
                    self.marks.seek(bytes, end);
                    (end, self.any_line(text, (start, end), record, block, line))
                }
            }
        });
    }

    /// Scans the line at `at`, if it has the right number of cells and no quotes; gives the next one's start.
    #[inline(always)]
    fn plain_line(&mut self, text: &[u8], at: usize, record: &mut Record) -> Option<usize> {
        let (last, before) = self.header.columns.split_last()?;
        let mut start = at;
        for field in before {
            let end = self.marks.next();
            if *text.get(end)? != self.header.delimiter {
                return None;
            }
            set_cell(record, *field, text, (start, end));
            start = end + 1;
        }
        // A line of one column may be blank: that is found out elsewhere.
        if before.is_empty() && text[start].is_ascii_whitespace() {
            return None;
        }
        let end = self.marks.next();
        let newline = match *text.get(end)? {
            b'\r' => self.marks.next(),
            _ => end,
        };
        if *text.get(newline)? != b'\n' || newline > end + 1 {
            return None;
        }
        set_cell(record, *last, text, (start, end));
        Some(newline + 1)
    }

    /// Reads a line that is not a plain one.
    #[cold]
    fn any_line(
        &self,
        text: &str,
        at: (usize, usize),
        record: &mut Record,
        block: &mut Block,
        line: u32,
    ) -> Result<(), Fault> {
        record.begin();
        if self.cells(text, at, record)? { record.finish(text, block, line) } else { Ok(()) }
    }

    /// Takes the line at `start..end` apart; says whether there is anything on it.
    fn cells(&self, text: &str, (start, end): (usize, usize), record: &mut Record) -> Result<bool, Issue> {
        let line = text[start..end].trim_end_matches(['\r', '\n']);
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        if memchr(0, line.as_bytes()).is_some() {
            return Err("the line contains a NUL byte".into());
        }
        let (columns, mut count) = (&self.header.columns, 0);
        cells(line.as_bytes(), self.header.delimiter, |cell| {
            let field = columns.get(count).copied().unwrap_or(NONE);
            count += 1;
            let at = (start + cell.start, start + cell.end);
            match (cell.quoted, cell.doubled) {
                (false, _) => set_cell(record, field, text.as_bytes(), at),
                (true, false) => record.set_cell(field, text.as_bytes(), at, true),
                (true, true) => record.set_owned(field, text, &cell.value(line), true),
            }
        })?;
        if count != columns.len() {
            let (has, wants) = (plural(count), columns.len());
            return Err(format!("the line has {has}, the header {wants}").into());
        }
        Ok(true)
    }
}

fn plural(cells: usize) -> String {
    if cells == 1 { "1 cell".into() } else { format!("{cells} cells") }
}

/// Sets a field to an unquoted cell, unless that is empty. Blanks around it are not part of it.
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

/// A cell of a line: where its text is, inside the quotes if it has some.
struct CellAt {
    start: usize,
    end: usize,
    quoted: bool,
    /// Whether the text contains doubled quotes.
    doubled: bool,
}

impl CellAt {
    fn value<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let raw = &line[self.start..self.end];
        match (self.quoted, self.doubled) {
            (false, _) => raw.trim_ascii().into(),
            (true, false) => raw.into(),
            (true, true) => raw.replace("\"\"", "\"").into(),
        }
    }
}

/// Takes a line apart.
fn cells(line: &[u8], delimiter: u8, mut each: impl FnMut(&CellAt)) -> Result<(), Issue> {
    let mut at = 0;
    loop {
        let blanks = line[at..].iter().take_while(|b| matches!(b, b' ' | b'\t') && **b != delimiter).count();
        let cell = if line.get(at + blanks) == Some(&b'"') {
            quoted(line, at + blanks + 1)?
        } else {
            let end = memchr2(delimiter, b'"', &line[at..]).map_or(line.len(), |len| at + len);
            if line.get(end) == Some(&b'"') {
                return Err("a quote in a cell that does not begin with one".into());
            }
            CellAt { start: at, end, quoted: false, doubled: false }
        };
        each(&cell);
        let after = cell.end + usize::from(cell.quoted);
        let blanks =
            line[after..].iter().take_while(|b| matches!(b, b' ' | b'\t') && **b != delimiter).count();
        match line.get(after + blanks) {
            None => return Ok(()),
            Some(byte) if *byte == delimiter => at = after + blanks + 1,
            Some(_) => return Err("text after the closing quote of a cell".into()),
        }
    }
}

/// The quoted cell whose text begins at `start`.
fn quoted(line: &[u8], start: usize) -> Result<CellAt, Issue> {
    let (mut at, mut doubled) = (start, false);
    loop {
        let Some(len) = memchr(b'"', &line[at..]) else {
            return Err(
                "a quoted cell does not end on its line (line breaks in cells are not supported)".into()
            );
        };
        at += len;
        if line.get(at + 1) != Some(&b'"') {
            return Ok(CellAt { start, end: at, quoted: true, doubled });
        }
        doubled = true;
        at += 2;
    }
}
