//! Logs as a source of snapshots: what the names of a monitoring script mean in a trace.
//!
//! | in the script | in the trace |
//! | --- | --- |
//! | `monobj int pos` | the field `pos` of any record |
//! | `monobj int gate.pos` | the field `pos` of events `gate`, or the field `gate.pos` of any record |
//! | `monmeth void open(int)` | events `open`; the argument is `arg 1`, or the first one in the line format |
//! | `endM(open(int))` | events `open` of the kind `after`; the result is `ret` |
//!
//! All fields of one record are assigned at one instant, and the method begins or ends at it.

use crate::entities::{Entities, Entity, Watched, without_parameters};
use crate::recognise::{Recognised, Sink};
use crate::taken::Held;
use invigil_expr::value::{Tag, Value as Plain};
use invigil_monitor::event::{ANY, Catalog, Event, Kind, Param, STATE, Source, SymbolId, Type as Demanded};
use invigil_monitor::mac::{MethodId, Recogniser, Snapshot, Type, Value, VariableId};
use invigil_trace::{End, Input, Options, Schema, read};
use std::ops::ControlFlow;

/// The most ticks that are told between two records: a log may be silent for years.
const MOST_TICKS: i64 = 1_000_000;

/// What is looked for in a trace.
#[derive(Clone, Debug)]
pub struct Mapping {
    catalog: Catalog,
    /// By the numbers of the symbols.
    roles: Vec<Role>,
    period: Option<i64>,
}

/// What an event of the trace means.
#[derive(Clone, Debug, Default)]
struct Role {
    method: Option<(MethodId, bool)>,
    /// Where in the event the arguments of the method are; an object is not told.
    arguments: Vec<Option<(usize, Type)>>,
    result: Option<(usize, Type)>,
    /// The variables, with the positions of their fields.
    fields: Vec<(usize, VariableId, Type)>,
}

impl Mapping {
    /// What the entities of a script are in a trace; with ticks every `period` milliseconds of its time.
    pub fn new(entities: &Entities, period: Option<i64>) -> Mapping {
        let period = period.filter(|period| *period > 0);
        let mut mapping = Mapping { catalog: Catalog::default(), roles: Vec::new(), period };
        for entity in entities.list() {
            match entity.watched {
                Watched::Variable(variable) => mapping.variable(entity, variable),
                Watched::Method(method) => mapping.method(entity, method),
            }
        }
        mapping
    }

    fn symbol(&mut self, name: &str, kind: Kind) -> SymbolId {
        let symbol = self.catalog.symbol(name, kind);
        self.roles.resize_with(self.catalog.len(), Role::default);
        symbol
    }

    fn param(&mut self, symbol: SymbolId, source: Source, ty: Type) -> usize {
        let name = source.to_string();
        self.catalog.param(symbol, &Param { source, name, ty: Some(demanded(ty)) })
    }

    fn variable(&mut self, entity: &Entity, variable: VariableId) {
        let Some(ty) = entity.ty else { return };
        let field = |mapping: &mut Mapping, event: &str, name: &str| {
            let symbol = mapping.symbol(event, Kind::implied_by(event));
            let at = mapping.param(symbol, Source::Name(name.to_owned()), ty);
            mapping.roles[symbol.0 as usize].fields.push((at, variable, ty));
        };
        // A field with the whole name may be in any record, also in one that names no event.
        field(self, ANY, &entity.name);
        field(self, STATE, &entity.name);
        if let Some((event, name)) = entity.name.rsplit_once('.') {
            field(self, event, name);
        }
    }

