//! Snapshots that have been read, and own what they say.

use invigil_monitor::mac::{MethodId, Snapshot, Value, VariableId};

/// A value that owns its text.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// A number, a character, a truth value, or nothing.
    Plain(Value<'static>),
    /// A text.
    Text(String),
}

impl Held {
    /// Nothing is known.
    pub const UNDEFINED: Held = Held::Plain(Value::Undefined);

    /// The value.
    pub fn value(&self) -> Value<'_> {
        match self {
            Held::Plain(value) => *value,
            Held::Text(text) => Value::String(text),
        }
    }
}

impl From<Value<'_>> for Held {
    fn from(value: Value<'_>) -> Held {
        Held::Plain(match value {
            Value::String(text) => return Held::Text(text.to_owned()),
            Value::Undefined => Value::Undefined,
            Value::Boolean(v) => Value::Boolean(v),
            Value::Byte(v) => Value::Byte(v),
            Value::Char(v) => Value::Char(v),
            Value::Short(v) => Value::Short(v),
            Value::Int(v) => Value::Int(v),
            Value::Long(v) => Value::Long(v),
            Value::Float(v) => Value::Float(v),
            Value::Double(v) => Value::Double(v),
        })
    }
}

/// A snapshot, and when it was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// When, in milliseconds of the program's clock.
    pub time: i64,
    /// What happened.
    pub what: What,
}

/// What a [`Snapshot`] says, in memory of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A variable was assigned.
    Update(VariableId, Held),
    /// Control entered a method.
    Start(MethodId, Vec<Held>),
    /// Control left a method.
    End(MethodId, Vec<Held>, Held),
    /// A variable has another value, though nobody assigned it: its name means another object now.
    Changed(VariableId, Held),
    /// Variables are undefined from now on.
    Gone(Vec<VariableId>),
    /// Time passed.
    Tick,
}

impl What {
    /// Hands the snapshot to someone.
    pub fn with<T>(&self, then: impl FnOnce(Snapshot<'_>) -> T) -> T {
        match self {
            What::Update(variable, value) => then(Snapshot::Update(*variable, value.value())),
            What::Start(method, arguments) => then(Snapshot::Start(*method, &values(arguments))),
            What::End(method, arguments, result) => {
                then(Snapshot::End(*method, &values(arguments), result.value()))
            }
            What::Changed(variable, value) => then(Snapshot::Changed(*variable, value.value())),
            What::Gone(variables) => then(Snapshot::Gone(variables)),
            What::Tick => then(Snapshot::Tick),
        }
    }
}

fn values(held: &[Held]) -> Vec<Value<'_>> {
    held.iter().map(Held::value).collect()
}

impl From<Snapshot<'_>> for What {
    fn from(snapshot: Snapshot<'_>) -> What {
        let held = |values: &[Value<'_>]| values.iter().map(|value| Held::from(*value)).collect();
        match snapshot {
            Snapshot::Update(variable, value) => What::Update(variable, value.into()),
            Snapshot::Start(method, arguments) => What::Start(method, held(arguments)),
            Snapshot::End(method, arguments, result) => What::End(method, held(arguments), result.into()),
            Snapshot::Changed(variable, value) => What::Changed(variable, value.into()),
            Snapshot::Gone(variables) => What::Gone(variables.to_vec()),
            Snapshot::Tick => What::Tick,
        }
    }
}
