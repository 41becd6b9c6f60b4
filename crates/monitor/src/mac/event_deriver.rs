//! Event deriver: recogniser and checker of a pair of scripts as a filter from events to events.
//!
//! Events of the subject are input of the recogniser; results of the checker become derived events. A property
//! or alarm of a requirement script is then monitored by a small automaton, and no other component needs to
//! know about scripts.

use super::ids::{MethodId, VariableId};
use super::method_call::MethodCall;
use super::value::{Truth, Type, Value};
use super::{Action, Checker, MachineState, Recogniser, ScriptDef, Snapshot, SnapshotError, ValueFilter};
use crate::event::{Event, EventBatch, EventId, EventMeta};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use invigil_expr::value::{Tag, Value as Param};

/// Meaning of an event for the recogniser, with indexes of the event's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SnapshotInput {
    /// A variable was assigned.
    Update {
        /// The variable.
        variable: VariableId,
        /// Index of its new value.
        value: usize,
    },
    /// A variable has another value without an assignment, because its name refers to another object.
    Changed {
        /// The variable.
        variable: VariableId,
        /// Index of its value.
        value: usize,
    },
    /// A method is entered.
    Start {
        /// The method.
        method: MethodId,
        /// Indexes of its arguments; `None` for those that are not needed.
        arguments: Vec<Option<usize>>,
    },
    /// A method is left.
    End {
        /// The method.
        method: MethodId,
        /// Indexes of its arguments; `None` for those that are not needed.
        arguments: Vec<Option<usize>>,
        /// Index of its result.
        result: Option<usize>,
    },
    /// A unit of time passed.
    Tick,
}

/// Events for the results of the checker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScriptOutputs {
    /// For each property: the events for undefined, false and true.
    pub properties: Vec<[EventId; 3]>,
    /// For each alarm: the event that it is raised, and the event that precedes the next one.
    pub alarms: Vec<[EventId; 2]>,
    /// For each action: the event that it is invoked.
    pub actions: Vec<EventId>,
    /// The event for printed text, which is its only parameter.
    pub print: Option<EventId>,
}

impl ScriptOutputs {
    /// All events.
    pub fn all(&self) -> impl Iterator<Item = EventId> {
        let ScriptOutputs { properties, alarms, actions, print } = self;
        let properties = properties.iter().flatten();
        properties.chain(alarms.iter().flatten()).chain(actions).chain(print).copied()
    }
}

/// Definition of an [`EventDeriver`]: plain data, which can be sent to an agent.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScriptPlan {
    /// The monitoring script.
    pub recogniser: ScriptDef,
    /// The requirement script.
    pub checker: ScriptDef,
    /// The meanings of the subject's events. An event may have several.
    pub inputs: Vec<(EventId, SnapshotInput)>,
    /// The events for the results.
    pub outputs: ScriptOutputs,
    /// Whether an undefined property counts as violated.
    pub undefined_violates: bool,
    /// Whether values without an effect are skipped.
    pub abstracts: bool,
    /// The event for the time, and its period in milliseconds.
    pub tick: Option<(EventId, u32)>,
    /// The methods of the program that are called when an action is invoked, by its event.
    pub calls: Vec<(EventId, MethodCall)>,
}

impl ScriptPlan {
    /// Whether some definition uses the time.
    pub fn uses_time(&self) -> bool {
        self.recogniser.uses_time() || self.checker.uses_time()
    }
}

/// Recogniser and checker with their events; see the module.
#[derive(Clone, Debug)]
pub struct EventDeriver {
    recogniser: Recogniser,
    checker: Checker,
    /// By event.
    inputs: Vec<Vec<SnapshotInput>>,
    outputs: ScriptOutputs,
    /// Per variable, the filter for its values; empty without abstraction.
    filters: Vec<ValueFilter>,
    /// The latest known time, in milliseconds.
    clock: i64,
    /// Which alarms have been raised.
    raised: Vec<bool>,
}

/// State of an event deriver: plain data, which can be sent to another process.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScriptState {
    recogniser: MachineState,
    checker: MachineState,
    filters: Vec<ValueFilter>,
    clock: i64,
    raised: Vec<bool>,
}

