//! Conversion of values between the protocol and the monitors.

use crate::protocol::WireValue;
use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::EventBatch;

/// A value for the monitors. Long text is appended to the batch that the event is in.
///
/// ```
/// use invigil_jvm_agent::protocol::WireValue;
/// use invigil_jvm_agent::values::value;
/// use invigil_monitor::event::EventBatch;
/// let number = value(&WireValue::Object { number: 7 }, &mut EventBatch::default());
/// assert_eq!(number.as_int(), Some(7));
/// ```
pub fn value(wire_value: &WireValue, batch: &mut EventBatch) -> Value {
    match wire_value {
        WireValue::Unset => Value::UNSET,
        WireValue::Null => Value::NONE,
        WireValue::Bool { value } => Value::bool(*value),
        WireValue::Int { value } | WireValue::Object { number: value } => Value::int(*value),
        WireValue::Float { value } => Value::float(*value),
        WireValue::Text { value } => Value::of_text(value, &mut batch.text),
    }
}

/// A monitor's value for the protocol.
pub(crate) fn wire_value(value: &Value, text: &str) -> WireValue {
    let found = match value.tag() {
        Tag::None => Some(WireValue::Null),
        Tag::Bool => value.as_bool().map(|value| WireValue::Bool { value }),
        Tag::Int => value.as_int().map(|value| WireValue::Int { value }),
        Tag::Float => value.as_float().map(|value| WireValue::Float { value }),
        Tag::Short => value.as_short().map(|value| WireValue::Text { value: value.to_owned() }),
        Tag::Text => value.as_text().and_then(|(start, len)| {
            let value = text.get(start as usize..start as usize + len as usize)?;
            Some(WireValue::Text { value: value.to_owned() })
        }),
        Tag::Unset | Tag::Pool | Tag::Object => None,
    };
    found.unwrap_or(WireValue::Unset)
}
