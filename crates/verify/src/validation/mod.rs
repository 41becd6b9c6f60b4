//! Trace validation of traces from files, and its reports.
//!
//! ```
//! use invigil_explore::trace_validation::{Binding, NameMapping};
//! use invigil_model::{Action, Model, ModelParts};
//! use invigil_trace::Input;
//! use invigil_verify::validation::{ValidationSettings, validate_trace};
//!
//! let model = Model::new(ModelParts { actions: vec![Action::named("tick")], ..ModelParts::default() }).unwrap();
//! let binding = Binding::new(&model, &NameMapping::default()).unwrap();
//! let trace = Input::reader("trace", std::io::Cursor::new("tick\ntick\n"));
//! let validation = validate_trace(&binding, vec![trace], &ValidationSettings::default(), |_, _| true);
//! assert!(validation.is_possible());
//! ```

mod json;
mod text;
mod unknown_fields;

use invigil_explore::trace_validation::{
    Binding, ConfigGraph, LogValue, Record, RecordError, RecordOutcome, Rejection, SurvivorCounts,
    ValidationError, ValidationOptions, Validator,
};
use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::{
    ANY_EVENT, Event, EventBatch, EventCatalog, EventId, EventKind, Param, ParamSource, STATE_EVENT,
};
use invigil_trace::{EventBlock, Input, ReadEnd, ReadSummary, Schema, TracePosition, read};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// How a trace is read and validated.
#[derive(Clone, Debug, Default)]
pub struct ValidationSettings {
    /// Options of the validator.
    pub options: ValidationOptions,
    /// Options of the trace reader.
    pub trace: invigil_trace::ReadOptions,
}

/// The result of validating a trace, with everything that reports need.
#[derive(Debug)]
pub struct ValidationReport {
    /// The name of the model.
    pub model: String,
    /// The result.
    pub result: ValidationResult,
    /// The number of leading records that the model can match, including ignored ones.
    pub matched: u64,
    /// The number of ignored records.
    pub ignored: u64,
    /// The last matching records.
    pub recent: Vec<RecordInfo>,
    /// The number of possible configurations after them.
    pub configurations: usize,
    /// The number of possible configurations after each record.
    pub survivors: SurvivorCounts,
    /// The last records and the configurations between them.
    pub graph: ConfigGraph,
    /// Events of the model that occur in no record.
    pub unseen_events: Vec<String>,
    /// Event parameters that occur in no record, as pairs of event and parameter.
    pub missing_parameters: Vec<(String, String)>,
    /// Fields of the trace without a meaning in the model, with a suggestion.
    pub unknown_fields: Vec<(String, Option<String>)>,
    /// Statistics of the trace reader.
    pub trace: ReadSummary,
    /// The names of the inputs.
    pub inputs: Vec<String>,
}

/// Whether the trace is a possible execution of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidationResult {
    /// The trace is possible.
    Possible,
    /// The model cannot match this record after the preceding ones.
    Impossible(Box<Rejection>, RecordInfo),
    /// Some records cannot be compared with the model: the error, its first position, and how often it occurs.
    InvalidRecords(Vec<(RecordError, RecordInfo, u64)>),
    /// The model could be in too many configurations.
    TooManyConfigurations(usize),
    /// The validation was stopped, or the trace is incomplete.
    Unknown,
}

/// A record of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordInfo {
    /// The number of the record, counted from one.
    pub number: u64,
    /// The position in the trace.
    pub position: TracePosition,
    /// The text of the record; empty if it could not be interpreted.
    pub text: String,
    /// The number of possible configurations after it.
    pub configurations: usize,
}

/// Maximum number of different errors that are collected.
const MAX_RECORD_ERRORS: usize = 20;

/// Validates a trace. `should_continue` periodically receives the numbers of records and bytes, and may stop the validation.
pub fn validate_trace(
    binding: &Binding<'_>,
    inputs: Vec<Input>,
    settings: &ValidationSettings,
    mut should_continue: impl FnMut(u64, u64) -> bool,
) -> ValidationReport {
    let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
    let catalog = catalog(binding);
    let mut follower = TraceFollower::new(binding, settings);
    let mut bytes = 0;
    let trace = read(inputs, &Schema::new(&catalog), &settings.trace, |block| {
        follower.find_unknown_fields(binding, block);
        let flow = follower.follow(block);
        bytes += block.bytes();
        if should_continue(follower.number, bytes) { flow } else { ControlFlow::Break(()) }
    });
    follower.finish(binding, trace, names)
}

