//! Conversion of values between the protocol and the monitors.

use crate::protocol::WireValue;
use invigil_expr::value::Value;
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
