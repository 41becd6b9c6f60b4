//! Names of propositions in the format, which has only strings.

use crate::formula::Proposition;
use crate::syntax::is_name;

/// How a proposition is written. Different propositions are written differently: names that do not look like
/// one have single quotes, and expressions that look like something else have double quotes.
pub(super) fn written(proposition: &Proposition) -> String {
    match proposition {
        Proposition::Name(name) if is_name(name) => name.clone(),
        Proposition::Name(name) => format!("'{name}'"),
        Proposition::Monitor(name) => format!("@{name}"),
        Proposition::Expression(text) if read(text) != *proposition => format!("\"{text}\""),
        Proposition::Expression(text) => text.clone(),
        Proposition::Fresh(number) => format!("_{number}"),
    }
}

/// The proposition that is written so.
pub(super) fn read(text: &str) -> Proposition {
    let within = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(name) = within('\'') {
        Proposition::Name(name.to_owned())
    } else if let Some(expression) = within('"') {
        Proposition::Expression(expression.to_owned())
    } else if let Some(name) = text.strip_prefix('@') {
        Proposition::Monitor(name.to_owned())
    } else if is_name(text) {
        Proposition::Name(text.to_owned())
    } else {
        Proposition::Expression(text.to_owned())
    }
}
