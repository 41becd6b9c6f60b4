//! Traces as a source of snapshots: maps the names of a monitoring script to a trace.
//!
//! | in the script | in the trace |
//! | --- | --- |
//! | `monobj int pos` | the field `pos` of any record |
//! | `monobj int gate.pos` | the field `pos` of events `gate`, or the field `gate.pos` of any record |
//! | `monmeth void open(int)` | events `open`; the argument is `arg 1`, or the first one in the line format |
//! | `endM(open(int))` | events `open` of the kind `after`; the result is `ret` |
//!
//! All fields of a record are assigned at one instant, at which the method also starts or ends.

use crate::entities::{Entity, EntityTable, MonitoredId, without_parameters};
use crate::recognise::{RecognitionSummary, Sink};
use crate::snapshot::OwnedValue;
use invigil_expr::value::{Tag, Value as Plain};
use invigil_monitor::event::{
    ANY_EVENT, Event, EventCatalog, EventId, EventKind, Param, ParamSource, ParamType as Demanded,
    STATE_EVENT,
};
use invigil_monitor::mac::{MethodId, Recogniser, Snapshot, Type, Value, VariableId};
use invigil_trace::{Input, ReadEnd, ReadOptions, Schema, read};
use std::ops::ControlFlow;

/// Maximum number of ticks between two records, since a log may have gaps of years.
const MOST_TICKS: i64 = 1_000_000;

/// The events and fields of a trace that a script monitors.
#[derive(Clone, Debug)]
pub struct TraceMapping {
    catalog: EventCatalog,
    /// The role of each event declaration, by its id.
    roles: Vec<EventRole>,
    period: Option<i64>,
}

