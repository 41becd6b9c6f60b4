//! Traces as a source of snapshots: maps the names of a monitoring script to a trace.
//!
//! | in the script | in the trace |
//! | --- | --- |
//! | `monobj int pos` | the field `pos` of any record |
//! | `monobj int gate.pos` | the field `pos` of events `gate`, or the field `gate.pos` of any record |
//! | `monmeth void open(int)` | events `open`; the argument is `arg 1`, or the first one in plain lines |
//! | `endM(open(int))` | events `open` of the kind `after`; the result is `ret` |
//!
//! All fields of a record are assigned at one instant, at which the method also starts or ends.

use crate::entities::{Entity, EntityTable, MonitoredId, without_parameters};
use crate::recognise::{RecognitionSummary, Sink};
use crate::snapshot::OwnedValue;
use invigil_expr::value::{Tag, Value as Plain};
use invigil_monitor::event::{
    ANY_EVENT, Event, EventCatalog, EventId, EventKind, Param, ParamSource, ParamType, STATE_EVENT,
};
use invigil_monitor::mac::{MethodId, Recogniser, Snapshot, Type, Value, VariableId};
use invigil_trace::{Input, ReadEnd, ReadOptions, Schema, read};
use std::ops::ControlFlow;

/// Maximum number of ticks between two records, since a log may have gaps of years.
const MAX_TICKS: i64 = 1_000_000;

/// The events and fields of a trace that a script monitors.
#[derive(Clone, Debug)]
pub struct TraceMapping {
    catalog: EventCatalog,
    /// The role of each event declaration, by its id.
    roles: Vec<EventRole>,
    period: Option<i64>,
}

/// The meaning of an event of the trace for the script.
#[derive(Clone, Debug, Default)]
struct EventRole {
    /// The method that starts or, if true, ends.
    method: Option<(MethodId, bool)>,
    /// The index and type of each argument among the event's parameters; none for an object.
    arguments: Vec<Option<(usize, Type)>>,
    result: Option<(usize, Type)>,
    /// The variables, with the index and type of their fields.
    fields: Vec<(usize, VariableId, Type)>,
}

impl TraceMapping {
    /// Maps the entities of a script, with ticks every `period` milliseconds of the trace's time.
    pub fn new(entities: &EntityTable, period: Option<i64>) -> TraceMapping {
        let period = period.filter(|period| *period > 0);
        let mut mapping = TraceMapping { catalog: EventCatalog::default(), roles: Vec::new(), period };
        for entity in entities.list() {
            match entity.id {
                MonitoredId::Variable(variable) => mapping.add_variable(entity, variable),
                MonitoredId::Method(method) => mapping.add_method(entity, method),
            }
        }
        mapping
    }

    fn declare_event(&mut self, name: &str, kind: EventKind) -> EventId {
        let event_id = self.catalog.declare(name, kind);
        self.roles.resize_with(self.catalog.len(), EventRole::default);
        event_id
    }

    fn declare_param(&mut self, event_id: EventId, source: ParamSource, ty: Type) -> usize {
        let name = source.to_string();
        self.catalog.declare_param(event_id, &Param { source, name, ty: Some(param_type(ty)) })
    }

    fn add_variable(&mut self, entity: &Entity, variable: VariableId) {
        let Some(ty) = entity.ty else { return };
        let field = |mapping: &mut TraceMapping, event: &str, name: &str| {
            let event_id = mapping.declare_event(event, EventKind::implied_by(event));
            let at = mapping.declare_param(event_id, ParamSource::Name(name.to_owned()), ty);
            mapping.roles[event_id.0 as usize].fields.push((at, variable, ty));
        };
        // A field with the full name may be in any record, including one without an event.
        field(self, ANY_EVENT, &entity.name);
        field(self, STATE_EVENT, &entity.name);
        if let Some((event, name)) = entity.name.rsplit_once('.') {
            field(self, event, name);
        }
    }

    fn add_method(&mut self, entity: &Entity, method: MethodId) {
        let name = without_parameters(&entity.name);
        for (kind, is_end) in [(EventKind::Before, false), (EventKind::After, true)] {
            let event_id = self.declare_event(name, kind);
            let mut role = EventRole { method: Some((method, is_end)), ..EventRole::default() };
            for (at, ty) in (1..).zip(&entity.parameters) {
                let argument = ty.map(|ty| (self.declare_param(event_id, ParamSource::Arg(at), ty), ty));
                role.arguments.push(argument);
            }
            role.result = entity
                .ty
                .filter(|_| is_end)
                .map(|ty| (self.declare_param(event_id, ParamSource::Ret, ty), ty));
            let existing = &mut self.roles[event_id.0 as usize];
            role.fields = std::mem::take(&mut existing.fields);
            *existing = role;
        }
    }

