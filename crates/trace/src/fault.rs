//! What can be wrong with a line: it cannot be read, or some of its values are not of the type they should be.

use crate::convert::Misfit;
use invigil_monitor::event::Type;
use std::borrow::Cow;

/// Why a line cannot be read.
pub(crate) type Issue = Cow<'static, str>;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not a record, and is skipped.
    Line(Issue),
    /// It is one, but values that are wanted misfit: they are left out of the event, not the event itself,
    /// because another property may read it in another way, or not at all.
    Values(String),
}

impl From<Issue> for Fault {
    fn from(issue: Issue) -> Fault {
        Fault::Line(issue)
    }
}

/// Says why the field `name`, which is written `raw`, does not give a value of type `ty`.
pub(crate) fn misfit(name: &str, raw: &str, ty: Option<Type>, misfit: Misfit) -> String {
    match misfit {
        Misfit::Integer => format!("integer out of range in `{name}`: {raw} does not fit into 64 bits"),
        Misfit::Float => format!("number out of range in `{name}`: {raw}"),
        Misfit::Type => {
            let wanted = match ty {
                Some(Type::Int) => "an integer",
                Some(Type::Float) => "a number",
                Some(Type::Bool) => "true or false",
                Some(Type::Str) | None => "a string",
            };
            format!("`{name}` should be {wanted}, but is {raw}")
        }
    }
}