/// Converts an event parameter to a script value of type `ty`.
fn value<'a>(param: Option<&'a Param>, text: &'a str, ty: Option<Type>) -> Value<'a> {
    let Some((param, ty)) = param.zip(ty) else { return Value::Undefined };
    let found = match param.tag() {
        Tag::Bool => param.as_bool().map(Value::Boolean),
        Tag::Int if ty == Type::Boolean => param.as_int().map(|number| Value::Boolean(number != 0)),
        Tag::Int => param.as_int().map(Value::Long),
        Tag::Float => param.as_float().map(Value::Double),
        Tag::Short => param.as_short().map(Value::String),
        Tag::Text => param.as_text().and_then(|(start, len)| {
            text.get(start as usize..start as usize + len as usize).map(Value::String)
        }),
        Tag::Unset | Tag::None | Tag::Pool | Tag::Object => None,
    };
    let found = found.unwrap_or(Value::Undefined);
    match (found, ty) {
        // Some subjects represent a character as a string of length one.
        (Value::String(text), Type::Char) => text.encode_utf16().next().map_or(Value::Undefined, Value::Char),
        (found, ty) => found.cast(ty),
    }
}

/// Maximum number of arguments of a method.
const ARGUMENTS: usize = 16;

/// Converts the arguments of a method; returns their number.
fn convert_arguments<'a>(
    values: &mut [Value<'a>; ARGUMENTS],
    types: &[Option<Type>],
    arguments: &[Option<usize>],
    event: &'a Event<'_>,
) -> usize {
    let mut count = 0;
    for ((ty, at), into) in types.iter().zip(arguments).zip(values) {
        *into = at.map_or(Value::Undefined, |at| value(event.params.get(at), event.text, *ty));
        count += 1;
    }
    count
}

/// Whether a monitoring script declares the variable or method of an input.
fn is_known(input: &SnapshotInput, recogniser: &ScriptDef) -> bool {
    match input {
        SnapshotInput::Update { variable, .. } | SnapshotInput::Changed { variable, .. } => {
            (variable.0 as usize) < recogniser.variables().len()
        }
        SnapshotInput::Start { method, .. } | SnapshotInput::End { method, .. } => {
            (method.0 as usize) < recogniser.methods().len()
        }
        SnapshotInput::Tick => true,
    }
}

impl EventDeriver {
    /// Compiles the scripts.
    ///
    /// # Errors
    /// If a script cannot be compiled, if the scripts do not match, or if an input refers to an unknown
    /// variable or method.
    pub fn new(plan: &ScriptPlan) -> Result<EventDeriver, String> {
        if let Some((_, stray)) = plan.inputs.iter().find(|(_, input)| !is_known(input, &plan.recogniser)) {
            return Err(format!(
                "an event refers to a variable or method that the monitoring script does not declare: {stray:?}"
            ));
        }
        let mut inputs: Vec<Vec<SnapshotInput>> = Vec::new();
        for (event_id, input) in
            plan.inputs.iter().chain(&plan.tick.map(|(event_id, _)| (event_id, SnapshotInput::Tick)))
        {
            let at = event_id.0 as usize;
            if inputs.len() <= at {
                inputs.resize(at + 1, Vec::new());
            }
            inputs[at].push(input.clone());
        }
        let abstractions = if plan.abstracts { plan.recogniser.abstractions() } else { Vec::new() };
        let recogniser = Recogniser::new(plan.recogniser.clone()).map_err(|error| error.to_string())?;
        let checker = Checker::new(plan.checker.clone()).map_err(|error| error.to_string())?;
        let mut checker = checker.undefined_violates(plan.undefined_violates);
        checker.connect(&plan.recogniser.exports()).map_err(|missing| missing.to_string())?;
        Ok(EventDeriver {
            recogniser,
            checker,
            inputs,
            outputs: plan.outputs.clone(),
            filters: abstractions.iter().map(ValueFilter::new).collect(),
            clock: 0,
            raised: vec![false; plan.outputs.alarms.len()],
        })
    }

    /// The events that it needs.
    pub fn needed_events(&self) -> impl Iterator<Item = EventId> {
        let used = self.inputs.iter().enumerate().filter(|(_, inputs)| !inputs.is_empty());
        used.map(|(event_id, _)| EventId(event_id as u32))
    }

    /// The events that it derives.
    pub fn derived_events(&self) -> impl Iterator<Item = EventId> {
        self.outputs.all()
    }

    /// The checker of the requirement script.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Advances the clock to at least this time, for subjects that report the time only occasionally.
    pub fn advance_clock(&mut self, milliseconds: i64) {
        self.clock = self.clock.max(milliseconds);
    }

    /// Processes an event and appends the events derived from it.
    #[inline]
    pub fn derive(&mut self, event: &Event<'_>, meta: EventMeta, out: &mut EventBatch) {
        if self.inputs.get(event.id.0 as usize).is_some_and(|inputs| !inputs.is_empty()) {
            self.process(event, meta, out);
        }
    }

