//! Sentences of the specification patterns.

use super::table::PLACEHOLDERS;
use super::{Pattern, Scope};

/// Renders the sentence of a pattern, given the formulae for its placeholders as text.
pub(super) fn render(pattern: Pattern, scope: Scope, names: &[String; PLACEHOLDERS.len()]) -> String {
    let [p, q, r, s, t, z] = names;
    let scope = match scope {
        Scope::Globally => String::new(),
        Scope::Before => format!("Before the first {r}, "),
        Scope::After => format!("From the first {q} on, "),
        Scope::Between => format!("Between {q} and {r}, "),
        Scope::AfterUntil => format!("After {q} and until {r}, "),
    };
    let statement = match pattern {
        Pattern::Absence => format!("{p} never holds"),
        Pattern::Existence => format!("{p} holds at some position"),
        Pattern::BoundedExistence => format!("{p} becomes true at most twice"),
        Pattern::Universality => format!("{p} always holds"),
        Pattern::Precedence => format!("{p} does not hold before {s} has"),
        Pattern::Response => format!("{p} is always answered by {s}"),
        Pattern::PrecedenceChain => format!("{p} does not hold before {s} and then {t} have"),
        Pattern::ChainPrecedence => format!("{s} and then {t} do not hold before {p} has"),
        Pattern::ChainResponse => format!("{s} and then {t} are always answered by {p}"),
        Pattern::ResponseChain => format!("{p} is always answered by {s} and then {t}"),
        Pattern::ConstrainedResponseChain => {
            format!("{p} is always answered by {s} and then {t}, with no {z} between them")
        }
        Pattern::Recurrence => format!("{p} holds infinitely often"),
        Pattern::Persistence => format!("From some position on, {p} always holds"),
    };
    format!("{scope}{statement}.")
}
