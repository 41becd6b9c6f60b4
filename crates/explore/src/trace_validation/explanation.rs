//! Explains why no action of the model matches a record.

use super::observation::{Candidate, Observation, ValueConstraint};
use super::rejection::{NearMiss, Rejection};
use super::tracker::Tracker;
use indexmap::{IndexMap, IndexSet};
use invigil_model::{ActionId, Binary, Expression, LValue, Location, Model, Process, State, Step};
use invigil_semantics::Describe;

/// Maximum number of configurations that are examined, starting with those right after the last matching record.
const MAX_EXAMINED: usize = 1000;
/// Maximum number of configurations, of different reasons and of possible steps in the result.
const MAX_SHOWN: usize = 100;

/// Costs of reasons. A different value is nearer to a match than a false condition, which is nearer than another
/// location.
const VALUE_COST: u32 = 1;
const CONDITION_COST: u32 = 4;
const FAULT_COST: u32 = 6;
const LOCATION_COST: u32 = 10;

type Reasons = Vec<(u32, String)>;
/// An action with the reasons why it does not match.
type ReasonKey = (Option<ActionId>, Vec<String>);

pub(crate) fn explain(
    tracker: &mut Tracker<'_>,
    set: &[u32],
    closed: &[u32],
    observation: &Observation,
) -> Rejection {
    let hidden = closed.iter().filter(|config| set.binary_search(config).is_err());
    let examined: Vec<u32> = set.iter().chain(hidden).copied().take(MAX_EXAMINED).collect();
    // Equal reasons in several configurations are reported once.
    let mut near_misses: IndexMap<ReasonKey, (u32, Vec<u32>)> = IndexMap::new();
    let mut possible_steps: IndexSet<String> = IndexSet::new();
    for config in &examined {
        let words: Box<[u64]> = tracker.words(*config).into();
        for (action, reasons) in reasons(tracker.model, &words, observation) {
            let cost = reasons.iter().map(|(cost, _)| cost).sum();
            let key = (action, reasons.into_iter().map(|(_, text)| text).collect());
            near_misses.entry(key).or_insert((cost, Vec::new())).1.push(*config);
        }
        for (action, target) in &*tracker.steps(*config) {
            if possible_steps.len() < MAX_SHOWN && tracker.model.action(*action).event.is_some() {
                possible_steps.insert(describe_step(tracker.model, *action, &words, tracker.words(*target)));
            }
        }
    }
    near_misses.sort_by(|_, (one, _), _, (other, _)| one.cmp(other));
    near_misses.truncate(MAX_SHOWN);
    let nearest = near_misses.values().flat_map(|(_, configs)| configs);
    let mut shown: IndexSet<u32> = nearest.chain(&examined).copied().collect();
    shown.truncate(MAX_SHOWN);
    let described =
        |config: &u32| tracker.model.describe_config(&State::without_fault(tracker.words(*config)));
    Rejection {
        record: observation.text.clone(),
        is_state_only: observation.event.is_none(),
        count: closed.len(),
        configurations: shown.iter().map(described).collect(),
        near_misses: near_misses
            .into_iter()
            .map(|((action, reasons), (cost, configs))| NearMiss {
                action: action.map(|action| tracker.model.action(action).name.clone()),
                reasons,
                configurations: configs.iter().filter_map(|config| shown.get_index_of(config)).collect(),
                count: configs.len(),
                cost,
            })
            .collect(),
        possible_steps: possible_steps.into_iter().collect(),
    }
}

/// For each candidate of the record, the reasons why it does not match in a configuration.
fn reasons(model: &Model, words: &[u64], observation: &Observation) -> Vec<(Option<ActionId>, Reasons)> {
    let mut all = Vec::new();
    if let Some(constraints) = &observation.stay {
        all.push((None, differences(model, constraints, words, words)));
    }
    for candidate in &observation.candidates {
        let reasons = disabled_reasons(model, words, candidate.action);
        if !reasons.is_empty() {
            all.push((Some(candidate.action), reasons));
            continue;
        }
        let outcomes = model.outcomes(words, candidate.action);
        if outcomes.is_empty() {
            let reason = "it has no outcome here".to_owned();
            all.push((Some(candidate.action), vec![(FAULT_COST, reason)]));
        }
        // Of several outcomes, the one with the lowest cost.
        let reasons_by_outcome = outcomes.iter().map(|outcome| match &outcome.fault {
            Some(fault) => vec![(FAULT_COST, format!("it raises a fault: {fault}"))],
            None => step_differences(model, candidate, words, &outcome.words),
        });
        let nearest =
            reasons_by_outcome.min_by_key(|reasons| reasons.iter().map(|(cost, _)| cost).sum::<u32>());
        all.extend(nearest.map(|reasons| (Some(candidate.action), reasons)));
    }
    all
}