    fn process(&mut self, event: &Event<'_>, meta: EventMeta, out: &mut EventBatch) {
        if meta.time.is_finite() {
            self.clock = self.clock.max((meta.time * 1000.0) as i64);
        }
        let inputs = core::mem::take(&mut self.inputs);
        for input in inputs.get(event.id.0 as usize).into_iter().flatten() {
            // Cannot fail: inputs were checked against the script, and values are converted to the declared
            // types.
            if self.snapshot(input, event) == Ok(true) {
                self.append_result_events(meta, out);
            }
        }
        self.inputs = inputs;
    }

    /// Steps the recogniser, and the checker if there is something to report. Returns whether the checker was
    /// stepped.
    fn snapshot(&mut self, input: &SnapshotInput, event: &Event<'_>) -> Result<bool, SnapshotError> {
        let param = |at: usize, ty| value(event.params.get(at), event.text, ty);
        let mut values = [Value::Undefined; ARGUMENTS];
        let script = self.recogniser.script();
        let types = |method: &MethodId| match script.methods().get(method.0 as usize) {
            Some(method) => &method.parameters[..],
            None => &[],
        };
        let snapshot = match input {
            SnapshotInput::Tick => Snapshot::Tick,
            SnapshotInput::Update { variable, value } | SnapshotInput::Changed { variable, value } => {
                let ty = script.variables().get(variable.0 as usize).map(|variable| variable.ty);
                let value = param(*value, ty);
                if self.filters.get_mut(variable.0 as usize).is_some_and(|filter| !filter.passes(value)) {
                    return Ok(false);
                }
                match input {
                    SnapshotInput::Update { .. } => Snapshot::Update(*variable, value),
                    _ => Snapshot::Changed(*variable, value),
                }
            }
            SnapshotInput::Start { method, arguments } => {
                let count = convert_arguments(&mut values, types(method), arguments, event);
                Snapshot::Start(*method, &values[..count])
            }
            SnapshotInput::End { method, arguments, result } => {
                let count = convert_arguments(&mut values, types(method), arguments, event);
                let ty = script.methods().get(method.0 as usize).and_then(|method| method.result);
                let result = result.map_or(Value::Undefined, |at| param(at, ty));
                Snapshot::End(*method, &values[..count], result)
            }
        };
        let is_tick = matches!(snapshot, Snapshot::Tick);
        let group = self.recogniser.snapshot(snapshot, self.clock)?;
        // Time passes for the checker even without exported changes.
        let is_checked = !group.is_empty() || is_tick;
        if is_checked {
            self.checker.instant(group);
        }
        Ok(is_checked)
    }

    /// Appends the events for the results of the checker.
    fn append_result_events(&mut self, meta: EventMeta, out: &mut EventBatch) {
        let output = self.checker.output();
        for action in output.actions() {
            match action {
                Action::Print(message) => {
                    if let Some(event_id) = self.outputs.print {
                        let text = Param::of_text(message, &mut out.text);
                        out.push(event_id, &[text], meta);
                    }
                }
                Action::Invoke(id) => {
                    if let Some(event_id) = self.outputs.actions.get(id.0 as usize) {
                        out.push(*event_id, &[], meta);
                    }
                }
            }
        }
        for property_change in output.properties() {
            if let Some([undefined, fails, holds]) =
                self.outputs.properties.get(property_change.property as usize)
            {
                let event_id = match property_change.truth {
                    Truth::Undefined => undefined,
                    Truth::False => fails,
                    Truth::True => holds,
                };
                out.push(*event_id, &[], meta);
            }
        }
        for alarm in output.alarms() {
            let at = alarm.alarm as usize;
            if let Some(([raise, over], was_raised)) =
                self.outputs.alarms.get(at).zip(self.raised.get_mut(at))
            {
                if core::mem::replace(was_raised, true) {
                    out.push(*over, &[], meta);
                }
                out.push(*raise, &[], meta);
            }
        }
    }

    /// The state.
    pub fn state(&self) -> ScriptState {
        ScriptState {
            recogniser: self.recogniser.state().clone(),
            checker: self.checker.state().clone(),
            filters: self.filters.clone(),
            clock: self.clock,
            raised: self.raised.clone(),
        }
    }

    /// Restores a state. Returns false if it belongs to other scripts; the deriver is unusable then.
    pub fn restore(&mut self, saved: &ScriptState) -> bool {
        let is_like = |(own, other): (&ValueFilter, &ValueFilter)| own.is_like(other);
        if self.raised.len() != saved.raised.len()
            || self.filters.len() != saved.filters.len()
            || !self.filters.iter().zip(&saved.filters).all(is_like)
            || self.recogniser.restore(&saved.recogniser).is_err()
            || self.checker.restore(&saved.checker).is_err()
        {
            return false;
        }
        self.clock = saved.clock;
        self.filters.clone_from(&saved.filters);
        self.raised.clone_from(&saved.raised);
        true
    }
}
