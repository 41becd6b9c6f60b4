//! Recording the events of a run as a trace that can be checked later.

use crate::session::Session;
use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::{Event, EventCatalog, EventDecl, EventKind, ParamSource};
use invigil_trace::{FieldValue, Format, TraceEvent, TraceWriter};
use std::io::{self, Write};

/// Writes the events of a live run as a trace.
pub struct Recorder {
    writer: Option<TraceWriter<Box<dyn Write + Send>>>,
    layouts: Vec<RecordLayout>,
    /// Whether a restore has undone events of the recording.
    restored: bool,
}

/// Maximum number of fields of a record that is written without an allocation.
const MAX_INLINE_FIELDS: usize = 8;

/// Layout of the records of an event: its name, kind and fields.
struct RecordLayout {
    name: String,
    kind: EventKind,
    /// The fields, each with the position of its parameter.
    fields: Vec<(String, usize)>,
    /// The position of the parameter that is the time.
    time: Option<usize>,
}

impl Recorder {
    /// A recorder for the events of a catalog.
    ///
    /// # Errors
    /// If the output fails, or a parameter has the name of a field that traces reserve.
    pub fn new(out: Box<dyn Write + Send>, format: Format, catalog: &EventCatalog) -> io::Result<Recorder> {
        let layout = |decl: &EventDecl| RecordLayout {
            name: decl.name.clone(),
            kind: decl.kind,
            fields: fields(decl, format),
            time: decl.params.iter().position(|param| param.source == ParamSource::Time),
        };
        let layouts: Vec<RecordLayout> = catalog.iter().map(|(_, decl)| layout(decl)).collect();
        let mut columns: Vec<&str> = Vec::new();
        for (name, _) in layouts.iter().flat_map(|layout| &layout.fields) {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
        let writer = TraceWriter::new(out, format, &columns)?;
        Ok(Recorder { writer: Some(writer), layouts, restored: false })
    }

    /// Writes an event. `time` is in seconds, or NaN to take it from the event's `#time` parameter.
    ///
    /// # Errors
    /// If the output fails, or the format cannot represent the event.
    pub fn write(&mut self, event: &Event<'_>, time: f64, thread: u32) -> io::Result<()> {
        let (Some(writer), Some(RecordLayout { name, kind, fields, time: time_param })) =
            (&mut self.writer, self.layouts.get(event.id.0 as usize))
        else {
            return Ok(());
        };
        let params = fields
            .iter()
            .filter_map(|(name, at)| Some((name.as_str(), field(event.params.get(*at)?, event.text)?)));
        // Most events have inline fields and need no allocation.
        let (mut inline, mut heap, mut count) = ([("", FieldValue::None); MAX_INLINE_FIELDS], Vec::new(), 0);
        if fields.len() > MAX_INLINE_FIELDS {
            heap.extend(params);
        } else {
            for (slot, param) in inline.iter_mut().zip(params) {
                *slot = param;
                count += 1;
            }
        }
        let params = if fields.len() > MAX_INLINE_FIELDS { heap.as_slice() } else { &inline[..count] };
        let from_param = time_param.and_then(|at| event.params.get(at)?.as_float()).unwrap_or(f64::NAN);
        let time = if time.is_nan() { from_param } else { time };
        writer.write(&TraceEvent {
            name,
            kind: *kind,
            time: (!time.is_nan()).then_some(time),
            thread: Some(FieldValue::Int(i64::from(thread))),
            program: None,
            params,
        })
    }

    /// Flushes everything written so far to the output.
    ///
    /// # Errors
    /// If the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), TraceWriter::flush)
    }

    /// Records that events were undone. Returns whether it is the first time.
    pub(crate) fn record_restore(&mut self) -> bool {
        !std::mem::replace(&mut self.restored, true)
    }
}

/// The fields of an event's record, each once. A field is named after its source in the property; in plain lines,
/// after the parameter if the source is not an identifier.
fn fields(decl: &EventDecl, format: Format) -> Vec<(String, usize)> {
    let mut fields: Vec<(String, usize)> = Vec::new();
    for (at, param) in decl.params.iter().enumerate() {
        // Thread and time have fields of their own; there is only one program.
        if matches!(param.source, ParamSource::Thread | ParamSource::Time | ParamSource::Program) {
            continue;
        }
        let source = param.source.to_string();
        let is_identifier = source.chars().all(|c| c.is_alphanumeric() || c == '_');
        let name = if is_identifier || format != Format::PlainLines { source } else { param.name.clone() };
        if !fields.iter().any(|(existing, _)| *existing == name) {
            fields.push((name, at));
        }
    }
    fields
}

/// A parameter as a field; `None` if the target did not supply it.
fn field<'a>(value: &'a Value, text: &'a str) -> Option<FieldValue<'a>> {
    match value.tag() {
        Tag::Unset => None,
        Tag::Bool => value.as_bool().map(FieldValue::Bool),
        Tag::Int => value.as_int().map(FieldValue::Int),
        Tag::Float => value.as_float().map(FieldValue::Float),
        Tag::Short => value.as_short().map(FieldValue::Str),
        Tag::Text => {
            let (start, len) = value.as_text()?;
            text.get(start as usize..start as usize + len as usize).map(FieldValue::Str)
        }
        Tag::None | Tag::Pool | Tag::Object => Some(FieldValue::None),
    }
}

impl Session {
    /// Records an event of the current batch. After an error nothing more is written.
    pub(crate) fn record(&mut self, at: usize) {
        let batch = &self.batch;
        // The reader of the recording derives the same events itself.
        if self.derived.contains(batch.event(at).id) {
            return;
        }
        let (time, thread) = (batch.meta(at).time, self.target.current_thread());
        let Some(recorder) = &mut self.recorder else { return };
        if let Err(error) = recorder.write(&batch.event(at), time, thread) {
            self.recorder = None;
            self.notify(&format!("recording stopped: {error}"));
        }
    }

    /// Flushes the recording. It continues if a restore makes the target run again.
    pub fn finish_recording(&mut self) {
        if let Some(Err(error)) = self.recorder.as_mut().map(Recorder::flush) {
            self.recorder = None;
            self.notify(&format!("recording stopped: {error}"));
        }
    }
}
