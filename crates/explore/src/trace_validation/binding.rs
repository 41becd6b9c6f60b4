//! The meaning of a log's names in a model.

use super::name_mapping::{NameMapping, UnknownNameError, matches_pattern};
use indexmap::IndexMap;
use invigil_model::{ActionId, Model, VariableId};

/// Elements of longer arrays have no fields of their own, only the whole array has one.
const MAX_ELEMENTS: u32 = 64;

/// Prefix of a variable's name that refers to its value before the step.
const BEFORE_PREFIX: &str = "before.";

/// A model and the meaning of a log's names in it.
#[derive(Debug)]
pub struct Binding<'m> {
    pub(crate) model: &'m Model,
    /// The fields with a meaning, each with all its possible meanings.
    pub(crate) fields: IndexMap<String, Vec<FieldMeaning>>,
    /// The actions of each event of the log.
    pub(crate) events: IndexMap<String, Vec<ActionId>>,
    /// For each action, whether it may happen without a record.
    pub(crate) is_hidden: Vec<bool>,
    pub(crate) ignore: Vec<String>,
    pub(crate) stutter: Vec<String>,
}

/// A meaning of a field. Which one applies depends on the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldMeaning {
    /// The parameter with this name.
    Parameter(String),
    /// The parameter with this index, counted from 0.
    Position(usize),
    /// A variable, one of its elements, or all its elements.
    Variable { variable: VariableId, part: VariablePart, is_before: bool },
}

/// The part of a variable that a field contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariablePart {
    One(u32),
    Whole,
}

impl<'m> Binding<'m> {
    /// Resolves the user's name mapping. All unknown names are reported together.
    pub fn new(model: &'m Model, names: &NameMapping) -> Result<Binding<'m>, Vec<UnknownNameError>> {
        let mut binding = Binding {
            model,
            fields: IndexMap::new(),
            events: IndexMap::new(),
            is_hidden: model.parts().actions.iter().map(|action| action.event.is_none()).collect(),
            ignore: names.ignore.clone(),
            stutter: names.stutter.clone(),
        };
        binding.add_events();
        binding.add_fields();
        // Resolved against the model's own names, before the log's names are added.
        let mut errors = binding.add_map(&names.map);
        let mut check_patterns = |patterns: &[String], role: &str| {
            for pattern in patterns
                .iter()
                .filter(|pattern| !binding.events.keys().any(|name| matches_pattern(pattern, name)))
            {
                errors.push(UnknownNameError {
                    message: format!("the model has no event or action `{pattern}` that could be {role}"),
                    name: pattern.clone(),
                    known: binding.events.keys().cloned().collect(),
                });
            }
        };
        check_patterns(&names.hidden, "hidden");
        check_patterns(&names.logged, "logged");
        for (action, is_hidden) in model.parts().actions.iter().zip(&mut binding.is_hidden) {
            let is_among = |patterns: &[String]| {
                let called = [Some(&action.name), action.event.as_ref()].into_iter().flatten();
                called.into_iter().any(|name| patterns.iter().any(|pattern| matches_pattern(pattern, name)))
            };
            let is_logged = if names.logged.is_empty() { !*is_hidden } else { is_among(&names.logged) };
            *is_hidden = !is_logged || is_among(&names.hidden);
        }
        if errors.is_empty() { Ok(binding) } else { Err(errors) }
    }

    /// The names of all fields with a meaning. Records refer to them by their index.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// The index of a field.
    pub fn field(&self, name: &str) -> Option<u32> {
        self.fields.get_index_of(name).map(|at| at as u32)
    }

    /// The event names of a log that are actions of the model.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.events.keys().map(String::as_str)
    }

    /// Whether an event has a meaning or is ignored.
    pub(crate) fn is_known_event(&self, event: &str) -> bool {
        let mut patterns = self.ignore.iter().chain(&self.stutter);
        self.events.contains_key(event) || patterns.any(|pattern| matches_pattern(pattern, event))
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    fn add_events(&mut self) {
        for (id, action) in (0..).zip(&self.model.parts().actions) {
            if let Some(event) = &action.event {
                self.events.entry(event.clone()).or_default().push(id);
            }
        }
        // An action can also be referred to by its own name, unless it is the name of an event.
        for (id, action) in (0..).zip(&self.model.parts().actions) {
            self.events.entry(action.name.clone()).or_insert_with(|| vec![id]);
        }
    }

    fn add_fields(&mut self) {
        let parts = self.model.parts();
        for action in &parts.actions {
            for (at, (name, _)) in action.parameters.iter().enumerate() {
                self.add(name, FieldMeaning::Parameter(name.clone()));
                self.add(&format!("arg {}", at + 1), FieldMeaning::Position(at));
            }
        }
        let visible = (0..).zip(&parts.variables).filter(|(_, variable)| !variable.is_hidden);
        for (variable, of) in visible {
            let whole = if of.length.is_some() { VariablePart::Whole } else { VariablePart::One(0) };
            self.add(&of.name, FieldMeaning::Variable { variable, part: whole, is_before: false });
            for index in 0..of.length.filter(|length| *length <= MAX_ELEMENTS).unwrap_or(0) {
                let element =
                    FieldMeaning::Variable { variable, part: VariablePart::One(index), is_before: false };
                self.add(&format!("{}[{index}]", of.name), element);
            }
        }
        for process in &parts.processes {
            // The location of a process, unless a variable has the same name.
            if self.model.variable_named(&process.name).is_none() {
                let location = FieldMeaning::Variable {
                    variable: process.location,
                    part: VariablePart::One(0),
                    is_before: false,
                };
                self.add(&process.name, location);
            }
        }
    }

    fn add(&mut self, field: &str, meaning: FieldMeaning) {
        let meanings = self.fields.entry(field.to_owned()).or_default();
        if !meanings.contains(&meaning) {
            meanings.push(meaning);
        }
    }

    /// Entries of the user's mapping replace the default meaning of a name.
    fn add_map(&mut self, map: &[(String, String)]) -> Vec<UnknownNameError> {
        let mut errors = Vec::new();
        let (own_events, own_fields) = (self.events.clone(), self.fields.clone());
        for (at, (from, to)) in map.iter().enumerate() {
            let is_first = !map[..at].iter().any(|(earlier, _)| earlier == from);
            if to.is_empty() {
                self.fields.shift_remove(from);
                continue;
            }
            let (is_before, name) = match to.strip_prefix(BEFORE_PREFIX) {
                Some(name) => (true, name),
                None => (false, to.as_str()),
            };
            let actions = own_events.get(to).cloned().unwrap_or_default();
            let mut meanings = own_fields.get(name).cloned().unwrap_or_default();
            if is_before {
                meanings.retain_mut(|meaning| match meaning {
                    FieldMeaning::Variable { is_before, .. } => {
                        *is_before = true;
                        true
                    }
                    _ => false,
                });
            }
            if actions.is_empty() && meanings.is_empty() {
                let known = own_events.keys().chain(own_fields.keys()).cloned().collect();
                errors.push(UnknownNameError {
                    message: format!("the model has no event, action, parameter or variable `{to}`"),
                    name: name.to_owned(),
                    known,
                });
            }
            if !actions.is_empty() {
                let bound = self.events.entry(from.clone()).or_default();
                if is_first {
                    bound.clear();
                }
                bound.extend(actions);
            }
            if !meanings.is_empty() {
                let bound = self.fields.entry(from.clone()).or_default();
                if is_first {
                    bound.clear();
                }
                bound.extend(meanings);
            }
        }
        errors
    }
}
