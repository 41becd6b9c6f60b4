//! What keeps actions from being the event that a log tells.

use super::observation::{Candidate, Demand, Observation};
use super::refusal::{Miss, Refusal};
use super::tracker::Tracker;
use indexmap::{IndexMap, IndexSet};
use invigil_model::{ActionId, Binary, Expression, Location, Model, Place, Process, State, Step};
use invigil_semantics::Describe;

/// So many configurations are looked at: those right after the last record first.
const MOST_LOOKED_AT: usize = 1000;
/// So many are shown, and so many different reasons and possible actions.
const MOST_SHOWN: usize = 100;

/// What is away how far: values that differ are nearer than conditions that are false, and those nearer than
/// processes that are elsewhere.
const VALUE: u32 = 1;
const CONDITION: u32 = 4;
const FAULT: u32 = 6;
const PLACE: u32 = 10;

type Reasons = Vec<(u32, String)>;
/// What is wrong with which action.
type Wrongness = (Option<ActionId>, Vec<String>);

pub(crate) fn explain(tracker: &mut Tracker<'_>, set: &[u32], closed: &[u32], says: &Observation) -> Refusal {
    let hidden = closed.iter().filter(|config| set.binary_search(config).is_err());
    let looked: Vec<u32> = set.iter().chain(hidden).copied().take(MOST_LOOKED_AT).collect();
    // The same reason in several configurations is told once.
    let mut misses: IndexMap<Wrongness, (u32, Vec<u32>)> = IndexMap::new();
    let mut able: IndexSet<String> = IndexSet::new();
    for config in &looked {
        let words: Box<[u64]> = tracker.words(*config).into();
        for (action, reasons) in reasons(tracker.model, &words, says) {
            let cost = reasons.iter().map(|(cost, _)| cost).sum();
            let key = (action, reasons.into_iter().map(|(_, words)| words).collect());
            misses.entry(key).or_insert((cost, Vec::new())).1.push(*config);
        }
        for (action, target) in &*tracker.steps(*config) {
            if able.len() < MOST_SHOWN && tracker.model.action(*action).event.is_some() {
                able.insert(happening(tracker.model, *action, &words, tracker.words(*target)));
            }
        }
    }
    misses.sort_by(|_, (one, _), _, (other, _)| one.cmp(other));
    misses.truncate(MOST_SHOWN);
    let nearest = misses.values().flat_map(|(_, configs)| configs);
    let mut shown: IndexSet<u32> = nearest.chain(&looked).copied().collect();
    shown.truncate(MOST_SHOWN);
    let described = |config: &u32| tracker.model.describe_config(&State::sound(tracker.words(*config)));
    Refusal {
        record: says.words.clone(),
        is_state: says.event.is_none(),
        count: closed.len(),
        configurations: shown.iter().map(described).collect(),
        misses: misses
            .into_iter()
            .map(|((action, reasons), (cost, configs))| Miss {
                action: action.map(|action| tracker.model.action(action).name.clone()),
                reasons,
                configurations: configs.iter().filter_map(|config| shown.get_index_of(config)).collect(),
                count: configs.len(),
                cost,
            })
            .collect(),
        able: able.into_iter().collect(),
    }
}

/// For every way in which the record could be what the model does, what is wrong with it in a configuration.
fn reasons(model: &Model, words: &[u64], says: &Observation) -> Vec<(Option<ActionId>, Reasons)> {
    let mut all = Vec::new();
    if let Some(demands) = &says.stay {
        all.push((None, differences(model, demands, words, words)));
    }
    for candidate in &says.candidates {
        let disabled = disabled(model, words, candidate.action);
        if !disabled.is_empty() {
            all.push((Some(candidate.action), disabled));
            continue;
        }
        let outcomes = model.outcomes(words, candidate.action);
        if outcomes.is_empty() {
            let nowhere = "it has no outcome here".to_owned();
            all.push((Some(candidate.action), vec![(FAULT, nowhere)]));
        }
        // Of several outcomes, the one that comes nearest.
        let wrong = outcomes.iter().map(|outcome| match &outcome.fault {
            Some(fault) => vec![(FAULT, format!("it goes wrong: {fault}"))],
            None => misfits(model, candidate, words, &outcome.words),
        });
        let nearest = wrong.min_by_key(|reasons| reasons.iter().map(|(cost, _)| cost).sum::<u32>());
        all.extend(nearest.map(|reasons| (Some(candidate.action), reasons)));
    }
    all
}

