//! Lints: hints for the author of a property.

use super::{EventInfo, Explanation, Lint, LintLevel, ShadowedTransition};
use invigil_monitor::verdict::Verdict;

/// Returns all lints, the most severe first.
pub(super) fn lints(explanation: &Explanation) -> Vec<Lint> {
    let mut lints = verdicts(explanation);
    lints.extend(states(explanation));
    lints.extend(explanation.shadowed.iter().map(shadowed));
    lints.extend(explanation.events.iter().filter_map(|event| unbound(explanation, event)));
    lints.sort_by_key(|lint| std::cmp::Reverse(lint.level));
    lints
}

fn verdicts(explanation: &Explanation) -> Vec<Lint> {
    let mut lints = Vec::new();
    let mut add = |level, text: &str, place| lints.push(Lint { level, text: text.into(), place });
    let initial = explanation.states.iter().find(|state| state.is_initial);
    if let Some(state) = initial.filter(|state| state.verdict == Verdict::NonAccepting) {
        let place = Some(state.place.clone());
        add(LintLevel::Warning, "`init` is non-accepting: the property is violated before any event", place);
    }
    if explanation.can_be_violated {
        return lints;
    }
    match explanation.states.iter().any(|state| state.verdict == Verdict::NonAccepting) {
        true => add(
            LintLevel::Warning,
            "no non-accepting state can be reached: the property can never be violated",
            None,
        ),
        false => add(LintLevel::Note, "no state is non-accepting: the property can never be violated", None),
    }
    lints
}

fn states(explanation: &Explanation) -> Vec<Lint> {
    let unreachable = explanation.unreachable().map(|state| Lint {
        level: LintLevel::Warning,
        text: format!("state `{}` is never reached", state.name),
        place: Some(state.place.clone()),
    });
    let final_with_transitions = explanation
        .states
        .iter()
        .filter(|state| state.is_final && !state.is_initial && !state.transitions.is_empty())
        .map(|state| Lint {
            level: LintLevel::Warning,
            text: format!(
                "state `{}` is final: slices are dropped there, and its transitions are never tried",
                state.name
            ),
            place: Some(state.place.clone()),
        });
    unreachable.chain(final_with_transitions).collect()
}

fn shadowed(shadowed: &ShadowedTransition) -> Lint {
    let ShadowedTransition { state, event, place, by, same_condition } = shadowed;
    let reason = match same_condition {
        true => format!("the one at {by} has the same condition"),
        false => format!("the one at {by} is always taken"),
    };
    Lint {
        level: LintLevel::Warning,
        text: format!("in state `{state}`, this transition on `{event}` is never taken: {reason}"),
        place: Some(place.clone()),
    }
}

/// An event that leaves slice parameters unbound is delivered to several slices.
fn unbound(explanation: &Explanation, event: &EventInfo) -> Option<Lint> {
    let bound: Vec<&String> = event.parameters.iter().filter_map(|param| param.binds.as_ref()).collect();
    let open: Vec<&String> = explanation.slice_on.iter().filter(|param| !bound.contains(param)).collect();
    if open.is_empty() {
        return None;
    }
    let list = |names: &[&String]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let recipients = match &bound[..] {
        [] => "every slice".to_owned(),
        bound => format!("every slice with the same {}", list(bound)),
    };
    Some(Lint {
        level: LintLevel::Note,
        text: format!("`{}` does not bind {}: it is delivered to {recipients}", event.event, list(&open)),
        place: None,
    })
}