/// The effect of an event of the trace.
#[derive(Clone, Debug, Default)]
struct EventRole {
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
                MonitoredId::Variable(variable) => mapping.variable(entity, variable),
                MonitoredId::Method(method) => mapping.method(entity, method),
            }
        }
        mapping
    }

    fn symbol(&mut self, name: &str, kind: EventKind) -> EventId {
        let symbol = self.catalog.declare(name, kind);
        self.roles.resize_with(self.catalog.len(), EventRole::default);
        symbol
    }

    fn param(&mut self, symbol: EventId, source: ParamSource, ty: Type) -> usize {
        let name = source.to_string();
        self.catalog.declare_param(symbol, &Param { source, name, ty: Some(param_type(ty)) })
    }

    fn variable(&mut self, entity: &Entity, variable: VariableId) {
        let Some(ty) = entity.ty else { return };
        let field = |mapping: &mut TraceMapping, event: &str, name: &str| {
            let symbol = mapping.symbol(event, EventKind::implied_by(event));
            let at = mapping.param(symbol, ParamSource::Name(name.to_owned()), ty);
            mapping.roles[symbol.0 as usize].fields.push((at, variable, ty));
        };
        // A field with the full name may be in any record, including one without an event.
        field(self, ANY_EVENT, &entity.name);
        field(self, STATE_EVENT, &entity.name);
        if let Some((event, name)) = entity.name.rsplit_once('.') {
            field(self, event, name);
        }
    }

    fn method(&mut self, entity: &Entity, method: MethodId) {
        let name = without_parameters(&entity.name);
        for (kind, ends) in [(EventKind::Before, false), (EventKind::After, true)] {
            let symbol = self.symbol(name, kind);
            let mut role = EventRole { method: Some((method, ends)), ..EventRole::default() };
            for (at, ty) in (1..).zip(&entity.parameters) {
                let argument = ty.map(|ty| (self.param(symbol, ParamSource::Arg(at), ty), ty));
                role.arguments.push(argument);
            }
            role.result = entity.ty.filter(|_| ends).map(|ty| (self.param(symbol, ParamSource::Ret, ty), ty));
            let known = &mut self.roles[symbol.0 as usize];
            role.fields = std::mem::take(&mut known.fields);
            *known = role;
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
    /// let mut checking = CheckRun::new(requirements)?;
    /// mapping.recognise(vec![input], &ReadOptions::default(), &mut recogniser, &mut checking);
    /// assert_eq!(checking.outcome().requirements[0].first, Some(2000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recognise(
        &self,
        inputs: Vec<Input>,
        options: &ReadOptions,
        recogniser: &mut Recogniser,
        to: &mut dyn Sink,
    ) -> RecognitionSummary {
        let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
        let mut run = TraceRun {
            mapping: self,
            recogniser,
            to,
            done: RecognitionSummary::default(),
            time: None,
            pending: None,
        };
        if let Err(limit) = run.to.names(&run.recogniser.parts().exports()) {
            run.done.failure = Some(limit.to_string());
            return run.done;
        }
        let summary = read(inputs, &Schema::new(&self.catalog), options, |block| {
            for at in 0..block.batch.len() {
                let place = block.position(at);
                let milliseconds = block.batch.meta(at).time * 1000.0;
                let time = (!milliseconds.is_nan()).then(|| milliseconds.round() as i64);
                run.event(&block.batch.event(at), (place.input, place.line), time);
            }
            // A live log may pause for long, so the pending record is processed now.
            run.flush();
            run.to.idle();
            if run.done.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        run.flush();
        let TraceRun { mut done, recogniser, to, .. } = run;
        to.idle();
        let reported = summary.line_errors.first().iter().map(|problem| {
            let name = names.get(problem.position.input).map_or("", String::as_str);
            format!("{name}:{}: {problem}", problem.position.line)
        });
        done.errors.extend(summary.line_errors.count(), reported);
        if let ReadEnd::Failed(error) = summary.end {
            done.failure = Some(error.to_string());
        }
        done.faults = recogniser.fault_count();
        done
    }
}

/// The contents of one record, which may be reported as several events.
#[derive(Default)]
struct PendingRecord {
    line: (usize, u64),
    time: Option<i64>,
    assigned: Vec<(VariableId, OwnedValue)>,
    method: Option<(MethodId, bool)>,
    arguments: Vec<OwnedValue>,
    result: Option<OwnedValue>,
}

struct TraceRun<'a> {
    mapping: &'a TraceMapping,
    recogniser: &'a mut Recogniser,
    to: &'a mut dyn Sink,
    done: RecognitionSummary,
    time: Option<i64>,
    pending: Option<PendingRecord>,
}

impl TraceRun<'_> {
    fn event(&mut self, event: &Event<'_>, line: (usize, u64), time: Option<i64>) {
        if self.pending.as_ref().is_none_or(|record| record.line != line) {
            self.flush();
            self.pending = Some(PendingRecord { line, time, ..PendingRecord::default() });
        }
        let (Some(record), Some(role)) = (&mut self.pending, self.mapping.roles.get(event.id.0 as usize))
        else {
            return;
        };
        let problems = &mut self.done.errors;
        let mut value = |at: usize, ty: Type| -> Option<OwnedValue> {
            let value = event.params.get(at).filter(|value| !value.is_unset())?;
            let owned_value = owned_value(*value, event.text, ty);
            if owned_value.is_none() {
                problems.add(format!("line {}: a value does not fit into a {ty}, and is left out", line.1));
            }
            owned_value
        };
        for (at, variable, ty) in &role.fields {
            record.assigned.extend(value(*at, *ty).map(|owned_value| (*variable, owned_value)));
        }
        if let Some(method) = role.method {
            record.method = Some(method);
            let arguments = role.arguments.iter();
            let reported = arguments.map(|argument| argument.and_then(|(at, ty)| value(at, ty)));
            record.arguments = reported.map(|value| value.unwrap_or(OwnedValue::UNDEFINED)).collect();
            record.result = role.result.and_then(|(at, ty)| value(at, ty));
        }
    }

    /// Processes the pending record.
    fn flush(&mut self) {
        let Some(record) = self.pending.take() else { return };
        if self.done.failure.is_some() || record.assigned.is_empty() && record.method.is_none() {
            return;
        }
        let now = record.time.or(self.time).unwrap_or(0);
        self.ticks(now);
        self.time = Some(now);
        let assigned: Vec<(VariableId, Value<'_>)> =
            record.assigned.iter().map(|(variable, owned_value)| (*variable, owned_value.value())).collect();
        let arguments: Vec<Value<'_>> = record.arguments.iter().map(OwnedValue::value).collect();
        let result = record.result.as_ref().map_or(Value::Undefined, OwnedValue::value);
        let what = match record.method {
            Some((method, false)) => Snapshot::Start(method, &arguments),
            Some((method, true)) => Snapshot::End(method, &arguments, result),
            None => Snapshot::Tick,
        };
        self.done.snapshots += 1;
        match self.recogniser.snapshot_with(&assigned, what, now) {
            Ok(group) if !group.is_empty() => {
                self.done.instants += 1;
                if let Err(limit) = self.to.group(group) {
                    self.done.failure = Some(limit.to_string());
                }
            }
            Ok(_) => {}
            Err(misfit) => self.done.errors.add(format!("line {}: {misfit}", record.line.1)),
        }
    }

    /// Emits the ticks since the last record.
    fn ticks(&mut self, now: i64) {
        let (Some(period), Some(last)) = (self.mapping.period, self.time) else { return };
        let periods = now.saturating_sub(last).max(0) / period;
        let first = (periods - MOST_TICKS).max(0);
        for at in first..periods {
            let time = last + (at + 1) * period;
            if time >= now {
                break;
            }
            if let Ok(group) = self.recogniser.snapshot(Snapshot::Tick, time) {
                self.done.instants += 1;
                if let Err(limit) = self.to.group(group) {
                    self.done.failure = Some(limit.to_string());
                    return;
                }
            }
        }
    }
}

/// The parameter type that a value of the script needs.
fn param_type(ty: Type) -> Demanded {
    match ty {
        Type::Boolean => Demanded::Bool,
        Type::Float | Type::Double => Demanded::Float,
        Type::Char | Type::String => Demanded::Str,
        Type::Byte | Type::Short | Type::Int | Type::Long => Demanded::Int,
    }
}

/// Converts a value of a trace to one of the script.
fn owned_value(value: Plain, text: &str, ty: Type) -> Option<OwnedValue> {
    if value.is(Tag::None) {
        return Some(OwnedValue::UNDEFINED);
    }
    let words = || match value.as_text() {
        Some((start, len)) => text.get(start as usize..start as usize + len as usize).map(str::to_owned),
        None => value.as_short().map(str::to_owned),
    };
    let whole = || value.as_int();
    Some(OwnedValue::Plain(match ty {
        Type::Boolean => Value::Boolean(value.as_bool()?),
        Type::Byte => Value::Byte(whole()?.try_into().ok()?),
        Type::Short => Value::Short(whole()?.try_into().ok()?),
        Type::Int => Value::Int(whole()?.try_into().ok()?),
        Type::Long => Value::Long(whole()?),
        Type::Float => Value::Float(value.as_float()? as f32),
        Type::Double => Value::Double(value.as_float()?),
        Type::Char => {
            let words = words()?;
            let mut units = words.encode_utf16();
            Value::Char(units.next().filter(|_| units.next().is_none())?)
        }
        Type::String => return words().map(OwnedValue::Text),
    }))
}