/// Why an action is not enabled; empty if it is.
fn disabled_reasons(model: &Model, words: &[u64], action: ActionId) -> Reasons {
    let parts = model.parts();
    let definition = model.action(action);
    let mut reasons = Vec::new();
    let at = |process| location(model, process, words);
    for by in &definition.moves {
        let process = &parts.processes[by.process as usize];
        let from = &process.locations[by.from as usize];
        if let Some(here) = at(process).filter(|here| here.name != from.name) {
            reasons
                .push((LOCATION_COST, format!("{} is at {}, not at {}", process.name, here.name, from.name)));
        }
    }
    for conjunct in conjuncts(&definition.guard) {
        match model.value(conjunct, Step::at(words)) {
            Ok(0) => reasons.push((CONDITION_COST, describe_false(model, conjunct, words))),
            Ok(_) => {}
            // An earlier conjunct may guard the evaluation of this one.
            Err(reason) if reasons.is_empty() => {
                reasons.push((FAULT_COST, format!("its condition raises a fault: {reason}")));
            }
            Err(_) => break,
        }
    }
    if !reasons.is_empty() {
        return reasons;
    }
    let committed = parts.processes.iter().find(|process| at(process).is_some_and(|at| at.is_committed));
    if let Some(process) = committed.filter(|_| !model.is_from_committed(action)) {
        let here = at(process).map_or("", |at| &at.name);
        return vec![(CONDITION_COST, format!("{} is at the committed location {here}", process.name))];
    }
    if model.is_enabled(words, action) == Ok(false) {
        let first = model.enabled(words).first().map(|first| model.action(*first).name.as_str());
        let first = first.unwrap_or("another action");
        return vec![(CONDITION_COST, format!("`{first}` has a higher priority"))];
    }
    reasons
}

/// The current location of a process.
fn location<'a>(model: &Model, process: &'a Process, words: &[u64]) -> Option<&'a Location> {
    let at = model.layout().slots[process.location as usize].read(words, 0);
    usize::try_from(at).ok().and_then(|at| process.locations.get(at))
}

/// The conjuncts of a guard.
fn conjuncts(guard: &Expression) -> Vec<&Expression> {
    let (mut open, mut found) = (vec![guard], Vec::new());
    while let Some(expression) = open.pop() {
        match expression {
            Expression::Binary(Binary::And, both) => open.extend([&both.1, &both.0]),
            other => found.push(other),
        }
    }
    found
}

/// Describes a false condition with the values of its variables.
fn describe_false(model: &Model, condition: &Expression, words: &[u64]) -> String {
    let mut values: IndexSet<String> = IndexSet::new();
    condition.visit(&mut |inside| {
        if let Expression::Read(lvalue) = inside {
            values.extend(describe_lvalue(model, lvalue, words));
        }
    });
    let values: Vec<String> = values.into_iter().collect();
    match values.as_slice() {
        [] => format!("`{}` is false", model.show(condition)),
        values => format!("`{}` is false: {}", model.show(condition), values.join(", ")),
    }
}

/// Describes an lvalue with its value.
fn describe_lvalue(model: &Model, lvalue: &LValue, words: &[u64]) -> Option<String> {
    let variable = model.variable(lvalue.variable);
    let value = model.value(&Expression::Read(lvalue.clone()), Step::at(words)).ok()?;
    let name = match &lvalue.index {
        None => variable.name.clone(),
        Some(index) => format!("{}[{}]", variable.name, model.value(index, Step::at(words)).ok()?),
    };
    Some(format!("{name} = {}", variable.domain.show(value)))
}

/// The differences between a step and a candidate of the record.
fn step_differences(model: &Model, candidate: &Candidate, source: &[u64], target: &[u64]) -> Reasons {
    let step = Step { source: Some(source), action: Some(candidate.action), target };
    let mut reasons = Vec::new();
    for (at, expected) in &candidate.parameters {
        let (name, value) = &model.action(candidate.action).parameters[*at];
        let domain = model.domain(value);
        let show = |value: i64| domain.map_or_else(|| value.to_string(), |domain| domain.show(value));
        match model.value(value, step) {
            Ok(has) if has == *expected => {}
            Ok(has) => reasons.push((
                VALUE_COST,
                format!("the log has {name} = {}, the model has {}", show(*expected), show(has)),
            )),
            Err(reason) => reasons.push((VALUE_COST, format!("{name} cannot be evaluated: {reason}"))),
        }
    }
    reasons.extend(differences(model, &candidate.constraints, source, target));
    reasons
}

/// The variables whose values differ from the record.
fn differences(model: &Model, constraints: &[ValueConstraint], source: &[u64], target: &[u64]) -> Reasons {
    let violated = constraints.iter().filter(|constraint| !constraint.holds(model, source, target));
    let reasons = violated.map(|constraint| {
        let variable = model.variable(constraint.variable);
        let name = match variable.length {
            None => variable.name.clone(),
            Some(_) => format!("{}[{}]", variable.name, constraint.index),
        };
        let (expected, has) = (constraint.value, constraint.actual(model, source, target));
        let (expected, has) = (variable.domain.show(expected), variable.domain.show(has));
        let when = if constraint.is_before { " beforehand" } else { "" };
        (VALUE_COST, format!("the log has {name} = {expected}{when}, the model has {has}"))
    });
    reasons.collect()
}

/// A step as an event of a log, such as `push(n = 3)`.
pub(crate) fn describe_step(model: &Model, action: ActionId, source: &[u64], target: &[u64]) -> String {
    let step = Step { source: Some(source), action: Some(action), target };
    let definition = model.action(action);
    let name = definition.event.as_deref().unwrap_or(&definition.name);
    let show = |(name, value): &(String, Expression)| {
        let domain = model.domain(value);
        let value = model.value(value, step).ok()?;
        Some(format!("{name} = {}", domain.map_or_else(|| value.to_string(), |domain| domain.show(value))))
    };
    let parameters: Vec<String> = definition.parameters.iter().filter_map(show).collect();
    if parameters.is_empty() { name.to_owned() } else { format!("{name}({})", parameters.join(", ")) }
}