/// Declares two events with all fields that have a meaning. Records are named by a field instead of an event
/// declaration, so that unknown events are not dropped.
fn catalog(binding: &Binding<'_>) -> EventCatalog {
    let mut catalog = EventCatalog::default();
    let named =
        |name: &str| Param { source: ParamSource::Name(name.to_owned()), name: name.to_owned(), ty: None };
    for name in [STATE_EVENT, ANY_EVENT] {
        let event_id = catalog.declare(name, EventKind::Before);
        ["event", "kind"].into_iter().chain(binding.fields()).for_each(|field| {
            catalog.declare_param(event_id, &named(field));
        });
    }
    catalog
}

/// The index of the first field of the model among the parameters of an event.
const FIRST_MODEL_FIELD: usize = 2;

/// Passes the records of a trace to the validator and collects what reports need.
struct TraceFollower<'b> {
    validator: Option<Validator<'b>>,
    /// For each parameter of an event, the field of the binding.
    fields: Vec<Option<u32>>,
    /// The number of records read so far.
    number: u64,
    ignored: u64,
    max_configurations: usize,
    rejected: Option<RecordInfo>,
    record_errors: Vec<(RecordError, RecordInfo, u64)>,
    has_too_many_configurations: bool,
    recent: VecDeque<(u64, TracePosition)>,
    history_length: usize,
    unknown_fields: Vec<String>,
    fields_examined: bool,
}

