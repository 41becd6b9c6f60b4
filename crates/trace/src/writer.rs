//! Writing traces in all supported formats.

use crate::convert::needs_quotes;
use crate::format::Format;
use crate::plain_lines::{is_argument_name, is_event_name};
use crate::schema::RESERVED;
use invigil_monitor::event::EventKind;
use std::io::{self, BufWriter, Write};

/// The value of a parameter to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// No value. In CSV it is written like a missing parameter.
    None,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number. Infinities and NaN, which no format supports, are written as no value.
    Float(f64),
    /// Text.
    Str(&'a str),
}

/// An event to write.
#[derive(Clone, Copy, Debug)]
pub struct TraceEvent<'a> {
    /// The event's name.
    pub name: &'a str,
    /// Its kind.
    pub kind: EventKind,
    /// Its time, in seconds.
    pub time: Option<f64>,
    /// Its thread.
    pub thread: Option<FieldValue<'a>>,
    /// Its program.
    pub program: Option<FieldValue<'a>>,
    /// Its parameters.
    pub params: &'a [(&'a str, FieldValue<'a>)],
}

/// Writer of a trace.
///
/// ```
/// use invigil_monitor::event::EventKind;
/// use invigil_trace::{TraceEvent, FieldValue, Format, TraceWriter};
/// let mut writer = TraceWriter::new(Vec::new(), Format::PlainLines, &["queue"])?;
/// let params = [("queue", FieldValue::Int(7))];
/// let push = TraceEvent { name: "push", kind: EventKind::Before, time: Some(1.25), thread: None, program: None, params: &params };
/// writer.write(&push)?;
/// assert_eq!(writer.finish()?, b"@1.25 push(queue=7)\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TraceWriter<W: Write> {
    out: BufWriter<W>,
    format: Format,
    columns: Vec<String>,
    line: Vec<u8>,
}

impl<W: Write> TraceWriter<W> {
    /// Creates a writer. `columns` are the parameters that get a column in CSV; the other formats ignore them.
    ///
    /// # Errors
    /// If the header cannot be written, or the name of a column is reserved or contains a line break or NUL.
    pub fn new(out: W, format: Format, columns: &[&str]) -> io::Result<TraceWriter<W>> {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        let mut writer =
            TraceWriter { out: BufWriter::with_capacity(64 << 10, out), format, columns, line: Vec::new() };
        if format == Format::Csv {
            writer.write_header()?;
        }
        Ok(writer)
    }

    fn write_header(&mut self) -> io::Result<()> {
        self.line.extend_from_slice(RESERVED.join(",").as_bytes());
        for name in &self.columns {
            check_parameter(name)?;
            self.line.push(b',');
            put_cell(&mut self.line, name)?;
        }
        self.end_line()
    }

