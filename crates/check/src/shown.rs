//! A value of the program under check, as reports tell it.

use invigil_expr::compare::View;
use invigil_expr::value::{Tag, Value};
use std::fmt;

/// A value: its text, as the block language writes it, and what kind of value it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// As the block language writes it: `16`, `'i'`, `[1, 2]`.
    pub text: String,
    /// What it is.
    pub sort: Sort,
}

/// What kind of value is shown. Numbers are told by their text alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool,
    /// An integer.
    Int,
    /// A float.
    Float,
    /// A string: its characters, without quotes.
    Str(String),
    /// A list, tuple, set or dict; or a value that is not known any more.
    Other,
}

impl Shown {
    /// A value as it is shown; one that is too large is shown as far as it goes.
    pub fn new(view: &View<'_>, value: Value) -> Shown {
        let mut text = String::new();
        if view.write_repr(&mut text, value).is_err() {
            text.push('…');
        }
        let sort = match value.tag() {
            Tag::None => Sort::None,
            Tag::Bool => Sort::Bool,
            Tag::Int => Sort::Int,
            Tag::Float => Sort::Float,
            _ => view.str(&value).map_or(Sort::Other, |text| Sort::Str(text.to_owned())),
        };
        Shown { text, sort }
    }

    /// The value as one of JSON, as far as JSON has such values; others as text.
    pub fn json(&self) -> serde_json::Value {
        let text = || self.text.as_str().into();
        match &self.sort {
            Sort::None => serde_json::Value::Null,
            Sort::Bool => (self.text == "True").into(),
            Sort::Int => self.text.parse::<i64>().map_or_else(|_| text(), Into::into),
            // What is not finite is no number in JSON.
            Sort::Float => {
                let float = self.text.parse().ok().and_then(serde_json::Number::from_f64);
                float.map_or_else(text, serde_json::Value::Number)
            }
            Sort::Str(text) => text.as_str().into(),
            Sort::Other => text(),
        }
    }

    /// A value that is not known any more.
    pub fn unknown() -> Shown {
        Shown { text: "…".to_owned(), sort: Sort::Other }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
