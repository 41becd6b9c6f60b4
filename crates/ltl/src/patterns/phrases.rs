//! The sentences of the patterns.

use super::table::LETTERS;
use super::{Pattern, Scope};

/// The sentence of a pattern, given what its letters stand for.
pub(super) fn sentence(pattern: Pattern, scope: Scope, names: &[String; LETTERS.len()]) -> String {
    let [p, q, r, s, t, z] = names;
    let scope = match scope {
        Scope::Globally => String::new(),
        Scope::Before => format!("Before the first {r}, "),
        Scope::After => format!("From the first {q} on, "),
        Scope::Between => format!("Between {q} and {r}, "),
        Scope::AfterUntil => format!("After {q} and until {r}, "),
    };
    let said = match pattern {
        Pattern::Absence => format!("{p} never holds"),
        Pattern::Existence => format!("{p} holds at some instant"),
        Pattern::BoundedExistence => format!("{p} comes to hold at most twice"),
        Pattern::Universality => format!("{p} always holds"),
        Pattern::Precedence => format!("{p} does not hold before {s} has"),
        Pattern::Response => format!("{p} is always answered by {s}"),
        Pattern::PrecedenceChain => format!("{p} does not hold before {s} and then {t} have"),
        Pattern::ChainPrecedence => format!("{s} and then {t} do not hold before {p} has"),
        Pattern::ChainResponse => format!("{s} and then {t} are always answered by {p}"),
        Pattern::ResponseChain => format!("{p} is always answered by {s} and then {t}"),
        Pattern::ConstrainedResponseChain => {
            format!("{p} is always answered by {s} and then {t}, with no {z} from the one to the other")
        }
        Pattern::Recurrence => format!("{p} holds again and again, for ever"),
        Pattern::Persistence => format!("From some instant on, {p} always holds"),
    };
    format!("{scope}{said}.")
}
