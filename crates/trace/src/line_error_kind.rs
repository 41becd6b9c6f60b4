//! Kinds of errors in a line: it cannot be parsed, or some values have the wrong type.

use crate::convert::ConversionError;
use invigil_monitor::event::ParamType;
use std::borrow::Cow;

/// Message of the scanners: why a line cannot be parsed.
pub(crate) type ScanError = Cow<'static, str>;

/// Kind of the error in a line, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineErrorKind {
    /// The line is not a record and is skipped.
    NotARecord(ScanError),
    /// Needed values cannot be converted. They are omitted, and the event is kept, because other properties may read
    /// these values as another type or not at all.
    Values(String),
}

impl From<ScanError> for LineErrorKind {
    fn from(error: ScanError) -> LineErrorKind {
        LineErrorKind::NotARecord(error)
    }
}

/// Describes why the text `raw` of the field `name` cannot be converted to type `ty`.
pub(crate) fn conversion_message(
    name: &str,
    raw: &str,
    ty: Option<ParamType>,
    error: ConversionError,
) -> String {
    match error {
        ConversionError::Integer => format!("integer out of range in `{name}`: {raw} exceeds 64 bits"),
        ConversionError::Float => format!("number out of range in `{name}`: {raw}"),
        ConversionError::Type => {
            let expected = match ty {
                Some(ParamType::Int) => "an integer",
                Some(ParamType::Float) => "a number",
                Some(ParamType::Bool) => "true or false",
                Some(ParamType::Str) | None => "a string",
            };
            format!("`{name}` should be {expected}, but is {raw}")
        }
    }
}
