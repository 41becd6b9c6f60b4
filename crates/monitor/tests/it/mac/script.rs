//! Scripts as plain trees, built both as script definitions for the engine and evaluated directly by the
//! tables.

use invigil_monitor::mac::{
    AuxiliaryId, Binary, ConditionId, DefinitionError, ExprId, MethodId, OccurrenceId, ScriptDef,
    ScriptEventId, Type, Unary, Value, VariableId,
};

/// A value with owned text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Val {
    Bool(bool),
    Byte(i8),
    Char(u16),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Text(String),
}

impl Val {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Val::Bool(v) => Value::Boolean(*v),
            Val::Byte(v) => Value::Byte(*v),
            Val::Char(v) => Value::Char(*v),
            Val::Short(v) => Value::Short(*v),
            Val::Int(v) => Value::Int(*v),
            Val::Long(v) => Value::Long(*v),
            Val::Float(v) => Value::Float(*v),
            Val::Double(v) => Value::Double(*v),
            Val::Text(v) => Value::String(v),
        }
    }

    pub(crate) fn of(value: Value<'_>) -> Option<Val> {
        Some(match value {
            Value::Undefined => return None,
            Value::Boolean(v) => Val::Bool(v),
            Value::Byte(v) => Val::Byte(v),
            Value::Char(v) => Val::Char(v),
            Value::Short(v) => Val::Short(v),
            Value::Int(v) => Val::Int(v),
            Value::Long(v) => Val::Long(v),
            Value::Float(v) => Val::Float(v),
            Value::Double(v) => Val::Double(v),
            Value::String(v) => Val::Text(v.into()),
        })
    }
}

/// An expression. Names are numbers.
#[derive(Clone, Debug)]
pub(crate) enum X {
    Const(Val),
    Undefined,
    Var(usize),
    Aux {
        variable: usize,
        primed: bool,
    },
    Now,
    Cond(usize),
    Un(Unary, Box<X>),
    Bin(Binary, Box<X>, Box<X>),
    /// String concatenation.
    Join(Box<X>, Box<X>),
    Cast(Type, Box<X>),
    Choose(Box<X>, Box<X>, Box<X>),
    Defined(Box<X>),
    Inside(usize),
    Interval(Box<E>, Box<E>),
    Time(Box<E>),
    Value(Box<E>, u32),
}

/// An event expression.
#[derive(Clone, Debug)]
pub(crate) enum E {
    Named(usize),
    Update(usize),
    StartM(usize),
    EndM(usize),
    Boundary(usize),
    Start(Box<X>),
    End(Box<X>),
    Both(Box<E>, Box<E>),
    Either(Box<E>, Box<E>),
    When(Box<E>, Box<X>),
}

/// A definition. Each refers only to earlier ones.
#[derive(Clone, Debug)]
pub(crate) enum Def {
    Event(E),
    Condition(X),
}

#[derive(Clone, Debug)]
pub(crate) enum Reaction {
    Assign(usize, X),
    Print(X),
}

#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// A named event.
    pub(crate) event: usize,
    pub(crate) actions: Vec<Reaction>,
}

/// A script of either kind. Imports are numbered before definitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) variables: Vec<Type>,
    pub(crate) methods: Vec<(Vec<Type>, Option<Type>)>,
    pub(crate) imported_events: Vec<Vec<Type>>,
    pub(crate) imported_conditions: usize,
    pub(crate) auxiliaries: Vec<(Type, Option<Val>)>,
    pub(crate) defs: Vec<Def>,
    pub(crate) properties: Vec<X>,
    pub(crate) alarms: Vec<E>,
    pub(crate) guards: Vec<Guard>,
}

impl Script {
    /// The definitions of events, by their numbers; `None` for those that are imported.
    pub(crate) fn events(&self) -> Vec<Option<&E>> {
        let defined = self.defs.iter().filter_map(|def| match def {
            Def::Event(event) => Some(Some(event)),
            Def::Condition(_) => None,
        });
        self.imported_events.iter().map(|_| None).chain(defined).collect()
    }

    /// The definitions of conditions, by their numbers; `None` for those that are imported.
    pub(crate) fn conditions(&self) -> Vec<Option<&X>> {
        let defined = self.defs.iter().filter_map(|def| match def {
            Def::Condition(condition) => Some(Some(condition)),
            Def::Event(_) => None,
        });
        (0..self.imported_conditions).map(|_| None).chain(defined).collect()
    }