    /// Runs a recogniser over traces.
    ///
    /// ```
    /// # use invigil_expr::diag::SourceId;
    /// # use invigil_lang::{medl, pedl};
    /// use invigil_mac::{CheckRun, EntityTable, trace::TraceMapping};
    /// use invigil_monitor::mac::Recogniser;
    /// use invigil_trace::{Input, ReadOptions};
    ///
    /// # let text = "MonScr monmeth void pass(); monobj int gate.pos; condition Down = gate.pos == 1;
    /// #             event Pass = startM(pass()); export event Pass; export condition Down; End";
    /// # let script = pedl::lower(&pedl::parse(SourceId(0), text).0, &|_| None).0.unwrap();
    /// # let text = "ReqSpec import event Pass; import condition Down; alarm unsafe = Pass when !Down; End";
    /// # let requirements = medl::lower(&medl::parse(SourceId(0), text).0, Some(&script)).0.unwrap();
    /// // monmeth void pass();  monobj int gate.pos;  condition Down = gate.pos == 1;
    /// let log = "{\"event\": \"gate\", \"pos\": 0, \"time\": 1.5}\n{\"event\": \"pass\", \"time\": 2}\n";
    /// let input = Input::reader("log", std::io::Cursor::new(log));
    /// let mapping = TraceMapping::new(&EntityTable::of(&script), None);
    /// let mut recogniser = Recogniser::new(script.parts)?;
    /// let mut check_run = CheckRun::new(requirements)?;
    /// mapping.recognise(vec![input], &ReadOptions::default(), &mut recogniser, &mut check_run);
    /// assert_eq!(check_run.outcome().requirements[0].first, Some(2000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recognise(
        &self,
        inputs: Vec<Input>,
        options: &ReadOptions,
        recogniser: &mut Recogniser,
        sink: &mut dyn Sink,
    ) -> RecognitionSummary {
        let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
        let mut run = TraceRun {
            mapping: self,
            recogniser,
            sink,
            summary: RecognitionSummary::default(),
            time: None,
            pending: None,
        };
        if let Err(error) = run.sink.names(&run.recogniser.script().exports()) {
            run.summary.failure = Some(error.to_string());
            return run.summary;
        }
        let read_summary = read(inputs, &Schema::new(&self.catalog), options, |block| {
            for at in 0..block.batch.len() {
                let position = block.position(at);
                let milliseconds = block.batch.meta(at).time * 1000.0;
                let time = (!milliseconds.is_nan()).then(|| milliseconds.round() as i64);
                run.event(&block.batch.event(at), (position.input, position.line), time);
            }
            // A live log may pause for long, so the pending record is processed now.
            run.flush();
            run.sink.idle();
            if run.summary.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        run.flush();
        let TraceRun { mut summary, recogniser, sink, .. } = run;
        sink.idle();
        let messages = read_summary.line_errors.first().iter().map(|error| {
            let name = names.get(error.position.input).map_or("", String::as_str);
            format!("{name}:{}: {error}", error.position.line)
        });
        summary.errors.extend(read_summary.line_errors.count(), messages);
        if let ReadEnd::Failed(error) = read_summary.end {
            summary.failure = Some(error.to_string());
        }
        summary.faults = recogniser.fault_count();
        summary
    }
}

/// The contents of one record, which may be reported as several events.
#[derive(Default)]
struct PendingRecord {
    /// The input and the line.
    position: (usize, u64),
    time: Option<i64>,
    assigned: Vec<(VariableId, OwnedValue)>,
    method: Option<(MethodId, bool)>,
    arguments: Vec<OwnedValue>,
    result: Option<OwnedValue>,
}

struct TraceRun<'a> {
    mapping: &'a TraceMapping,
    recogniser: &'a mut Recogniser,
    sink: &'a mut dyn Sink,
    summary: RecognitionSummary,
    time: Option<i64>,
    pending: Option<PendingRecord>,
}

