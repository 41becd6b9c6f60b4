//! Recogniser and checker between a subject and its other monitors: events in, events out.
//!
//! What a subject tells are events of a catalog, like all others. Some of them are snapshots to the recogniser; what the
//! checker finds becomes events again. So a property or an alarm of a requirement script is watched by a small automaton,
//! and nothing else need know that it was a script that decided.

use super::call::Call;
use super::ids::{MethodId, VariableId};
use super::value::{Truth, Type, Value};
use super::{Checker, Done, Filter, Misfit, Parts, Recogniser, Snapshot, State};
use crate::event::{Batch, Event, Stamp, SymbolId};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use invigil_expr::value::{Tag, Value as Param};

/// What an event of the subject is to the recogniser. Parameters are positions among those of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Input {
    /// A variable was assigned.
    Update {
        /// Which.
        variable: VariableId,
        /// Where its new value is.
        value: usize,
    },
    /// A variable has another value, or none, though nobody assigned it: its name means another object.
    Changed {
        /// Which.
        variable: VariableId,
        /// Where its value is.
        value: usize,
    },
    /// A method begins.
    Start {
        /// Which.
        method: MethodId,
        /// Where its arguments are; nothing for those that nobody reads.
        arguments: Vec<Option<usize>>,
    },
    /// A method ends.
    End {
        /// Which.
        method: MethodId,
        /// Where its arguments are; nothing for those that nobody reads.
        arguments: Vec<Option<usize>>,
        /// Where its result is.
        result: Option<usize>,
    },
    /// Time passed.
    Tick,
}

/// The events that tell what the checker finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outputs {
    /// For each property: it is undefined, false, true from now on.
    pub properties: Vec<[SymbolId; 3]>,
    /// For each alarm: it is raised; and, before it is raised again, it is over.
    pub alarms: Vec<[SymbolId; 2]>,
    /// For each action: it is invoked.
    pub actions: Vec<SymbolId>,
    /// Something is printed: its one parameter.
    pub print: Option<SymbolId>,
}

impl Outputs {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = SymbolId> {
        let Outputs { properties, alarms, actions, print } = self;
        let properties = properties.iter().flatten();
        properties.chain(alarms.iter().flatten()).chain(actions).chain(print).copied()
    }
}

/// All that it takes to make a [`Deriver`]: plain data, which can go to where the events happen.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plan {
    /// The monitoring script.
    pub recogniser: Parts,
    /// The requirement script.
    pub checker: Parts,
    /// What events of the subject are; each may be several.
    pub inputs: Vec<(SymbolId, Input)>,
    /// What findings become.
    pub outputs: Outputs,
    /// Whether a property that is undefined is violated.
    pub strict: bool,
    /// Whether values that change nothing are passed over.
    pub abstracts: bool,
    /// How often time is told, in milliseconds, and as which event.
    pub tick: Option<(SymbolId, u32)>,
    /// Methods of the program that are called when an action is invoked, by the event that tells it.
    pub calls: Vec<(SymbolId, Call)>,
}

impl Plan {
    /// Whether some definition asks for the time.
    pub fn asks_time(&self) -> bool {
        self.recogniser.asks_time() || self.checker.asks_time()
    }
}

/// Recogniser and checker between a subject and its other monitors; see the module.
#[derive(Clone, Debug)]
pub struct Deriver {
    recogniser: Recogniser,
    checker: Checker,
    /// By symbol.
    inputs: Vec<Vec<Input>>,
    outputs: Outputs,
    /// For each variable, what says which of its values matter; empty if all do.
    filters: Vec<Filter>,
    /// The latest time that the subject told, in milliseconds.
    clock: i64,
    /// Which alarms were raised before.
    raised: Vec<bool>,
}

/// What a deriver remembers: plain data, which can go to another process.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Remembered {
    recogniser: State,
    checker: State,
    filters: Vec<Filter>,
    clock: i64,
    raised: Vec<bool>,
}

/// What a parameter of an event is to a script, as a value of this type.
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
        // Text of one letter is how some subjects tell a character.
        (Value::String(text), Type::Char) => text.encode_utf16().next().map_or(Value::Undefined, Value::Char),
        (found, ty) => found.cast(ty),
    }
}

