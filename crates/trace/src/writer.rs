//! Writing traces, in the formats that are read.

use crate::convert::reads_as_other;
use crate::format::Format;
use crate::line::{is_argument_name, is_name};
use crate::schema::RESERVED;
use invigil_monitor::event::Kind;
use std::io::{self, BufWriter, Write};

/// The value of a parameter that is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'a> {
    /// No value. In CSV that is the same as a parameter that is not given.
    None,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with a fraction. No format has a word for infinities and what is not a number: they are
    /// written as no value.
    Float(f64),
    /// Text.
    Str(&'a str),
}

/// An event to write.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The event's name.
    pub name: &'a str,
    /// Its kind.
    pub kind: Kind,
    /// When it happened, in seconds.
    pub time: Option<f64>,
    /// The thread that it happened in.
    pub thread: Option<Field<'a>>,
    /// The program that it happened in.
    pub program: Option<Field<'a>>,
    /// Its parameters.
    pub params: &'a [(&'a str, Field<'a>)],
}

/// Writes a trace.
///
/// ```
/// use invigil_monitor::event::Kind;
/// use invigil_trace::{Entry, Field, Format, Writer};
/// let mut writer = Writer::new(Vec::new(), Format::Line, &["queue"])?;
/// let params = [("queue", Field::Int(7))];
/// let push = Entry { name: "push", kind: Kind::Before, time: Some(1.25), thread: None, program: None, params: &params };
/// writer.write(&push)?;
/// assert_eq!(writer.finish()?, b"@1.25 push(queue=7)\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer<W: Write> {
    out: BufWriter<W>,
    format: Format,
    columns: Vec<String>,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// A writer of a format. `columns` are the parameters that a CSV file has columns for; the other formats
    /// need none.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn new(out: W, format: Format, columns: &[&str]) -> io::Result<Writer<W>> {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        let mut writer =
            Writer { out: BufWriter::with_capacity(64 << 10, out), format, columns, line: Vec::new() };
        if format == Format::Csv {
            writer.header()?;
        }
        Ok(writer)
    }

    fn header(&mut self) -> io::Result<()> {
        self.line.extend_from_slice(RESERVED.join(",").as_bytes());
        for name in &self.columns {
            check_parameter(name)?;
            self.line.push(b',');
            put_cell(&mut self.line, name)?;
        }
        self.end()
    }

    /// Writes an event.
    ///
    /// # Errors
    /// If the output fails, or with [`io::ErrorKind::InvalidInput`] if the format cannot express the event: a
    /// parameter with the name of a reserved field, a parameter without a column or a line break in CSV, a
    /// name with blanks or punctuation in the line format. Nothing of the event is written then.
    pub fn write(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.line.clear();
        for (name, _) in entry.params {
            check_parameter(name)?;
        }
        match self.format {
            Format::JsonLines => self.json(entry)?,
            Format::Csv => self.csv(entry)?,
            Format::Line => self.text(entry)?,
        }
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    /// Hands everything written so far to the output.
    ///
    /// # Errors
    /// If the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes what is left and gives the output back.
    ///
    /// # Errors
    /// If the output fails.
    pub fn finish(self) -> io::Result<W> {
        self.out.into_inner().map_err(|error| error.into_error())
    }

    fn json(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        let line = &mut self.line;
        line.extend_from_slice(b"{\"event\":");
        put_json_string(line, entry.name)?;
        for (name, value) in reserved(entry) {
            line.extend_from_slice(b",\"");
            line.extend_from_slice(name.as_bytes());
            line.extend_from_slice(b"\":");
            put_value(line, value, "null")?;
        }
        for (name, value) in entry.params {
            line.push(b',');
            put_json_string(line, name)?;
            line.push(b':');
            put_value(line, *value, "null")?;
        }
        line.push(b'}');
        Ok(())
    }

    fn text(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        if !is_name(entry.name) {
            return Err(refuse(format!(
                "the line format has no way to write the event name `{}`",
                entry.name
            )));
        }
        let line = &mut self.line;
        if let Some(time) = entry.time.filter(|time| time.is_finite()) {
            line.push(b'@');
            put_float(line, time)?;
            line.push(b' ');
        }
        if entry.kind != Kind::implied_by(entry.name) {
            write!(line, "{} ", entry.kind.word())?;
        }
        line.extend_from_slice(entry.name.as_bytes());
        let mut separator = "(";
        let given = [("thread", entry.thread), ("program", entry.program)];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        for (name, value) in entry.params.iter().copied().chain(given) {
            if !is_argument_name(name) {
                return Err(refuse(format!(
                    "the line format has no way to write the parameter name `{name}`"
                )));
            }
            write!(line, "{separator}{name}=")?;
            put_value(line, value, "none")?;
            separator = ", ";
        }
        if separator != "(" {
            line.push(b')');
        }
        Ok(())
    }

    fn csv(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        if let Some((name, _)) = entry.params.iter().find(|(name, _)| self.columns.iter().all(|c| c != name))
        {
            return Err(refuse(format!("the CSV file has no column `{name}`")));
        }
        let line = &mut self.line;
        put_cell(line, entry.name)?;
        let given: Vec<_> = reserved(entry).collect();
        let lookup = |fields: &[(&str, Field<'_>)], name: &str| -> Option<usize> {
            fields.iter().rposition(|(field, _)| *field == name)
        };
        for name in &RESERVED[1..] {
            line.push(b',');
            if let Some(at) = lookup(&given, name) {
                put_csv_value(line, given[at].1)?;
            }
        }
        for name in &self.columns {
            line.push(b',');
            if let Some(at) = lookup(entry.params, name) {
                put_csv_value(line, entry.params[at].1)?;
            }
        }
        Ok(())
    }
}

/// The reserved fields that an entry has, after its name.
fn reserved<'a>(entry: &Entry<'a>) -> impl Iterator<Item = (&'static str, Field<'a>)> {
    let kind = (entry.kind != Kind::implied_by(entry.name)).then(|| Field::Str(entry.kind.word()));
    let time = entry.time.filter(|time| time.is_finite()).map(Field::Float);
    [("time", time), ("thread", entry.thread), ("program", entry.program), ("kind", kind)]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
}