    fn method(&mut self, entity: &Entity, method: MethodId) {
        let name = without_parameters(&entity.name);
        for (kind, ends) in [(Kind::Before, false), (Kind::After, true)] {
            let symbol = self.symbol(name, kind);
            let mut role = Role { method: Some((method, ends)), ..Role::default() };
            for (at, ty) in (1..).zip(&entity.parameters) {
                let argument = ty.map(|ty| (self.param(symbol, Source::Arg(at), ty), ty));
                role.arguments.push(argument);
            }
            role.result = entity.ty.filter(|_| ends).map(|ty| (self.param(symbol, Source::Ret, ty), ty));
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
    /// use invigil_mac::{Checking, Entities, trace::Mapping};
    /// use invigil_monitor::mac::Recogniser;
    /// use invigil_trace::{Input, Options};
    ///
    /// # let text = "MonScr monmeth void pass(); monobj int gate.pos; condition Down = gate.pos == 1;
    /// #             event Pass = startM(pass()); export event Pass; export condition Down; End";
    /// # let script = pedl::lower(&pedl::parse(SourceId(0), text).0, &|_| None).0.unwrap();
    /// # let text = "ReqSpec import event Pass; import condition Down; alarm unsafe = Pass when !Down; End";
    /// # let requirements = medl::lower(&medl::parse(SourceId(0), text).0, Some(&script)).0.unwrap();
    /// // monmeth void pass();  monobj int gate.pos;  condition Down = gate.pos == 1;
    /// let log = "{\"event\": \"gate\", \"pos\": 0, \"time\": 1.5}\n{\"event\": \"pass\", \"time\": 2}\n";
    /// let input = Input::reader("log", std::io::Cursor::new(log));
    /// let mapping = Mapping::new(&Entities::of(&script), None);
    /// let mut recogniser = Recogniser::new(script.parts)?;
    /// let mut checking = Checking::new(requirements)?;
    /// mapping.recognise(vec![input], &Options::default(), &mut recogniser, &mut checking);
    /// assert_eq!(checking.outcome().requirements[0].first, Some(2000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recognise(
        &self,
        inputs: Vec<Input>,
        options: &Options,
        recogniser: &mut Recogniser,
        to: &mut dyn Sink,
    ) -> Recognised {
        let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
        let mut run =
            Run { mapping: self, recogniser, to, done: Recognised::default(), time: None, pending: None };
        if let Err(limit) = run.to.names(&run.recogniser.parts().exports()) {
            run.done.failure = Some(limit.to_string());
            return run.done;
        }
        let summary = read(inputs, &Schema::new(&self.catalog), options, |block| {
            for at in 0..block.batch.len() {
                let place = block.place(at);
                let milliseconds = block.batch.stamp(at).time * 1000.0;
                let time = (!milliseconds.is_nan()).then(|| milliseconds.round() as i64);
                run.event(&block.batch.event(at), (place.input, place.line), time);
            }
            // A live log may be silent for long: what has come is dealt with.
            run.flush();
            run.to.idle();
            if run.done.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        run.flush();
        let Run { mut done, recogniser, to, .. } = run;
        to.idle();
        let told = summary.problems.first().iter().map(|problem| {
            let name = names.get(problem.place.input).map_or("", String::as_str);
            format!("{name}:{}: {problem}", problem.place.line)
        });
        done.problems.extend(summary.problems.count(), told);
        if let End::Failed(error) = summary.end {
            done.failure = Some(error.to_string());
        }
        done.faults = recogniser.fault_count();
        done
    }
}

/// What one record says, put together: it may come as several events.
#[derive(Default)]
struct Record {
    line: (usize, u64),
    time: Option<i64>,
    assigned: Vec<(VariableId, Held)>,
    method: Option<(MethodId, bool)>,
    arguments: Vec<Held>,
    result: Option<Held>,
}

struct Run<'a> {
    mapping: &'a Mapping,
    recogniser: &'a mut Recogniser,
    to: &'a mut dyn Sink,
    done: Recognised,
    time: Option<i64>,
    pending: Option<Record>,
}

impl Run<'_> {
    fn event(&mut self, event: &Event<'_>, line: (usize, u64), time: Option<i64>) {
        if self.pending.as_ref().is_none_or(|record| record.line != line) {
            self.flush();
            self.pending = Some(Record { line, time, ..Record::default() });
        }
        let (Some(record), Some(role)) = (&mut self.pending, self.mapping.roles.get(event.symbol.0 as usize))
        else {
            return;
        };
        let problems = &mut self.done.problems;
        let mut value = |at: usize, ty: Type| -> Option<Held> {
            let value = event.params.get(at).filter(|value| !value.is_unset())?;
            let held = held(*value, event.text, ty);
            if held.is_none() {
                problems.add(format!("line {}: a value does not fit into a {ty}, and is left out", line.1));
            }
            held
        };
        for (at, variable, ty) in &role.fields {
            record.assigned.extend(value(*at, *ty).map(|held| (*variable, held)));
        }
        if let Some(method) = role.method {
            record.method = Some(method);
            let arguments = role.arguments.iter();
            let told = arguments.map(|argument| argument.and_then(|(at, ty)| value(at, ty)));
            record.arguments = told.map(|value| value.unwrap_or(Held::UNDEFINED)).collect();
            record.result = role.result.and_then(|(at, ty)| value(at, ty));
        }
    }

    /// Hands a record over that is complete.
    fn flush(&mut self) {
        let Some(record) = self.pending.take() else { return };
        if self.done.failure.is_some() || record.assigned.is_empty() && record.method.is_none() {
            return;
        }
        let now = record.time.or(self.time).unwrap_or(0);
        self.ticks(now);
        self.time = Some(now);
        let assigned: Vec<(VariableId, Value<'_>)> =
            record.assigned.iter().map(|(variable, held)| (*variable, held.value())).collect();
        let arguments: Vec<Value<'_>> = record.arguments.iter().map(Held::value).collect();
        let result = record.result.as_ref().map_or(Value::Undefined, Held::value);
        let what = match record.method {
            Some((method, false)) => Snapshot::Start(method, &arguments),
            Some((method, true)) => Snapshot::End(method, &arguments, result),
            None => Snapshot::Tick,
        };
        self.done.snapshots += 1;
        match self.recogniser.together(&assigned, what, now) {
            Ok(group) if !group.is_empty() => {
                self.done.instants += 1;
                if let Err(limit) = self.to.group(group) {
                    self.done.failure = Some(limit.to_string());
                }
            }
            Ok(_) => {}
            Err(misfit) => self.done.problems.add(format!("line {}: {misfit}", record.line.1)),
        }
    }

    /// Tells of the periods that have passed since the last record.
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

/// What a record's field must be.
fn demanded(ty: Type) -> Demanded {
    match ty {
        Type::Boolean => Demanded::Bool,
        Type::Float | Type::Double => Demanded::Float,
        Type::Char | Type::String => Demanded::Str,
        Type::Byte | Type::Short | Type::Int | Type::Long => Demanded::Int,
    }
}

/// A value of a trace as one of the script.
fn held(value: Plain, text: &str, ty: Type) -> Option<Held> {
    if value.is(Tag::None) {
        return Some(Held::UNDEFINED);
    }
    let words = || match value.as_text() {
        Some((start, len)) => text.get(start as usize..start as usize + len as usize).map(str::to_owned),
        None => value.as_short().map(str::to_owned),
    };
    let whole = || value.as_int();
    Some(Held::Plain(match ty {
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
        Type::String => return words().map(Held::Text),
    }))
}