/// The most arguments of a method that are told.
const ARGUMENTS: usize = 16;

/// The arguments of a method, as many as there are.
fn fill<'a>(
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

/// Whether a monitoring script has what an event is to be.
fn is_known(input: &Input, recogniser: &Parts) -> bool {
    match input {
        Input::Update { variable, .. } | Input::Changed { variable, .. } => {
            (variable.0 as usize) < recogniser.variables().len()
        }
        Input::Start { method, .. } | Input::End { method, .. } => {
            (method.0 as usize) < recogniser.methods().len()
        }
        Input::Tick => true,
    }
}

impl Deriver {
    /// # Errors
    /// In words, if the scripts cannot be run, or do not fit each other, or an event is to be something that the
    /// monitoring script does not have.
    pub fn new(plan: &Plan) -> Result<Deriver, String> {
        if let Some((_, stray)) = plan.inputs.iter().find(|(_, input)| !is_known(input, &plan.recogniser)) {
            return Err(format!("the monitoring script does not have what an event is to be: {stray:?}"));
        }
        let mut inputs: Vec<Vec<Input>> = Vec::new();
        for (symbol, input) in plan.inputs.iter().chain(&plan.tick.map(|(symbol, _)| (symbol, Input::Tick))) {
            let at = symbol.0 as usize;
            if inputs.len() <= at {
                inputs.resize(at + 1, Vec::new());
            }
            inputs[at].push(input.clone());
        }
        let abstractions = if plan.abstracts { plan.recogniser.abstractions() } else { Vec::new() };
        let recogniser = Recogniser::new(plan.recogniser.clone()).map_err(|unfit| unfit.to_string())?;
        let checker = Checker::new(plan.checker.clone()).map_err(|unfit| unfit.to_string())?;
        let mut checker = checker.strict(plan.strict);
        checker.connect(&plan.recogniser.exports()).map_err(|missing| missing.to_string())?;
        Ok(Deriver {
            recogniser,
            checker,
            inputs,
            outputs: plan.outputs.clone(),
            filters: abstractions.iter().map(Filter::new).collect(),
            clock: 0,
            raised: vec![false; plan.outputs.alarms.len()],
        })
    }

    /// The events that it must be told.
    pub fn needs(&self) -> impl Iterator<Item = SymbolId> {
        let used = self.inputs.iter().enumerate().filter(|(_, inputs)| !inputs.is_empty());
        used.map(|(symbol, _)| SymbolId(symbol as u32))
    }

    /// The events that it makes.
    pub fn gives(&self) -> impl Iterator<Item = SymbolId> {
        self.outputs.all()
    }

    /// The requirement script's side.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// It is as late as this, in milliseconds, at least: for subjects that tell the time now and then.
    pub fn pass(&mut self, milliseconds: i64) {
        self.clock = self.clock.max(milliseconds);
    }

    /// Follows an event, and appends the events that it leads to.
    #[inline]
    pub fn derive(&mut self, event: &Event<'_>, stamp: Stamp, out: &mut Batch) {
        if self.inputs.get(event.symbol.0 as usize).is_some_and(|inputs| !inputs.is_empty()) {
            self.follow(event, stamp, out);
        }
    }

    fn follow(&mut self, event: &Event<'_>, stamp: Stamp, out: &mut Batch) {
        if stamp.time.is_finite() {
            self.clock = self.clock.max((stamp.time * 1000.0) as i64);
        }
        let inputs = core::mem::take(&mut self.inputs);
        for input in inputs.get(event.symbol.0 as usize).into_iter().flatten() {
            // Each input is one that the script knows, and each value is of the type that it gives: all fit.
            if self.snapshot(input, event) == Ok(true) {
                self.tell(stamp, out);
            }
        }
        self.inputs = inputs;
    }

