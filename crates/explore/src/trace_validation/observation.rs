//! A record, interpreted in terms of the model.

use super::binding::{Binding, FieldMeaning, VariablePart};
use super::name_mapping::matches_pattern;
use super::record::{LogValue, Record};
use invigil_model::{ActionId, Domain, Model, Step, VariableId};

/// Why a record cannot be compared with the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// No action of the model has this event.
    Event {
        /// The event.
        event: String,
        /// The known events.
        known: Vec<String>,
    },
    /// The record has neither an event nor a field with a meaning.
    NoEventOrVariable,
    /// The value does not fit the domain of the parameter or variable.
    Value {
        /// The field.
        field: String,
        /// The value as text.
        value: String,
        /// A description of the expected values.
        expected: String,
        /// The possible names, if the value is a name.
        known: Vec<String>,
    },
}

impl core::fmt::Display for RecordError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RecordError::Event { event, .. } => write!(f, "the model has no event `{event}`"),
            RecordError::NoEventOrVariable => {
                f.write_str("the record has neither an event nor a variable of the model")
            }
            RecordError::Value { field, value, expected, .. } => {
                write!(f, "`{field}` is `{value}`, but the model expects {expected}")
            }
        }
    }
}

impl core::error::Error for RecordError {}

/// The possible meanings of a record.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// The record for display, such as `push(n = 4)`.
    pub(crate) text: String,
    /// The event; none for a record that only describes a state.
    pub(crate) event: Option<String>,
    /// The candidate actions in ascending order, with their constraints.
    pub(crate) candidates: Vec<Candidate>,
    /// The constraints on the state if the model stays unchanged; none if it must move.
    pub(crate) stay: Option<Vec<ValueConstraint>>,
}

/// An action that a record may refer to.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) action: ActionId,
    /// Indices of parameters with their required values.
    pub(crate) parameters: Vec<(usize, i64)>,
    pub(crate) constraints: Vec<ValueConstraint>,
}

/// The required value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueConstraint {
    pub(crate) variable: VariableId,
    pub(crate) index: u32,
    pub(crate) value: i64,
    pub(crate) is_before: bool,
}

impl ValueConstraint {
    /// The actual value in the model.
    pub(crate) fn actual(&self, model: &Model, source: &[u64], target: &[u64]) -> i64 {
        let words = if self.is_before { source } else { target };
        model.layout().slots[self.variable as usize].read(words, self.index)
    }

    pub(crate) fn holds(&self, model: &Model, source: &[u64], target: &[u64]) -> bool {
        self.actual(model, source, target) == self.value
    }
}

impl Candidate {
    /// Whether a step by the action matches the record.
    pub(crate) fn holds(&self, model: &Model, source: &[u64], target: &[u64]) -> bool {
        let step = Step { source: Some(source), action: Some(self.action), target };
        let parameters = &model.action(self.action).parameters;
        self.constraints.iter().all(|constraint| constraint.holds(model, source, target))
            && self.parameters.iter().all(|(at, value)| model.value(&parameters[*at].1, step) == Ok(*value))
    }
}

impl Observation {
    /// Interprets a record; none if it is ignored.
    pub(crate) fn of(binding: &Binding<'_>, record: &Record<'_>) -> Result<Option<Observation>, RecordError> {
        let text = record_text(binding, record);
        let Some(event) = record.event else {
            let constraints = interpret_fields(binding, None, &record.values)?.constraints;
            if constraints.is_empty() {
                return Err(RecordError::NoEventOrVariable);
            }
            let stay = Some(constraints);
            return Ok(Some(Observation { text, event: None, candidates: Vec::new(), stay }));
        };
        if binding.ignore.iter().any(|pattern| matches_pattern(pattern, event)) {
            return Ok(None);
        }
        let may_stay = binding.stutter.iter().any(|pattern| matches_pattern(pattern, event));
        let actions = binding.events.get(event).map_or(&[][..], Vec::as_slice);
        if actions.is_empty() && !may_stay {
            return Err(RecordError::Event {
                event: event.to_owned(),
                known: binding.events.keys().cloned().collect(),
            });
        }
        let mut value_error = None;
        let mut candidates = Vec::new();
        for action in actions {
            match interpret_fields(binding, Some(*action), &record.values) {
                Ok(candidate) => candidates.push(candidate),
                Err(found) => value_error = Some(found),
            }
        }
        candidates.sort_by_key(|candidate| candidate.action);
        candidates.dedup_by_key(|candidate| candidate.action);
        let stay = match may_stay {
            // A record of a known event may have parameters, which do not apply if the model stays.
            true => Some(interpret_fields(binding, actions.first().copied(), &record.values)?.constraints),
            false => None,
        };
        match value_error {
            // Several actions may share an event and have parameters of different domains.
            Some(value_error) if candidates.is_empty() => Err(value_error),
            _ => Ok(Some(Observation { text, event: Some(event.to_owned()), candidates, stay })),
        }
    }
}

