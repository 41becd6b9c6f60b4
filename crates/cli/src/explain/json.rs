//! What a property says, for programs: an array with an object for each property; that of a formula has a
//! field `formula`. `schema` is raised if a field changes its meaning or goes.

use super::{Said, formula};
use invigil_lang::prop::explain::{EndUse, EventUse, Explanation, StateUse, TransitionUse};
use serde_json::{Value, json};

/// The document, ended by a line end.
pub(super) fn json(said: &[Said]) -> String {
    let one = |said: &Said| match said {
        Said::Prop(said) => property(said),
        Said::Ltl(said) => formula::json(said),
    };
    let document = json!({ "schema": 1, "properties": said.iter().map(one).collect::<Vec<_>>() });
    format!("{document:#}\n")
}

fn all<T>(items: &[T], one: fn(&T) -> Value) -> Value {
    items.iter().map(one).collect()
}

fn property(said: &Explanation) -> Value {
    json!({
        "name": said.name,
        "slice_on": said.slice_on,
        "can_be_violated": said.can_be_violated,
        "monitorable": said.is_monitorable,
        "variables": all(&said.variables, |variable| json!({ "name": variable.name, "value": variable.value })),
        "events": all(&said.events, event),
        "states": all(&said.states, state),
        "shadowed": all(&said.shadowed, |shadowed| json!({
            "state": shadowed.state,
            "event": shadowed.event,
            "place": shadowed.place,
            "by": shadowed.by,
        })),
        "remarks": all(&said.remarks, |remark| json!({
            "weight": remark.weight.word(),
            "text": remark.text,
            "place": remark.place,
        })),
    })
}

fn event(event: &EventUse) -> Value {
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

fn state(state: &StateUse) -> Value {
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

fn transition(transition: &TransitionUse) -> Value {
    json!({
        "place": transition.place,
        "event": transition.event.event,
        "parameters": transition.event.parameters,
        "guard": transition.guard.as_ref().map(|guard| json!({ "text": guard.text, "update": guard.is_update })),
        "success": transition.success.as_ref().map(end),
        "failure": transition.failure.as_ref().map(end),
        "taken_from": transition.taken_from,
        "live": transition.is_live,
    })
}

fn end(end: &EndUse) -> Value {
    json!({ "block": end.block, "action": end.action, "target": end.target, "returns": end.returns })
}
