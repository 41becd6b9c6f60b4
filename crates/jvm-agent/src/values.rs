//! Values between the protocol and the monitors.

use crate::protocol::Datum;
use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::Batch;

/// A value for the monitors; long text goes to the batch that the event is in.
///
/// ```
/// use invigil_jvm_agent::protocol::Datum;
/// use invigil_jvm_agent::values::value;
/// use invigil_monitor::event::Batch;
/// let number = value(&Datum::Object { number: 7 }, &mut Batch::default());
/// assert_eq!(number.as_int(), Some(7));
/// ```
pub fn value(datum: &Datum, batch: &mut Batch) -> Value {
    match datum {
        Datum::Unset => Value::UNSET,
        Datum::Null => Value::NONE,
        Datum::Bool { value } => Value::bool(*value),
        Datum::Int { value } | Datum::Object { number: value } => Value::int(*value),
        Datum::Float { value } => Value::float(*value),
        Datum::Text { value } => Value::short(value).unwrap_or_else(|| {
            let start = batch.text.len() as u32;
            batch.text.push_str(value);
            Value::text(start, value.len() as u32)
        }),
    }
}

/// The same in the other direction.
pub(crate) fn datum(value: &Value, text: &str) -> Datum {
    let found = match value.tag() {
        Tag::None => Some(Datum::Null),
        Tag::Bool => value.as_bool().map(|value| Datum::Bool { value }),
        Tag::Int => value.as_int().map(|value| Datum::Int { value }),
        Tag::Float => value.as_float().map(|value| Datum::Float { value }),
        Tag::Short => value.as_short().map(|value| Datum::Text { value: value.to_owned() }),
        Tag::Text => value.as_text().and_then(|(start, len)| {
            let value = text.get(start as usize..start as usize + len as usize)?;
            Some(Datum::Text { value: value.to_owned() })
        }),
        Tag::Unset | Tag::Pool | Tag::Object => None,
    };
    found.unwrap_or(Datum::Unset)
}
