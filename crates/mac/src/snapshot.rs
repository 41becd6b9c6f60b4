//! Snapshots that own their data.

use invigil_monitor::mac::{MethodId, Snapshot, Value, VariableId};

/// A value that owns its text.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
    /// A number, a character, a Boolean, or undefined.
    Plain(Value<'static>),
    /// A text.
    Text(String),
}

impl OwnedValue {
    /// The undefined value.
    pub const UNDEFINED: OwnedValue = OwnedValue::Plain(Value::Undefined);

    /// The value, borrowed.
    pub fn value(&self) -> Value<'_> {
        match self {
            OwnedValue::Plain(value) => *value,
            OwnedValue::Text(text) => Value::String(text),
        }
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> OwnedValue {
        OwnedValue::Plain(match value {
            Value::String(text) => return OwnedValue::Text(text.to_owned()),
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

/// A snapshot with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedSnapshot {
    /// Time in milliseconds of the program's clock.
    pub time: i64,
    /// The snapshot.
    pub snapshot: OwnedSnapshot,
}

/// A [`Snapshot`] that owns its data.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedSnapshot {
    /// A variable was assigned.
    Update(VariableId, OwnedValue),
    /// A method was entered.
    Start(MethodId, Vec<OwnedValue>),
    /// A method returned or threw an exception.
    End(MethodId, Vec<OwnedValue>, OwnedValue),
    /// A variable has another value without an assignment, because its name refers to another object now.
    Changed(VariableId, OwnedValue),
    /// The variables are undefined from now on.
    Invalidated(Vec<VariableId>),
    /// Time passed.
    Tick,
}

impl OwnedSnapshot {
    /// Calls a function with the borrowed snapshot.
    pub fn with_borrowed<T>(&self, then: impl FnOnce(Snapshot<'_>) -> T) -> T {
        match self {
            OwnedSnapshot::Update(variable, value) => then(Snapshot::Update(*variable, value.value())),
            OwnedSnapshot::Start(method, arguments) => then(Snapshot::Start(*method, &values(arguments))),
            OwnedSnapshot::End(method, arguments, result) => {
                then(Snapshot::End(*method, &values(arguments), result.value()))
            }
            OwnedSnapshot::Changed(variable, value) => then(Snapshot::Changed(*variable, value.value())),
            OwnedSnapshot::Invalidated(variables) => then(Snapshot::Invalidated(variables)),
            OwnedSnapshot::Tick => then(Snapshot::Tick),
        }
    }
}

fn values(owned: &[OwnedValue]) -> Vec<Value<'_>> {
    owned.iter().map(OwnedValue::value).collect()
}

impl From<Snapshot<'_>> for OwnedSnapshot {
    fn from(snapshot: Snapshot<'_>) -> OwnedSnapshot {
        let owned = |values: &[Value<'_>]| values.iter().map(|value| OwnedValue::from(*value)).collect();
        match snapshot {
            Snapshot::Update(variable, value) => OwnedSnapshot::Update(variable, value.into()),
            Snapshot::Start(method, arguments) => OwnedSnapshot::Start(method, owned(arguments)),
            Snapshot::End(method, arguments, result) => {
                OwnedSnapshot::End(method, owned(arguments), result.into())
            }
            Snapshot::Changed(variable, value) => OwnedSnapshot::Changed(variable, value.into()),
            Snapshot::Invalidated(variables) => OwnedSnapshot::Invalidated(variables.to_vec()),
            Snapshot::Tick => OwnedSnapshot::Tick,
        }
    }
}
