//! What a record says, in terms of the model.

use super::binding::{Binding, Part, Use};
use super::given::{Given, Record};
use super::names::fits;
use invigil_model::{ActionId, Kind, Model, Step, VariableId};

/// Why a record cannot be compared with the model at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// An event that no action of the model has.
    Event {
        /// The event.
        event: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A record that names neither an event nor anything that the model has.
    Nothing,
    /// A value that is nothing of the kind.
    Value {
        /// The field.
        field: String,
        /// The value, as the log spells it.
        value: String,
        /// What it should be, in words.
        expected: String,
        /// The names that it could be.
        known: Vec<String>,
    },
}

impl core::fmt::Display for Wrong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Wrong::Event { event, .. } => write!(f, "the model has no event `{event}`"),
            Wrong::Nothing => f.write_str("the record names no event, and no variable of the model"),
            Wrong::Value { field, value, expected, .. } => {
                write!(f, "`{field}` is `{value}`, and in the model it is {expected}")
            }
        }
    }
}

impl core::error::Error for Wrong {}

/// What a record says: the ways in which it can be what the model does.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// As people read it: `push(n = 4)`.
    pub(crate) words: String,
    /// The event; none if only a state is told.
    pub(crate) event: Option<String>,
    /// The actions that it can be, in the order of their numbers, with what is said about each.
    pub(crate) candidates: Vec<Candidate>,
    /// What is said about the state if the model stays where it is; none if it must not.
    pub(crate) stay: Option<Vec<Demand>>,
}

/// An action that a record may be about.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) action: ActionId,
    /// Parameters, by their numbers, with their values.
    pub(crate) parameters: Vec<(usize, i64)>,
    pub(crate) demands: Vec<Demand>,
}

/// A variable has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) variable: VariableId,
    pub(crate) index: u32,
    pub(crate) value: i64,
    pub(crate) is_before: bool,
}

impl Demand {
    /// What the model has in place of the value.
    pub(crate) fn actual(&self, model: &Model, source: &[u64], target: &[u64]) -> i64 {
        let words = if self.is_before { source } else { target };
        model.layout().slots[self.variable as usize].read(words, self.index)
    }

    pub(crate) fn holds(&self, model: &Model, source: &[u64], target: &[u64]) -> bool {
        self.actual(model, source, target) == self.value
    }
}

impl Candidate {
    /// Whether a step by the action is what the record says.
    pub(crate) fn holds(&self, model: &Model, source: &[u64], target: &[u64]) -> bool {
        let step = Step { source: Some(source), action: Some(self.action), target };
        let parameters = &model.action(self.action).parameters;
        self.demands.iter().all(|demand| demand.holds(model, source, target))
            && self.parameters.iter().all(|(at, value)| model.value(&parameters[*at].1, step) == Ok(*value))
    }
}

impl Observation {
    /// What a record says; none if it says nothing.
    pub(crate) fn of(binding: &Binding<'_>, record: &Record<'_>) -> Result<Option<Observation>, Wrong> {
        let words = words(binding, record);
        let Some(event) = record.event else {
            let demands = bind(binding, None, &record.values)?.demands;
            if demands.is_empty() {
                return Err(Wrong::Nothing);
            }
            let stay = Some(demands);
            return Ok(Some(Observation { words, event: None, candidates: Vec::new(), stay }));
        };
        if binding.ignore.iter().any(|pattern| fits(pattern, event)) {
            return Ok(None);
        }
        let may_stay = binding.stutter.iter().any(|pattern| fits(pattern, event));
        let actions = binding.events.get(event).map_or(&[][..], Vec::as_slice);
        if actions.is_empty() && !may_stay {
            return Err(Wrong::Event {
                event: event.to_owned(),
                known: binding.events.keys().cloned().collect(),
            });
        }
        let mut wrong = None;
        let mut candidates = Vec::new();
        for action in actions {
            match bind(binding, Some(*action), &record.values) {
                Ok(candidate) => candidates.push(candidate),
                Err(found) => wrong = Some(found),
            }
        }
        candidates.sort_by_key(|candidate| candidate.action);
        candidates.dedup_by_key(|candidate| candidate.action);
        let stay = match may_stay {
            // A record of a known event tells parameters, which a model that stays does not have.
            true => Some(bind(binding, actions.first().copied(), &record.values)?.demands),
            false => None,
        };
        match wrong {
            // Several actions may have an event, with parameters of different kinds.
            Some(wrong) if candidates.is_empty() => Err(wrong),
            _ => Ok(Some(Observation { words, event: Some(event.to_owned()), candidates, stay })),
        }
    }
}