    /// One step of the recogniser, and of the checker if that has something to tell it: then it is true.
    fn snapshot(&mut self, input: &Input, event: &Event<'_>) -> Result<bool, Misfit> {
        let param = |at: usize, ty| value(event.params.get(at), event.text, ty);
        let mut values = [Value::Undefined; ARGUMENTS];
        let parts = self.recogniser.parts();
        let types = |method: &MethodId| match parts.methods().get(method.0 as usize) {
            Some(method) => &method.parameters[..],
            None => &[],
        };
        let what = match input {
            Input::Tick => Snapshot::Tick,
            Input::Update { variable, value } | Input::Changed { variable, value } => {
                let ty = parts.variables().get(variable.0 as usize).map(|variable| variable.ty);
                let value = param(*value, ty);
                if self.filters.get_mut(variable.0 as usize).is_some_and(|filter| !filter.passes(value)) {
                    return Ok(false);
                }
                match input {
                    Input::Update { .. } => Snapshot::Update(*variable, value),
                    _ => Snapshot::Changed(*variable, value),
                }
            }
            Input::Start { method, arguments } => {
                let count = fill(&mut values, types(method), arguments, event);
                Snapshot::Start(*method, &values[..count])
            }
            Input::End { method, arguments, result } => {
                let count = fill(&mut values, types(method), arguments, event);
                let ty = parts.methods().get(method.0 as usize).and_then(|method| method.result);
                let result = result.map_or(Value::Undefined, |at| param(at, ty));
                Snapshot::End(*method, &values[..count], result)
            }
        };
        let is_tick = matches!(what, Snapshot::Tick);
        let group = self.recogniser.snapshot(what, self.clock)?;
        // Time passes for the checker, too, when there is nothing else to tell.
        let is_told = !group.is_empty() || is_tick;
        if is_told {
            self.checker.instant(group);
        }
        Ok(is_told)
    }

    /// Appends what the checker found.
    fn tell(&mut self, stamp: Stamp, out: &mut Batch) {
        let findings = self.checker.findings();
        for done in findings.done() {
            match done {
                Done::Print(words) => {
                    if let Some(symbol) = self.outputs.print {
                        let start = out.text.len() as u32;
                        let said = Param::short(words).unwrap_or_else(|| {
                            out.text.push_str(words);
                            Param::text(start, words.len() as u32)
                        });
                        out.push(symbol, &[said], stamp);
                    }
                }
                Done::Invoke(action) => {
                    if let Some(symbol) = self.outputs.actions.get(action.0 as usize) {
                        out.push(*symbol, &[], stamp);
                    }
                }
            }
        }
        for judged in findings.properties() {
            if let Some([undefined, fails, holds]) = self.outputs.properties.get(judged.property as usize) {
                let symbol = match judged.truth {
                    Truth::Undefined => undefined,
                    Truth::False => fails,
                    Truth::True => holds,
                };
                out.push(*symbol, &[], stamp);
            }
        }
        for raised in findings.alarms() {
            let at = raised.alarm as usize;
            if let Some(([raise, over], was_raised)) =
                self.outputs.alarms.get(at).zip(self.raised.get_mut(at))
            {
                if core::mem::replace(was_raised, true) {
                    out.push(*over, &[], stamp);
                }
                out.push(*raise, &[], stamp);
            }
        }
    }

    /// What it remembers.
    pub fn remembered(&self) -> Remembered {
        Remembered {
            recogniser: self.recogniser.state().clone(),
            checker: self.checker.state().clone(),
            filters: self.filters.clone(),
            clock: self.clock,
            raised: self.raised.clone(),
        }
    }

    /// Goes back to what it remembered once. False if that was another's; then it is of no use any more.
    pub fn restore(&mut self, remembered: &Remembered) -> bool {
        let is_like = |(own, other): (&Filter, &Filter)| own.is_like(other);
        if self.raised.len() != remembered.raised.len()
            || self.filters.len() != remembered.filters.len()
            || !self.filters.iter().zip(&remembered.filters).all(is_like)
            || self.recogniser.restore(&remembered.recogniser).is_err()
            || self.checker.restore(&remembered.checker).is_err()
        {
            return false;
        }
        self.clock = remembered.clock;
        self.filters.clone_from(&remembered.filters);
        self.raised.clone_from(&remembered.raised);
        true
    }
}
