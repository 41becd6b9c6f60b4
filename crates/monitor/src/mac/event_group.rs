//! Exports of one instant, from a recogniser to a checker: events that occurred and conditions that changed.

use super::value::{Truth, Type, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// The events and conditions of one instant, by the numbers of an [`Interface`].
///
/// Readers of recordings reuse one group for all instants, so that they do not allocate.
///
/// ```
/// use invigil_monitor::mac::{EventGroup, Truth, Value};
/// let mut group = EventGroup::default();
/// group.begin(72_342_400);
/// group.event(1);
/// group.value(Value::Int(13));
/// group.condition(0, Truth::True);
/// let entering = group.events().next().unwrap();
/// assert_eq!(entering.event, 1);
/// assert_eq!(entering.values().collect::<Vec<_>>(), [Value::Int(13)]);
/// assert_eq!(group.conditions(), [(0, Truth::True)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventGroup {
    time: i64,
    events: Vec<StoredEvent>,
    values: Vec<PackedValue>,
    text: String,
    conditions: Vec<(u32, Truth)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct StoredEvent {
    event: u32,
    /// Index of its first value. The values end where those of the next event start.
    first_value: u32,
}

/// A value in one word; strings are stored in a common buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PackedValue {
    ty: Option<Type>,
    bits: u64,
}

/// An event of an [`EventGroup`].
#[derive(Clone, Copy, Debug)]
pub struct GroupEvent<'a> {
    /// The number of the event.
    pub event: u32,
    values: &'a [PackedValue],
    text: &'a str,
}

impl<'a> GroupEvent<'a> {
    /// Its values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value<'a>> + use<'a> {
        let text = self.text;
        self.values.iter().map(move |packed| packed.value(text))
    }
}

impl PackedValue {
    fn value<'a>(&self, text: &'a str) -> Value<'a> {
        let bits = self.bits;
        match self.ty {
            None => Value::Undefined,
            Some(Type::Boolean) => Value::Boolean(bits != 0),
            Some(Type::Byte) => Value::Byte(bits as i8),
            Some(Type::Char) => Value::Char(bits as u16),
            Some(Type::Short) => Value::Short(bits as i16),
            Some(Type::Int) => Value::Int(bits as i32),
            Some(Type::Long) => Value::Long(bits as i64),
            Some(Type::Float) => Value::Float(f32::from_bits(bits as u32)),
            Some(Type::Double) => Value::Double(f64::from_bits(bits)),
            Some(Type::String) => {
                let start = (bits >> 32) as usize;
                let end = start + (bits as u32) as usize;
                Value::String(text.get(start..end).unwrap_or(""))
            }
        }
    }
}

impl EventGroup {
    /// Clears the group for an instant at this time.
    pub fn begin(&mut self, time: i64) {
        self.time = time;
        self.events.clear();
        self.values.clear();
        self.text.clear();
        self.conditions.clear();
    }

    /// Adds an event; the values added next belong to it.
    pub fn event(&mut self, event: u32) {
        self.events.push(StoredEvent { event, first_value: self.values.len() as u32 });
    }

    /// Adds a value to the event that was added last.
    pub fn value(&mut self, value: Value<'_>) {
        let bits = match value {
            Value::String(v) => {
                let start = self.text.len() as u64;
                self.text.push_str(v);
                start << 32 | v.len() as u64
            }
            plain => plain.bits(),
        };
        self.values.push(PackedValue { ty: value.ty(), bits });
    }

    /// Adds a condition with its new value.
    pub fn condition(&mut self, condition: u32, truth: Truth) {
        self.conditions.push((condition, truth));
    }

    /// The time of the instant, in milliseconds of the subject's clock.
    pub fn time(&self) -> i64 {
        self.time
    }

    /// The events that occurred.
    pub fn events(&self) -> impl ExactSizeIterator<Item = GroupEvent<'_>> {
        (0..self.events.len()).map(|at| {
            let stored = self.events[at];
            let end = self.events.get(at + 1).map_or(self.values.len(), |next| next.first_value as usize);
            let values = &self.values[stored.first_value as usize..end];
            GroupEvent { event: stored.event, values, text: &self.text }
        })
    }

    /// The conditions that changed, with their new values.
    pub fn conditions(&self) -> &[(u32, Truth)] {
        &self.conditions
    }

    /// Whether there are neither events nor conditions.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.conditions.is_empty()
    }
}

/// The names of the numbers in an [`EventGroup`]: exports of a recogniser or imports of a checker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The events, by number.
    pub events: Vec<String>,
    /// The conditions, by number.
    pub conditions: Vec<String>,
}