    /// Writes an event.
    ///
    /// # Errors
    /// If the output fails, or with [`io::ErrorKind::InvalidInput`] if the format cannot represent the event: a
    /// parameter with a reserved name; in CSV, a parameter without a column or a value with a line break or NUL; in plain
    /// lines, a name with one of `( ) , = "`, or an event's name with blanks. In these cases nothing is written.
    pub fn write(&mut self, event: &TraceEvent<'_>) -> io::Result<()> {
        self.line.clear();
        for (name, _) in event.params {
            check_parameter(name)?;
        }
        match self.format {
            Format::JsonLines => self.json(event)?,
            Format::Csv => self.csv(event)?,
            Format::PlainLines => self.plain_line(event)?,
        }
        self.end_line()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    /// Flushes all written events to the output.
    ///
    /// # Errors
    /// If the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes the writer and returns the output.
    ///
    /// # Errors
    /// If the output fails.
    pub fn finish(self) -> io::Result<W> {
        self.out.into_inner().map_err(|error| error.into_error())
    }

    fn json(&mut self, event: &TraceEvent<'_>) -> io::Result<()> {
        let line = &mut self.line;
        line.extend_from_slice(b"{\"event\":");
        put_json_string(line, event.name)?;
        for (name, value) in reserved(event) {
            line.extend_from_slice(b",\"");
            line.extend_from_slice(name.as_bytes());
            line.extend_from_slice(b"\":");
            put_value(line, value, "null")?;
        }
        for (name, value) in event.params {
            line.push(b',');
            put_json_string(line, name)?;
            line.push(b':');
            put_value(line, *value, "null")?;
        }
        line.push(b'}');
        Ok(())
    }

    fn plain_line(&mut self, event: &TraceEvent<'_>) -> io::Result<()> {
        if !is_event_name(event.name) {
            return Err(invalid_input(format!(
                "plain lines cannot represent the event name `{}`",
                event.name
            )));
        }
        let line = &mut self.line;
        if let Some(time) = event.time.filter(|time| time.is_finite()) {
            line.push(b'@');
            put_float(line, time)?;
            line.push(b' ');
        }
        if event.kind != EventKind::implied_by(event.name) {
            write!(line, "{} ", event.kind.word())?;
        }
        line.extend_from_slice(event.name.as_bytes());
        let mut separator = "(";
        let metadata = [("thread", event.thread), ("program", event.program)];
        let metadata = metadata.into_iter().filter_map(|(name, value)| Some((name, value?)));
        for (name, value) in event.params.iter().copied().chain(metadata) {
            if !is_argument_name(name) {
                return Err(invalid_input(format!(
                    "plain lines cannot represent the parameter name `{name}`"
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

    fn csv(&mut self, event: &TraceEvent<'_>) -> io::Result<()> {
        if let Some((name, _)) = event.params.iter().find(|(name, _)| self.columns.iter().all(|c| c != name))
        {
            return Err(invalid_input(format!("the CSV file has no column `{name}`")));
        }
        let line = &mut self.line;
        put_cell(line, event.name)?;
        let reserved_fields: Vec<_> = reserved(event).collect();
        let lookup = |fields: &[(&str, FieldValue<'_>)], name: &str| -> Option<usize> {
            fields.iter().rposition(|(field, _)| *field == name)
        };
        for name in &RESERVED[1..] {
            line.push(b',');
            if let Some(at) = lookup(&reserved_fields, name) {
                put_csv_value(line, reserved_fields[at].1)?;
            }
        }
        for name in &self.columns {
            line.push(b',');
            if let Some(at) = lookup(event.params, name) {
                put_csv_value(line, event.params[at].1)?;
            }
        }
        Ok(())
    }
}

/// The reserved fields of an event, except its name.
fn reserved<'a>(event: &TraceEvent<'a>) -> impl Iterator<Item = (&'static str, FieldValue<'a>)> {
    let kind = (event.kind != EventKind::implied_by(event.name)).then(|| FieldValue::Str(event.kind.word()));
    let time = event.time.filter(|time| time.is_finite()).map(FieldValue::Float);
    [("time", time), ("thread", event.thread), ("program", event.program), ("kind", kind)]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
}

fn invalid_input(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn check_parameter(name: &str) -> io::Result<()> {
    if RESERVED.contains(&name) {
        return Err(invalid_input(format!("`{name}` is a reserved name and cannot be used for a parameter")));
    }
    Ok(())
}

fn put_value(line: &mut Vec<u8>, value: FieldValue<'_>, none: &str) -> io::Result<()> {
    match value {
        FieldValue::Bool(b) => write!(line, "{b}"),
        FieldValue::Int(i) => {
            line.extend_from_slice(itoa::Buffer::new().format(i).as_bytes());
            Ok(())
        }
        FieldValue::Float(f) if f.is_finite() => put_float(line, f),
        FieldValue::None | FieldValue::Float(_) => line.write_all(none.as_bytes()),
        FieldValue::Str(s) => put_json_string(line, s),
    }
}

fn put_csv_value(line: &mut Vec<u8>, value: FieldValue<'_>) -> io::Result<()> {
    match value {
        FieldValue::Str(s) => put_cell(line, s),
        other => put_value(line, other, ""),
    }
}

/// Writes a float so that it is read back as a float: always with a point.
fn put_float(line: &mut Vec<u8>, f: f64) -> io::Result<()> {
    let text = format!("{f:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => write!(line, "{digits}.0e{exponent}"),
        _ => line.write_all(text.as_bytes()),
    }
}

fn put_json_string(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    // Fast path: most names need no escapes.
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        line.push(b'"');
        line.extend_from_slice(text.as_bytes());
        line.push(b'"');
        return Ok(());
    }
    Ok(serde_json::to_writer(line, text)?)
}

/// Writes text to a cell, in quotes if it would otherwise be read as something else.
fn put_cell(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    if text.contains(['\n', '\r', '\0']) {
        return Err(invalid_input(format!("a CSV cell cannot contain line breaks or NULs: {text:?}")));
    }
    if text.contains([',', '"', ' ', '\t']) || needs_quotes(text) {
        write!(line, "\"{}\"", text.replace('"', "\"\""))
    } else {
        line.write_all(text.as_bytes())
    }
}