/// A record as people read it.
fn words(binding: &Binding<'_>, record: &Record<'_>) -> String {
    let field = |field: u32| binding.fields.get_index(field as usize).map_or("", |(name, _)| name.as_str());
    let values: Vec<String> =
        record.values.iter().map(|(at, value)| format!("{} = {value}", field(*at))).collect();
    match record.event {
        None => values.join(", "),
        Some(event) if values.is_empty() => event.to_owned(),
        Some(event) => format!("{event}({})", values.join(", ")),
    }
}

/// What the fields of a record say, if it is about this action or about none.
fn bind(
    binding: &Binding<'_>,
    action: Option<ActionId>,
    values: &[(u32, Given<'_>)],
) -> Result<Candidate, Wrong> {
    let model = binding.model;
    let none = &[][..];
    let parameters = action.map_or(none, |action| model.action(action).parameters.as_slice());
    let mut bound = Candidate { action: action.unwrap_or(0), parameters: Vec::new(), demands: Vec::new() };
    for (field, given) in values {
        let Some((field, uses)) = binding.fields.get_index(*field as usize) else { continue };
        let parameter = uses.iter().find_map(|of| match of {
            Use::Parameter(name) => parameters.iter().position(|(known, _)| known == name),
            Use::Position(at) => (*at < parameters.len()).then_some(*at),
            Use::Variable { .. } => None,
        });
        if let Some(at) = parameter {
            let kind = model.kind(&parameters[at].1);
            let value = given.of_kind(kind).ok_or_else(|| wrong(field, &given.to_string(), kind))?;
            bound.parameters.push((at, value));
            continue;
        }
        for of in uses {
            let Use::Variable { variable, part, is_before } = *of else { continue };
            let kind = &model.variable(variable).kind;
            let mut demand = |index, value| bound.demands.push(Demand { variable, index, value, is_before });
            match part {
                Part::One(index) => {
                    let value = given.of_kind(Some(kind));
                    demand(index, value.ok_or_else(|| wrong(field, &given.to_string(), Some(kind)))?);
                }
                Part::Whole => {
                    let length = model.variable(variable).elements();
                    let elements = elements(given, kind, length)
                        .ok_or_else(|| wrong_list(field, &given.to_string(), kind, length))?;
                    for (index, value) in (0..).zip(elements) {
                        value.into_iter().for_each(|value| demand(index, value));
                    }
                }
            }
        }
    }
    Ok(bound)
}

/// The elements of an array, from a list such as `[1, null, 3]`; `null` is one that is not told.
fn elements(given: &Given<'_>, kind: &Kind, length: u32) -> Option<Vec<Option<i64>>> {
    let Given::Text(text) = given else { return None };
    let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let one = |part: &str| {
        let part = part.trim().trim_matches('"');
        if part == "null" { Some(None) } else { Given::Text(part).of_kind(Some(kind)).map(Some) }
    };
    let elements: Option<Vec<_>> = inside.split(',').map(one).collect();
    elements.filter(|elements| elements.len() == length as usize)
}

fn wrong(field: &str, value: &str, kind: Option<&Kind>) -> Wrong {
    let known = match kind {
        Some(Kind::Names(names)) => names.clone(),
        _ => Vec::new(),
    };
    Wrong::Value { field: field.to_owned(), value: value.to_owned(), expected: expected(kind), known }
}

fn wrong_list(field: &str, value: &str, kind: &Kind, length: u32) -> Wrong {
    let expected = format!("a list of {length} elements, each {}", expected(Some(kind)));
    Wrong::Value { field: field.to_owned(), value: value.to_owned(), expected, known: Vec::new() }
}

/// What a value should be, in words.
fn expected(kind: Option<&Kind>) -> String {
    /// So many names are told.
    const FEW: usize = 8;
    match kind {
        Some(Kind::Boolean) => "true or false".to_owned(),
        Some(Kind::Integer { low, high }) => format!("an integer from {low} to {high}"),
        Some(Kind::Names(names)) if names.len() <= FEW => format!("one of {}", names.join(", ")),
        Some(Kind::Names(names)) => format!("one of {}, …", names[..FEW].join(", ")),
        None => "an integer".to_owned(),
    }
}