/// Why an action is not enabled; nothing if it is.
fn disabled(model: &Model, words: &[u64], action: ActionId) -> Reasons {
    let parts = model.parts();
    let by = model.action(action);
    let mut reasons = Vec::new();
    let at = |process| location(model, process, words);
    for by in &by.moves {
        let process = &parts.processes[by.process as usize];
        let from = &process.locations[by.from as usize];
        if let Some(here) = at(process).filter(|here| here.name != from.name) {
            reasons.push((PLACE, format!("{} is at {}, not at {}", process.name, here.name, from.name)));
        }
    }
    for conjunct in conjuncts(&by.guard) {
        match model.value(conjunct, Step::at(words)) {
            Ok(0) => reasons.push((CONDITION, falsity(model, conjunct, words))),
            Ok(_) => {}
            // What comes before it may be there to keep it from being looked at.
            Err(reason) if reasons.is_empty() => {
                reasons.push((FAULT, format!("its condition goes wrong: {reason}")));
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
        return vec![(CONDITION, format!("{} is at {here}, which must be left first", process.name))];
    }
    if model.is_enabled(words, action) == Ok(false) {
        let first = model.enabled(words).first().map(|first| model.action(*first).name.as_str());
        let first = first.unwrap_or("another action");
        return vec![(CONDITION, format!("`{first}` goes first: it has a higher priority"))];
    }
    reasons
}

/// Where a process is.
fn location<'a>(model: &Model, process: &'a Process, words: &[u64]) -> Option<&'a Location> {
    let at = model.layout().slots[process.location as usize].read(words, 0);
    usize::try_from(at).ok().and_then(|at| process.locations.get(at))
}

/// What must hold, each by itself, for the whole to hold.
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

/// A condition that is false, with the values that make it so.
fn falsity(model: &Model, condition: &Expression, words: &[u64]) -> String {
    let mut values: IndexSet<String> = IndexSet::new();
    condition.visit(&mut |inside| {
        if let Expression::Read(place) = inside {
            values.extend(holding(model, place, words));
        }
    });
    let values: Vec<String> = values.into_iter().collect();
    match values.as_slice() {
        [] => format!("`{}` is false", model.show(condition)),
        values => format!("`{}` is false: {}", model.show(condition), values.join(", ")),
    }
}

/// A place, with what it holds.
fn holding(model: &Model, place: &Place, words: &[u64]) -> Option<String> {
    let variable = model.variable(place.variable);
    let value = model.value(&Expression::Read(place.clone()), Step::at(words)).ok()?;
    let name = match &place.index {
        None => variable.name.clone(),
        Some(index) => format!("{}[{}]", variable.name, model.value(index, Step::at(words)).ok()?),
    };
    Some(format!("{name} = {}", variable.kind.show(value)))
}

/// How a step differs from what is told of it.
fn misfits(model: &Model, candidate: &Candidate, source: &[u64], target: &[u64]) -> Reasons {
    let step = Step { source: Some(source), action: Some(candidate.action), target };
    let mut reasons = Vec::new();
    for (at, told) in &candidate.parameters {
        let (name, value) = &model.action(candidate.action).parameters[*at];
        let kind = model.kind(value);
        let show = |value: i64| kind.map_or_else(|| value.to_string(), |kind| kind.show(value));
        match model.value(value, step) {
            Ok(has) if has == *told => {}
            Ok(has) => reasons
                .push((VALUE, format!("the log says {name} = {}, the model has {}", show(*told), show(has)))),
            Err(reason) => reasons.push((VALUE, format!("{name} cannot be told: {reason}"))),
        }
    }
    reasons.extend(differences(model, &candidate.demands, source, target));
    reasons
}

/// The variables that are not as they are told.
fn differences(model: &Model, demands: &[Demand], source: &[u64], target: &[u64]) -> Reasons {
    let wrong = demands.iter().filter(|demand| !demand.holds(model, source, target));
    let words = wrong.map(|demand| {
        let variable = model.variable(demand.variable);
        let name = match variable.length {
            None => variable.name.clone(),
            Some(_) => format!("{}[{}]", variable.name, demand.index),
        };
        let (told, has) = (demand.value, demand.actual(model, source, target));
        let (told, has) = (variable.kind.show(told), variable.kind.show(has));
        let when = if demand.is_before { " beforehand" } else { "" };
        (VALUE, format!("the log says {name} = {told}{when}, the model has {has}"))
    });
    words.collect()
}

/// A step as an event of a log: `push(n = 3)`.
pub(crate) fn happening(model: &Model, action: ActionId, source: &[u64], target: &[u64]) -> String {
    let step = Step { source: Some(source), action: Some(action), target };
    let by = model.action(action);
    let name = by.event.as_deref().unwrap_or(&by.name);
    let told = |(name, value): &(String, Expression)| {
        let kind = model.kind(value);
        let value = model.value(value, step).ok()?;
        Some(format!("{name} = {}", kind.map_or_else(|| value.to_string(), |kind| kind.show(value))))
    };
    let parameters: Vec<String> = by.parameters.iter().filter_map(told).collect();
    if parameters.is_empty() { name.to_owned() } else { format!("{name}({})", parameters.join(", ")) }
}