    /// Builds the script definition. Without imports, everything is exported.
    pub(crate) fn parts(&self) -> Result<ScriptDef, DefinitionError> {
        let mut parts = ScriptDef::default();
        for (at, ty) in self.variables.iter().enumerate() {
            parts.variable(&format!("v{at}"), *ty);
        }
        for (at, (parameters, result)) in self.methods.iter().enumerate() {
            let parameters: Vec<_> = parameters.iter().copied().map(Some).collect();
            parts.method(&format!("m{at}"), &parameters, *result);
        }
        for (at, types) in self.imported_events.iter().enumerate() {
            parts.import_event(&format!("e{at}"), types);
        }
        for at in 0..self.imported_conditions {
            parts.import_condition(&format!("c{at}"));
        }
        for (at, (ty, initial)) in self.auxiliaries.iter().enumerate() {
            let initial = initial.as_ref().map_or(Value::Undefined, Val::value);
            parts.auxiliary(&format!("a{at}"), *ty, initial)?;
        }
        let exporting = self.guards.is_empty() && self.imported_events.is_empty();
        for (at, def) in self.defs.iter().enumerate() {
            match def {
                Def::Event(event) => {
                    let event = occurrence(&mut parts, event)?;
                    let event = parts.define_event(&format!("d{at}"), event)?;
                    if exporting {
                        parts.export_event(event)?;
                    }
                }
                Def::Condition(condition) => {
                    let condition = expr(&mut parts, condition)?;
                    let condition = parts.define_condition(&format!("d{at}"), condition)?;
                    if exporting {
                        parts.export_condition(condition)?;
                    }
                }
            }
        }
        for (at, property) in self.properties.iter().enumerate() {
            let property = expr(&mut parts, property)?;
            parts.property(&format!("p{at}"), property)?;
        }
        for (at, alarm) in self.alarms.iter().enumerate() {
            let alarm = occurrence(&mut parts, alarm)?;
            parts.alarm(&format!("w{at}"), alarm)?;
        }
        for guard in &self.guards {
            let event = parts.event(ScriptEventId(guard.event as u32))?;
            let id = parts.guard(event)?;
            for action in &guard.actions {
                match action {
                    Reaction::Assign(variable, value) => {
                        let value = expr(&mut parts, value)?;
                        parts.assign(id, AuxiliaryId(*variable as u32), value)?;
                    }
                    Reaction::Print(value) => {
                        let value = expr(&mut parts, value)?;
                        parts.print(id, value)?;
                    }
                }
            }
        }
        Ok(parts)
    }
}

pub(crate) fn expr(parts: &mut ScriptDef, x: &X) -> Result<ExprId, DefinitionError> {
    match x {
        X::Const(value) => Ok(parts.constant(value.value())),
        X::Undefined => Ok(parts.constant(Value::Undefined)),
        X::Var(at) => parts.read(VariableId(*at as u32)),
        X::Aux { variable, primed: false } => parts.unprimed(AuxiliaryId(*variable as u32)),
        X::Aux { variable, primed: true } => parts.primed(AuxiliaryId(*variable as u32)),
        X::Now => Ok(parts.now()),
        X::Cond(at) => parts.condition(ConditionId(*at as u32)),
        X::Un(operator, a) => {
            let a = expr(parts, a)?;
            parts.unary(*operator, a)
        }
        X::Bin(operator, a, b) => {
            let (a, b) = (expr(parts, a)?, expr(parts, b)?);
            parts.binary(*operator, a, b)
        }
        X::Join(a, b) => {
            let (a, b) = (expr(parts, a)?, expr(parts, b)?);
            parts.binary(Binary::Add, a, b)
        }
        X::Cast(ty, a) => {
            let a = expr(parts, a)?;
            parts.cast(*ty, a)
        }
        X::Choose(c, a, b) => {
            let (c, a, b) = (expr(parts, c)?, expr(parts, a)?, expr(parts, b)?);
            parts.choose(c, a, b)
        }
        X::Defined(a) => {
            let a = expr(parts, a)?;
            parts.defined(a)
        }
        X::Inside(at) => parts.inside(MethodId(*at as u32)),
        X::Interval(a, b) => {
            let (a, b) = (occurrence(parts, a)?, occurrence(parts, b)?);
            parts.interval(a, b)
        }
        X::Time(e) => {
            let e = occurrence(parts, e)?;
            parts.time(e)
        }
        X::Value(e, index) => {
            let e = occurrence(parts, e)?;
            parts.value(e, *index)
        }
    }
}

pub(crate) fn occurrence(parts: &mut ScriptDef, e: &E) -> Result<OccurrenceId, DefinitionError> {
    match e {
        E::Named(at) => parts.event(ScriptEventId(*at as u32)),
        E::Update(at) => parts.update_of(VariableId(*at as u32)),
        E::StartM(at) => parts.start_of(MethodId(*at as u32)),
        E::EndM(at) => parts.end_of(MethodId(*at as u32)),
        E::Boundary(at) => parts.boundary_of(MethodId(*at as u32)),
        E::Start(c) => {
            let c = expr(parts, c)?;
            parts.start(c)
        }
        E::End(c) => {
            let c = expr(parts, c)?;
            parts.end(c)
        }
        E::Both(a, b) => {
            let (a, b) = (occurrence(parts, a)?, occurrence(parts, b)?);
            parts.both(a, b)
        }
        E::Either(a, b) => {
            let (a, b) = (occurrence(parts, a)?, occurrence(parts, b)?);
            parts.either(a, b)
        }
        E::When(e, c) => {
            let (e, c) = (occurrence(parts, e)?, expr(parts, c)?);
            parts.when(e, c)
        }
    }
}
