//! Encoding of propositions as strings, the only names of the HOA format.

use crate::formula::Proposition;
use crate::syntax::is_name;

/// Encodes a proposition, injectively: names that are not identifiers get single quotes, and expressions that would be read
/// as something else get double quotes.
pub(super) fn to_text(proposition: &Proposition) -> String {
    match proposition {
        Proposition::Name(name) if is_name(name) => name.clone(),
        Proposition::Name(name) => format!("'{name}'"),
        Proposition::Monitor(name) => format!("@{name}"),
        Proposition::Expression(text) if from_text(text) != *proposition => format!("\"{text}\""),
        Proposition::Expression(text) => text.clone(),
        Proposition::Fresh(number) => format!("_{number}"),
    }
}

/// Decodes a proposition.
pub(super) fn from_text(text: &str) -> Proposition {
    let unquoted = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(name) = unquoted('\'') {
        Proposition::Name(name.to_owned())
    } else if let Some(expression) = unquoted('"') {
        Proposition::Expression(expression.to_owned())
    } else if let Some(name) = text.strip_prefix('@') {
        Proposition::Monitor(name.to_owned())
    } else if is_name(text) {
        Proposition::Name(text.to_owned())
    } else {
        Proposition::Expression(text.to_owned())
    }
}
