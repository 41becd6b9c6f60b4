//! Records of a log: names and uninterpreted values.

use invigil_model::Domain;

/// A value as the log contains it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogValue<'a> {
    /// An integer.
    Integer(i64),
    /// A Boolean.
    Boolean(bool),
    /// A number with a fraction.
    Number(f64),
    /// Any text, including names.
    Text(&'a str),
}

/// One line of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record<'a> {
    /// The event; none if the record only describes a state.
    pub event: Option<&'a str>,
    /// Values by the index of their field in [`Binding::fields`](super::Binding::fields). Missing, empty and null
    /// fields are left out.
    pub values: Vec<(u32, LogValue<'a>)>,
}

impl LogValue<'_> {
    /// Converts the value to a value of a domain; without a domain, to an integer. Returns none if it does not fit
    /// the domain. Integers outside the range of the domain are accepted.
    pub(crate) fn as_domain_value(self, domain: Option<&Domain>) -> Option<i64> {
        match (domain, self) {
            (Some(Domain::Names(names)), value) => {
                let text = value.to_string();
                let named = names.iter().position(|name| *name == text).map(|at| at as i64);
                // A name may also be written as its number.
                let numbered = match value {
                    LogValue::Integer(value) => Some(value),
                    _ => None,
                };
                named.or(numbered.filter(|value| (0..names.len() as i64).contains(value)))
            }
            (_, LogValue::Integer(value)) => Some(value),
            (_, LogValue::Boolean(value)) => Some(i64::from(value)),
            (_, LogValue::Number(value)) => exact_integer(value),
            (_, LogValue::Text("true")) => Some(1),
            (_, LogValue::Text("false")) => Some(0),
            (_, LogValue::Text(text)) => text.parse().ok(),
        }
    }
}

impl core::fmt::Display for LogValue<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            LogValue::Integer(value) => value.fmt(f),
            LogValue::Boolean(value) => value.fmt(f),
            LogValue::Number(value) => value.fmt(f),
            LogValue::Text(text) => f.write_str(text),
        }
    }
}

/// Converts a number without a fraction to an integer.
fn exact_integer(value: f64) -> Option<i64> {
    // 2^63 is representable as a float, but too large for the integer.
    let is_exact = value.trunc() == value && (-(2_f64.powi(63))..2_f64.powi(63)).contains(&value);
    is_exact.then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_values_convert_to_domain_values() {
        let names = Domain::Names(vec!["idle".into(), "7".into()]);
        let small = Domain::Integer { low: 0, high: 3 };
        let table = [
            (Some(&names), LogValue::Text("idle"), Some(0)),
            (Some(&names), LogValue::Integer(7), Some(1)),
            (Some(&names), LogValue::Integer(0), Some(0)),
            (Some(&names), LogValue::Integer(2), None),
            (Some(&names), LogValue::Text("idel"), None),
            (Some(&small), LogValue::Integer(9), Some(9)),
            (Some(&small), LogValue::Text("2"), Some(2)),
            (Some(&small), LogValue::Text("two"), None),
            (Some(&small), LogValue::Number(2.0), Some(2)),
            (Some(&small), LogValue::Number(2.5), None),
            (Some(&Domain::Boolean), LogValue::Boolean(true), Some(1)),
            (Some(&Domain::Boolean), LogValue::Text("false"), Some(0)),
            (Some(&Domain::Boolean), LogValue::Integer(1), Some(1)),
            (None, LogValue::Integer(-4), Some(-4)),
            (None, LogValue::Number(1e300), None),
        ];
        for (domain, log_value, value) in table {
            assert_eq!(log_value.as_domain_value(domain), value, "{log_value} as {domain:?}");
        }
    }
}