fn refuse(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn check_parameter(name: &str) -> io::Result<()> {
    if RESERVED.contains(&name) {
        return Err(refuse(format!("`{name}` is reserved, it cannot be the name of a parameter")));
    }
    Ok(())
}

fn put_value(line: &mut Vec<u8>, value: Field<'_>, none: &str) -> io::Result<()> {
    match value {
        Field::Bool(b) => write!(line, "{b}"),
        Field::Int(i) => {
            line.extend_from_slice(itoa::Buffer::new().format(i).as_bytes());
            Ok(())
        }
        Field::Float(f) if f.is_finite() => put_float(line, f),
        Field::None | Field::Float(_) => line.write_all(none.as_bytes()),
        Field::Str(s) => put_json_string(line, s),
    }
}

fn put_csv_value(line: &mut Vec<u8>, value: Field<'_>) -> io::Result<()> {
    match value {
        Field::Str(s) => put_cell(line, s),
        other => put_value(line, other, ""),
    }
}

/// A float so that it reads back as one: always with a point.
fn put_float(line: &mut Vec<u8>, f: f64) -> io::Result<()> {
    let text = format!("{f:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => write!(line, "{digits}.0e{exponent}"),
        _ => line.write_all(text.as_bytes()),
    }
}

fn put_json_string(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    // Names nearly always stand for themselves.
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        line.push(b'"');
        line.extend_from_slice(text.as_bytes());
        line.push(b'"');
        return Ok(());
    }
    Ok(serde_json::to_writer(line, text)?)
}

/// Text in a cell, in quotes if it would be read as something else without.
fn put_cell(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    if text.contains(['\n', '\r', '\0']) {
        return Err(refuse(format!("a cell of a CSV file cannot hold line breaks or NULs: {text:?}")));
    }
    if text.contains([',', '"', ' ', '\t']) || reads_as_other(text) {
        write!(line, "\"{}\"", text.replace('"', "\"\""))
    } else {
        line.write_all(text.as_bytes())
    }
}