impl<'b> TraceFollower<'b> {
    fn new(binding: &'b Binding<'b>, settings: &ValidationSettings) -> TraceFollower<'b> {
        let validator = Validator::new(binding, settings.options).ok();
        let names = ["event", "kind"].into_iter().chain(binding.fields());
        let mut params: Vec<&str> = Vec::new();
        for name in names {
            if !params.contains(&name) {
                params.push(name);
            }
        }
        TraceFollower {
            has_too_many_configurations: validator.is_none(),
            validator,
            fields: params.iter().map(|name| binding.field(name)).collect(),
            number: 0,
            ignored: 0,
            max_configurations: settings.options.max_configurations,
            rejected: None,
            record_errors: Vec::new(),
            recent: VecDeque::new(),
            history_length: settings.options.history_length,
            unknown_fields: Vec::new(),
            fields_examined: false,
        }
    }

    /// Looks for unknown fields in the text of the first block. That is the first lines of the trace if it has one input;
    /// the text of a block merged from several inputs has only long strings.
    fn find_unknown_fields(&mut self, binding: &Binding<'_>, block: &EventBlock) {
        if !std::mem::replace(&mut self.fields_examined, true) {
            self.unknown_fields = unknown_fields::in_text(binding, &block.batch.text);
        }
    }

    fn follow(&mut self, block: &EventBlock) -> ControlFlow<()> {
        for at in 0..block.batch.len() {
            self.number += 1;
            self.validate_record(&block.batch, at, block.position(at));
            if self.rejected.is_some() || self.has_too_many_configurations {
                return ControlFlow::Break(());
            }
            if self.record_errors.iter().any(|(error, ..)| matches!(error, RecordError::Value { .. })) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn validate_record(&mut self, batch: &EventBatch, at: usize, position: TracePosition) {
        let Some(validator) = &mut self.validator else { return };
        let event = batch.event(at);
        let name;
        let mut record = Record::default();
        if event.id != STATE_EVENT_ID {
            name = event_name(&event);
            record.event = Some(name.as_ref());
        }
        for (value, field) in event.params.iter().zip(&self.fields).skip(FIRST_MODEL_FIELD) {
            let log_value = field.and_then(|field| Some((field, log_value(value, event.text)?)));
            record.values.extend(log_value);
        }
        let record_info =
            || RecordInfo { number: self.number, position, text: String::new(), configurations: 0 };
        // After an unknown event, later records cannot be validated, but further unknown events are collected.
        if !self.record_errors.is_empty() && record.event.is_none_or(|event| validator.is_known_event(event))
        {
            return;
        }
        match validator.take(&record) {
            Ok(RecordOutcome::Matched) => {
                if self.recent.len() >= self.history_length {
                    self.recent.pop_front();
                }
                self.recent.push_back((self.number, position));
            }
            Ok(RecordOutcome::Ignored) => self.ignored += 1,
            Ok(RecordOutcome::Rejected) => self.rejected = Some(record_info()),
            Err(ValidationError::TooManyConfigurations) => self.has_too_many_configurations = true,
            Err(ValidationError::Record(error)) => {
                let (first, is_full) = (record_info(), self.record_errors.len() >= MAX_RECORD_ERRORS);
                match self.record_errors.iter_mut().find(|(collected, ..)| *collected == error) {
                    Some((.., count)) => *count += 1,
                    None if is_full => {}
                    None => self.record_errors.push((error, first, 1)),
                }
            }
        }
    }

    fn finish(mut self, binding: &Binding<'_>, trace: ReadSummary, inputs: Vec<String>) -> ValidationReport {
        let rejection = self.validator.as_mut().and_then(Validator::rejection);
        let first_invalid = self.record_errors.first().map(|(_, record, _)| record.number);
        let last = self.rejected.as_ref().map(|rejected| rejected.number).or(first_invalid);
        let matched = last.map_or(self.number, |last| last - 1);
        let result = match (rejection, self.rejected) {
            (Some(rejection), Some(rejected)) => {
                let text = rejection.record.clone();
                ValidationResult::Impossible(Box::new(rejection), RecordInfo { text, ..rejected })
            }
            _ if !self.record_errors.is_empty() => ValidationResult::InvalidRecords(self.record_errors),
            _ if self.has_too_many_configurations => {
                ValidationResult::TooManyConfigurations(self.max_configurations)
            }
            _ if matches!(trace.end, ReadEnd::Finished) => ValidationResult::Possible,
            _ => ValidationResult::Unknown,
        };
        let mut unknown_fields = self.unknown_fields;
        for column in &trace.unread_columns {
            if !unknown_fields.contains(column) && unknown_fields::is_unknown(binding, column) {
                unknown_fields.push(column.clone());
            }
        }
        let mut validation = ValidationReport {
            model: binding.model().parts().name.clone(),
            result,
            matched,
            ignored: self.ignored,
            recent: Vec::new(),
            configurations: 0,
            survivors: SurvivorCounts::default(),
            graph: ConfigGraph::default(),
            unseen_events: Vec::new(),
            missing_parameters: Vec::new(),
            unknown_fields: unknown_fields::with_suggestions(binding, unknown_fields),
            trace,
            inputs,
        };
        if let Some(mut validator) = self.validator {
            validation.recent = self
                .recent
                .iter()
                .zip(validator.recent())
                .map(|((number, position), (text, configurations))| RecordInfo {
                    number: *number,
                    position: *position,
                    text: text.to_owned(),
                    configurations,
                })
                .collect();
            validation.configurations = validator.configurations();
            validation.survivors = validator.survivors().clone();
            validation.unseen_events = validator.unseen_events().into_iter().map(str::to_owned).collect();
            let missing = validator.missing_parameters();
            validation.missing_parameters =
                missing.into_iter().map(|(event, name)| (event.to_owned(), name.to_owned())).collect();
            validation.graph = validator.graph();
        }
        validation
    }
}

/// The id of `STATE_EVENT`, the first event of the catalog.
const STATE_EVENT_ID: EventId = EventId(0);

/// The name of an event, such as `queue_push` or `after queue_push`.
fn event_name<'a>(event: &Event<'a>) -> Cow<'a, str> {
    let text = |at: usize| match event.params.get(at).and_then(|value| log_value(value, event.text)) {
        Some(LogValue::Text(text)) => Cow::Borrowed(text),
        Some(other) => Cow::Owned(other.to_string()),
        None => Cow::Borrowed(""),
    };
    match (text(0), text(1)) {
        (name, kind) if matches!(&*kind, "" | "before") => name,
        (name, kind) => format!("{kind} {name}").into(),
    }
}

/// Converts a value of the trace; none if it is missing.
fn log_value<'a>(value: &'a Value, text: &'a str) -> Option<LogValue<'a>> {
    match value.tag() {
        Tag::Int => value.as_int().map(LogValue::Integer),
        Tag::Float => value.as_float().map(LogValue::Number),
        Tag::Bool => value.as_bool().map(LogValue::Boolean),
        Tag::Short => value.as_short().map(LogValue::Text),
        _ => {
            let (start, length) = value.as_text()?;
            text.get(start as usize..start as usize + length as usize).map(LogValue::Text)
        }
    }
}

impl ValidationReport {
    /// Whether the trace is a possible execution of the model.
    pub fn is_possible(&self) -> bool {
        self.result == ValidationResult::Possible
    }

    /// Whether the trace is certainly impossible.
    pub fn is_impossible(&self) -> bool {
        matches!(self.result, ValidationResult::Impossible(..))
    }
}
