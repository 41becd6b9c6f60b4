//! Values as reports show them.

use invigil_expr::compare::ValueReader;
use invigil_expr::value::{Tag, Value};
use std::fmt;

/// A value rendered as text, with its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedValue {
    /// The value in the syntax of blocks: `16`, `'i'`, `[1, 2]`.
    pub text: String,
    /// Its kind.
    pub kind: ValueKind,
}

/// Kind of a rendered value. The value of a number is given by its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool,
    /// An integer.
    Int,
    /// A float.
    Float,
    /// A string, with its characters without quotes.
    Str(String),
    /// A list, tuple, set or dict, or a value that is no longer known.
    Other,
}

impl RenderedValue {
    /// Renders a value. A value that is too large is truncated.
    pub fn new(view: &ValueReader<'_>, value: Value) -> RenderedValue {
        RenderedValue::within(usize::MAX, view, value)
    }

    /// Renders a value, truncated after about `limit` bytes.
    pub fn within(limit: usize, view: &ValueReader<'_>, value: Value) -> RenderedValue {
        let mut text = String::new();
        let is_whole = match limit {
            usize::MAX => view.write_repr(&mut text, value).is_ok(),
            limit => view.write_repr_within(limit, &mut text, value),
        };
        if !is_whole {
            text.push('…');
            return RenderedValue { text, kind: ValueKind::Other };
        }
        let kind = match value.tag() {
            Tag::None => ValueKind::None,
            Tag::Bool => ValueKind::Bool,
            Tag::Int => ValueKind::Int,
            Tag::Float => ValueKind::Float,
            _ => view.str(&value).map_or(ValueKind::Other, |text| ValueKind::Str(text.to_owned())),
        };
        RenderedValue { text, kind }
    }

    /// Converts the value to JSON. Values that JSON lacks become strings.
    pub fn json(&self) -> serde_json::Value {
        let text = || self.text.as_str().into();
        match &self.kind {
            ValueKind::None => serde_json::Value::Null,
            ValueKind::Bool => (self.text == "True").into(),
            ValueKind::Int => self.text.parse::<i64>().map_or_else(|_| text(), Into::into),
            // JSON has no infinities and no NaN.
            ValueKind::Float => {
                let float = self.text.parse().ok().and_then(serde_json::Number::from_f64);
                float.map_or_else(text, serde_json::Value::Number)
            }
            ValueKind::Str(text) => text.as_str().into(),
            ValueKind::Other => text(),
        }
    }

    /// A value that is no longer known.
    pub fn unknown() -> RenderedValue {
        RenderedValue { text: "…".to_owned(), kind: ValueKind::Other }
    }
}

impl fmt::Display for RenderedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