/// The record for display.
fn record_text(binding: &Binding<'_>, record: &Record<'_>) -> String {
    let field = |field: u32| binding.fields.get_index(field as usize).map_or("", |(name, _)| name.as_str());
    let values: Vec<String> =
        record.values.iter().map(|(at, value)| format!("{} = {value}", field(*at))).collect();
    match record.event {
        None => values.join(", "),
        Some(event) if values.is_empty() => event.to_owned(),
        Some(event) => format!("{event}({})", values.join(", ")),
    }
}

/// Interprets the fields of a record for an action, or for none.
fn interpret_fields(
    binding: &Binding<'_>,
    action: Option<ActionId>,
    values: &[(u32, LogValue<'_>)],
) -> Result<Candidate, RecordError> {
    let model = binding.model;
    let none = &[][..];
    let parameters = action.map_or(none, |action| model.action(action).parameters.as_slice());
    let mut bound =
        Candidate { action: action.unwrap_or(0), parameters: Vec::new(), constraints: Vec::new() };
    for (field, log_value) in values {
        let Some((field, meanings)) = binding.fields.get_index(*field as usize) else { continue };
        let parameter = meanings.iter().find_map(|meaning| match meaning {
            FieldMeaning::Parameter(name) => parameters.iter().position(|(parameter, _)| parameter == name),
            FieldMeaning::Position(at) => (*at < parameters.len()).then_some(*at),
            FieldMeaning::Variable { .. } => None,
        });
        if let Some(at) = parameter {
            let domain = model.domain(&parameters[at].1);
            let value = log_value
                .as_domain_value(domain)
                .ok_or_else(|| value_error(field, &log_value.to_string(), domain))?;
            bound.parameters.push((at, value));
            continue;
        }
        for meaning in meanings {
            let FieldMeaning::Variable { variable, part, is_before } = *meaning else { continue };
            let domain = &model.variable(variable).domain;
            let mut constraint =
                |index, value| bound.constraints.push(ValueConstraint { variable, index, value, is_before });
            match part {
                VariablePart::One(index) => {
                    let value = log_value.as_domain_value(Some(domain));
                    constraint(
                        index,
                        value.ok_or_else(|| value_error(field, &log_value.to_string(), Some(domain)))?,
                    );
                }
                VariablePart::Whole => {
                    let length = model.variable(variable).elements();
                    let elements = elements(log_value, domain, length)
                        .ok_or_else(|| list_error(field, &log_value.to_string(), domain, length))?;
                    for (index, value) in (0..).zip(elements) {
                        value.into_iter().for_each(|value| constraint(index, value));
                    }
                }
            }
        }
    }
    Ok(bound)
}

/// The elements of an array, from a list such as `[1, null, 3]`; `null` is an element without a value.
fn elements(log_value: &LogValue<'_>, domain: &Domain, length: u32) -> Option<Vec<Option<i64>>> {
    let LogValue::Text(text) = log_value else { return None };
    let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let one = |part: &str| {
        let part = part.trim().trim_matches('"');
        if part == "null" { Some(None) } else { LogValue::Text(part).as_domain_value(Some(domain)).map(Some) }
    };
    let elements: Option<Vec<_>> = inside.split(',').map(one).collect();
    elements.filter(|elements| elements.len() == length as usize)
}

fn value_error(field: &str, value: &str, domain: Option<&Domain>) -> RecordError {
    let known = match domain {
        Some(Domain::Names(names)) => names.clone(),
        _ => Vec::new(),
    };
    RecordError::Value { field: field.to_owned(), value: value.to_owned(), expected: expected(domain), known }
}

fn list_error(field: &str, value: &str, domain: &Domain, length: u32) -> RecordError {
    let expected = format!("a list of {length} elements, each {}", expected(Some(domain)));
    RecordError::Value { field: field.to_owned(), value: value.to_owned(), expected, known: Vec::new() }
}

/// A description of the values of a domain.
fn expected(domain: Option<&Domain>) -> String {
    /// Maximum number of names in the description.
    const MAX_LISTED: usize = 8;
    match domain {
        Some(Domain::Boolean) => "true or false".to_owned(),
        Some(Domain::Integer { low, high }) => format!("an integer from {low} to {high}"),
        Some(Domain::Names(names)) if names.len() <= MAX_LISTED => format!("one of {}", names.join(", ")),
        Some(Domain::Names(names)) => format!("one of {}, …", names[..MAX_LISTED].join(", ")),
        None => "an integer".to_owned(),
    }
}