impl TraceRun<'_> {
    fn event(&mut self, event: &Event<'_>, position: (usize, u64), time: Option<i64>) {
        if self.pending.as_ref().is_none_or(|record| record.position != position) {
            self.flush();
            self.pending = Some(PendingRecord { position, time, ..PendingRecord::default() });
        }
        let (Some(record), Some(role)) = (&mut self.pending, self.mapping.roles.get(event.id.0 as usize))
        else {
            return;
        };
        let errors = &mut self.summary.errors;
        let mut value = |at: usize, ty: Type| -> Option<OwnedValue> {
            let value = event.params.get(at).filter(|value| !value.is_unset())?;
            let owned_value = owned_value(*value, event.text, ty);
            if owned_value.is_none() {
                errors.add(format!("line {}: a value does not fit into {ty} and is omitted", position.1));
            }
            owned_value
        };
        for (at, variable, ty) in &role.fields {
            record.assigned.extend(value(*at, *ty).map(|owned_value| (*variable, owned_value)));
        }
        if let Some(method) = role.method {
            record.method = Some(method);
            let arguments = role.arguments.iter();
            let values = arguments.map(|argument| argument.and_then(|(at, ty)| value(at, ty)));
            record.arguments = values.map(|value| value.unwrap_or(OwnedValue::UNDEFINED)).collect();
            record.result = role.result.and_then(|(at, ty)| value(at, ty));
        }
    }

    /// Processes the pending record.
    fn flush(&mut self) {
        let Some(record) = self.pending.take() else { return };
        if self.summary.failure.is_some() || record.assigned.is_empty() && record.method.is_none() {
            return;
        }
        let now = record.time.or(self.time).unwrap_or(0);
        self.emit_ticks(now);
        self.time = Some(now);
        let assigned: Vec<(VariableId, Value<'_>)> =
            record.assigned.iter().map(|(variable, owned_value)| (*variable, owned_value.value())).collect();
        let arguments: Vec<Value<'_>> = record.arguments.iter().map(OwnedValue::value).collect();
        let result = record.result.as_ref().map_or(Value::Undefined, OwnedValue::value);
        let snapshot = match record.method {
            Some((method, false)) => Snapshot::Start(method, &arguments),
            Some((method, true)) => Snapshot::End(method, &arguments, result),
            None => Snapshot::Tick,
        };
        self.summary.snapshots += 1;
        match self.recogniser.snapshot_with(&assigned, snapshot, now) {
            Ok(group) if !group.is_empty() => {
                self.summary.instants += 1;
                if let Err(error) = self.sink.group(group) {
                    self.summary.failure = Some(error.to_string());
                }
            }
            Ok(_) => {}
            Err(error) => self.summary.errors.add(format!("line {}: {error}", record.position.1)),
        }
    }

    /// Emits the ticks since the last record.
    fn emit_ticks(&mut self, now: i64) {
        let (Some(period), Some(last)) = (self.mapping.period, self.time) else { return };
        let periods = now.saturating_sub(last).max(0) / period;
        let first = (periods - MAX_TICKS).max(0);
        for at in first..periods {
            let time = last + (at + 1) * period;
            if time >= now {
                break;
            }
            if let Ok(group) = self.recogniser.snapshot(Snapshot::Tick, time) {
                self.summary.instants += 1;
                if let Err(error) = self.sink.group(group) {
                    self.summary.failure = Some(error.to_string());
                    return;
                }
            }
        }
    }
}

/// The parameter type that a value of the script needs.
fn param_type(ty: Type) -> ParamType {
    match ty {
        Type::Boolean => ParamType::Bool,
        Type::Float | Type::Double => ParamType::Float,
        Type::Char | Type::String => ParamType::Str,
        Type::Byte | Type::Short | Type::Int | Type::Long => ParamType::Int,
    }
}

/// Converts a value of a trace to one of the script.
fn owned_value(value: Plain, text: &str, ty: Type) -> Option<OwnedValue> {
    if value.is(Tag::None) {
        return Some(OwnedValue::UNDEFINED);
    }
    let string = || match value.as_text() {
        Some((start, len)) => text.get(start as usize..start as usize + len as usize).map(str::to_owned),
        None => value.as_short().map(str::to_owned),
    };
    let integer = || value.as_int();
    Some(OwnedValue::Plain(match ty {
        Type::Boolean => Value::Boolean(value.as_bool()?),
        Type::Byte => Value::Byte(integer()?.try_into().ok()?),
        Type::Short => Value::Short(integer()?.try_into().ok()?),
        Type::Int => Value::Int(integer()?.try_into().ok()?),
        Type::Long => Value::Long(integer()?),
        Type::Float => Value::Float(value.as_float()? as f32),
        Type::Double => Value::Double(value.as_float()?),
        Type::Char => {
            let string = string()?;
            let mut units = string.encode_utf16();
            Value::Char(units.next().filter(|_| units.next().is_none())?)
        }
        Type::String => return string().map(OwnedValue::Text),
    }))
}
