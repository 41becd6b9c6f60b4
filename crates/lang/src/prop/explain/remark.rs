//! What the author of a property may want to know about it.

use super::{EventUse, Explanation, Remark, Shadowed, Weight};
use invigil_monitor::verdict::Verdict;

/// Everything worth remarking, what matters most first.
pub(super) fn remarks(explanation: &Explanation) -> Vec<Remark> {
    let mut remarks = verdicts(explanation);
    remarks.extend(states(explanation));
    remarks.extend(explanation.shadowed.iter().map(shadowed));
    remarks.extend(explanation.events.iter().filter_map(|event| unbound(explanation, event)));
    remarks.sort_by_key(|remark| std::cmp::Reverse(remark.weight));
    remarks
}

fn verdicts(explanation: &Explanation) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut say = |weight, text: &str, place| remarks.push(Remark { weight, text: text.into(), place });
    let initial = explanation.states.iter().find(|state| state.is_initial);
    if let Some(state) = initial.filter(|state| state.verdict == Verdict::NonAccepting) {
        let place = Some(state.place.clone());
        say(Weight::Warning, "`init` is non-accepting: the property is violated before any event", place);
    }
    if explanation.can_be_violated {
        return remarks;
    }
    match explanation.states.iter().any(|state| state.verdict == Verdict::NonAccepting) {
        true => say(
            Weight::Warning,
            "no non-accepting state can be reached: the property can never be violated",
            None,
        ),
        false => say(Weight::Note, "no state is non-accepting: the property can never be violated", None),
    }
    remarks
}

fn states(explanation: &Explanation) -> Vec<Remark> {
    let unreachable = explanation.unreachable().map(|state| Remark {
        weight: Weight::Warning,
        text: format!("state `{}` is never reached", state.name),
        place: Some(state.place.clone()),
    });
    let left = explanation
        .states
        .iter()
        .filter(|state| state.is_final && !state.is_initial && !state.transitions.is_empty())
        .map(|state| Remark {
            weight: Weight::Warning,
            text: format!(
                "state `{}` is final: a slice is forgotten there, and its transitions are never tried",
                state.name
            ),
            place: Some(state.place.clone()),
        });
    unreachable.chain(left).collect()
}

fn shadowed(shadowed: &Shadowed) -> Remark {
    let Shadowed { state, event, place, by, same_condition } = shadowed;
    let reason = match same_condition {
        true => format!("the one at {by} decides by the same condition"),
        false => format!("the one at {by} is always taken"),
    };
    Remark {
        weight: Weight::Warning,
        text: format!("in state `{state}`, this transition on `{event}` is never taken: {reason}"),
        place: Some(place.clone()),
    }
}

/// An event that leaves slice parameters open concerns several slices.
fn unbound(explanation: &Explanation, event: &EventUse) -> Option<Remark> {
    let bound: Vec<&String> = event.parameters.iter().filter_map(|param| param.binds.as_ref()).collect();
    let open: Vec<&String> = explanation.slice_on.iter().filter(|param| !bound.contains(param)).collect();
    if open.is_empty() {
        return None;
    }
    let list = |names: &[&String]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let whom = match &bound[..] {
        [] => "every slice".to_owned(),
        bound => format!("every slice with the same {}", list(bound)),
    };
    Some(Remark {
        weight: Weight::Note,
        text: format!("`{}` does not say which {}: it goes to {whom}", event.event, list(&open)),
        place: None,
    })
}
