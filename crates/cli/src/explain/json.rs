//! Explanations as JSON: an array with an object per property. The object of a formula has the field `formula`.
//! `schema` is incremented if a field changes its meaning or is removed.

use super::{ExplainedProperty, formula};
use invigil_lang::prop::explain::{BranchInfo, EventInfo, Explanation, StateInfo, TransitionInfo};
use serde_json::{Value, json};

/// The document, with a final newline.
pub(super) fn json(explanation: &[ExplainedProperty]) -> String {
    let one = |explanation: &ExplainedProperty| match explanation {
        ExplainedProperty::Prop(explanation) => property(explanation),
        ExplainedProperty::Ltl(explanation) => formula::json(explanation),
    };
    let document = json!({ "schema": 1, "properties": explanation.iter().map(one).collect::<Vec<_>>() });
    format!("{document:#}\n")
}

fn all<T>(items: &[T], one: fn(&T) -> Value) -> Value {
    items.iter().map(one).collect()
}

fn property(explanation: &Explanation) -> Value {
    json!({
        "name": explanation.name,
        "slice_on": explanation.slice_on,
        "can_be_violated": explanation.can_be_violated,
        "monitorable": explanation.is_monitorable,
        "variables": all(&explanation.variables, |variable| json!({ "name": variable.name, "value": variable.value })),
        "events": all(&explanation.events, event),
        "states": all(&explanation.states, state),
        "shadowed": all(&explanation.shadowed, |shadowed| json!({
            "state": shadowed.state,
            "event": shadowed.event,
            "place": shadowed.place,
            "by": shadowed.by,
        })),
        "remarks": all(&explanation.lints, |lint| json!({
            "weight": lint.level.word(),
            "text": lint.text,
            "place": lint.place,
        })),
    })
}

fn event(event: &EventInfo) -> Value {
    json!({
        "event": event.event,
        "parameters": all(&event.parameters, |param| json!({
            "name": param.name,
            "source": param.source,
            "type": param.ty,
            "binds": param.binds,
            "read": param.is_read,
        })),
    })
}

fn state(state: &StateInfo) -> Value {
    json!({
        "name": state.name,
        "place": state.place,
        "verdict": state.verdict.word(),
        "initial": state.is_initial,
        "final": state.is_final,
        "reachable": state.is_reachable,
        "settled": state.is_settled,
        "action": state.action,
        "needs": all(&state.needs, |need| json!({ "event": need.event, "parameters": need.parameters })),
        "transitions": all(&state.transitions, transition),
    })
}

fn transition(transition: &TransitionInfo) -> Value {
    json!({
        "place": transition.place,
        "event": transition.event.event,
        "parameters": transition.event.parameters,
        "guard": transition.guard.as_ref().map(|guard| json!({ "text": guard.text, "update": guard.is_update })),
        "success": transition.success.as_ref().map(branch),
        "failure": transition.failure.as_ref().map(branch),
        "taken_from": transition.imported_from,
        "live": transition.is_live,
    })
}

fn branch(branch: &BranchInfo) -> Value {
    json!({ "block": branch.block, "action": branch.action, "target": branch.target, "returns": branch.returns })
}
