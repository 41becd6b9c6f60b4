//! Writing the events of a run as a trace that can be checked later.

use crate::session::Session;
use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::{Catalog, Event, Kind, Source, Symbol};
use invigil_trace::{Entry, Field, Format, Writer};
use std::io::{self, Write};

/// Writes the events of a session as a trace.
pub struct Recorder {
    writer: Option<Writer<Box<dyn Write + Send>>>,
    symbols: Vec<Recorded>,
    restored: bool,
}

/// So many parameters are few.
const FEW: usize = 8;

/// How an event is written.
struct Recorded {
    name: String,
    kind: Kind,
    /// The fields, each with the position of the parameter that it is of.
    fields: Vec<(String, usize)>,
    /// The position of the parameter that is the time.
    time: Option<usize>,
}

impl Recorder {
    /// A recorder of the events of a catalog.
    ///
    /// # Errors
    /// If the output fails, or a parameter is called like a field that traces reserve.
    pub fn new(out: Box<dyn Write + Send>, format: Format, catalog: &Catalog) -> io::Result<Recorder> {
        let recorded = |symbol: &Symbol| Recorded {
            name: symbol.name.clone(),
            kind: symbol.kind,
            fields: fields(symbol, format),
            time: symbol.params.iter().position(|param| param.source == Source::Time),
        };
        let symbols: Vec<Recorded> = catalog.iter().map(|(_, symbol)| recorded(symbol)).collect();
        let mut columns: Vec<&str> = Vec::new();
        for (name, _) in symbols.iter().flat_map(|symbol| &symbol.fields) {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
        let writer = Writer::new(out, format, &columns)?;
        Ok(Recorder { writer: Some(writer), symbols, restored: false })
    }

    /// Writes an event, with the time in seconds, or NaN if there is none but what the event itself tells.
    ///
    /// # Errors
    /// If the output fails, or the format has no way to write the event.
    pub fn write(&mut self, event: &Event<'_>, time: f64, thread: u32) -> io::Result<()> {
        let (Some(writer), Some(Recorded { name, kind, fields, time: own })) =
            (&mut self.writer, self.symbols.get(event.symbol.0 as usize))
        else {
            return Ok(());
        };
        let params = fields
            .iter()
            .filter_map(|(name, at)| Some((name.as_str(), field(event.params.get(*at)?, event.text)?)));
        // Most events have few, and need no memory for them.
        let (mut few, mut many, mut count) = ([("", Field::None); FEW], Vec::new(), 0);
        if fields.len() > FEW {
            many.extend(params);
        } else {
            for (place, param) in few.iter_mut().zip(params) {
                *place = param;
                count += 1;
            }
        }
        let params = if fields.len() > FEW { many.as_slice() } else { &few[..count] };
        let told = own.and_then(|at| event.params.get(at)?.as_float()).unwrap_or(f64::NAN);
        let time = if time.is_nan() { told } else { time };
        writer.write(&Entry {
            name,
            kind: *kind,
            time: (!time.is_nan()).then_some(time),
            thread: Some(Field::Int(i64::from(thread))),
            program: None,
            params,
        })
    }

    /// Hands everything written so far to the output.
    ///
    /// # Errors
    /// If the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Writer::flush)
    }

    /// Notes that events were undone; says whether it is the first time.
    pub(crate) fn note_restore(&mut self) -> bool {
        !std::mem::replace(&mut self.restored, true)
    }
}

/// The fields of an event's record, each once. They are called as the property writes them, or where the
/// format has no way to write that, by the name that the property gives them.
fn fields(symbol: &Symbol, format: Format) -> Vec<(String, usize)> {
    let mut fields: Vec<(String, usize)> = Vec::new();
    for (at, param) in symbol.params.iter().enumerate() {
        // These are fields of every record.
        if matches!(param.source, Source::Thread | Source::Time | Source::Program) {
            continue;
        }
        let source = param.source.to_string();
        let plain = source.chars().all(|c| c.is_alphanumeric() || c == '_');
        let name = if plain || format != Format::Line { source } else { param.name.clone() };
        if !fields.iter().any(|(known, _)| *known == name) {
            fields.push((name, at));
        }
    }
    fields
}

/// A parameter as it is written; `None` if the program did not tell it.
fn field<'a>(value: &'a Value, text: &'a str) -> Option<Field<'a>> {
    match value.tag() {
        Tag::Unset => None,
        Tag::Bool => value.as_bool().map(Field::Bool),
        Tag::Int => value.as_int().map(Field::Int),
        Tag::Float => value.as_float().map(Field::Float),
        Tag::Short => value.as_short().map(Field::Str),
        Tag::Text => {
            let (start, len) = value.as_text()?;
            text.get(start as usize..start as usize + len as usize).map(Field::Str)
        }
        Tag::None | Tag::Pool | Tag::Object => Some(Field::None),
    }
}

impl Session {
    /// Writes an event of the batch at hand. If that fails, nothing more is written.
    pub(crate) fn record(&mut self, at: usize) {
        let batch = &self.batch;
        // Who reads the recording makes the same of it again.
        if self.derived.contains(batch.event(at).symbol) {
            return;
        }
        let (time, thread) = (batch.stamp(at).time, self.subject.current_thread());
        let Some(recorder) = &mut self.recorder else { return };
        if let Err(error) = recorder.write(&batch.event(at), time, thread) {
            self.recorder = None;
            self.say(&format!("the recording ends here: {error}"));
        }
    }

    /// Writes what is left of the recording. It goes on if the program does, after a restore.
    pub fn finish_recording(&mut self) {
        if let Some(Err(error)) = self.recorder.as_mut().map(Recorder::flush) {
            self.recorder = None;
            self.say(&format!("the recording ends here: {error}"));
        }
    }
}
