//! What a record of a log gives: names and plain values, not yet understood.

use invigil_model::Kind;

/// A value as the log spells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given<'a> {
    /// A whole number.
    Integer(i64),
    /// False or true.
    Boolean(bool),
    /// A number with a fraction.
    Number(f64),
    /// Any text: names are text.
    Text(&'a str),
}

/// One line of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record<'a> {
    /// What happened; none if the record only tells of a state.
    pub event: Option<&'a str>,
    /// Fields, by their numbers in [`Binding::fields`](super::Binding::fields), with their values. Fields that are
    /// missing, empty or null are not among them.
    pub values: Vec<(u32, Given<'a>)>,
}

impl Given<'_> {
    /// The value as a model has it, for something of this kind; whatever is of no known kind is a number. None if it
    /// is nothing of the kind. A number outside of the range is one all the same.
    pub(crate) fn of_kind(&self, kind: Option<&Kind>) -> Option<i64> {
        match (kind, *self) {
            (Some(Kind::Names(names)), given) => {
                let spelled = given.to_string();
                let named = names.iter().position(|name| *name == spelled).map(|at| at as i64);
                // What has no name here may still be told by its number.
                let numbered = match given {
                    Given::Integer(value) => Some(value),
                    _ => None,
                };
                named.or(numbered.filter(|value| (0..names.len() as i64).contains(value)))
            }
            (_, Given::Integer(value)) => Some(value),
            (_, Given::Boolean(value)) => Some(i64::from(value)),
            (_, Given::Number(value)) => whole(value),
            (_, Given::Text("true")) => Some(1),
            (_, Given::Text("false")) => Some(0),
            (_, Given::Text(text)) => text.parse().ok(),
        }
    }
}

impl core::fmt::Display for Given<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Given::Integer(value) => value.fmt(f),
            Given::Boolean(value) => value.fmt(f),
            Given::Number(value) => value.fmt(f),
            Given::Text(text) => f.write_str(text),
        }
    }
}

/// The integer that a number is.
fn whole(value: f64) -> Option<i64> {
    // 2^63 itself is a float, and just too large.
    let fits = value.trunc() == value && (-(2_f64.powi(63))..2_f64.powi(63)).contains(&value);
    fits.then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_for_what_they_mean() {
        let names = Kind::Names(vec!["idle".into(), "7".into()]);
        let small = Kind::Integer { low: 0, high: 3 };
        let table = [
            (Some(&names), Given::Text("idle"), Some(0)),
            (Some(&names), Given::Integer(7), Some(1)),
            (Some(&names), Given::Integer(0), Some(0)),
            (Some(&names), Given::Integer(2), None),
            (Some(&names), Given::Text("idel"), None),
            (Some(&small), Given::Integer(9), Some(9)),
            (Some(&small), Given::Text("2"), Some(2)),
            (Some(&small), Given::Text("two"), None),
            (Some(&small), Given::Number(2.0), Some(2)),
            (Some(&small), Given::Number(2.5), None),
            (Some(&Kind::Boolean), Given::Boolean(true), Some(1)),
            (Some(&Kind::Boolean), Given::Text("false"), Some(0)),
            (Some(&Kind::Boolean), Given::Integer(1), Some(1)),
            (None, Given::Integer(-4), Some(-4)),
            (None, Given::Number(1e300), None),
        ];
        for (kind, given, value) in table {
            assert_eq!(given.of_kind(kind), value, "{given} as {kind:?}");
        }
    }
}
