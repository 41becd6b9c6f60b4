//! What the names of a log are in a model.

use super::names::{Mistake, Names, fits};
use indexmap::IndexMap;
use invigil_model::{ActionId, Model, VariableId};

/// Elements of longer arrays have no fields of their own; a field for the whole array there is.
const MOST_ELEMENTS: u32 = 64;

/// What comes before the name of a variable whose value before the step is meant.
const BEFORE: &str = "before.";

/// A model, with what the names of a log are in it.
#[derive(Debug)]
pub struct Binding<'m> {
    pub(crate) model: &'m Model,
    /// The fields that say something, each with all that it may be.
    pub(crate) fields: IndexMap<String, Vec<Use>>,
    /// The actions of each event of the log.
    pub(crate) events: IndexMap<String, Vec<ActionId>>,
    /// For each action, whether it may happen without a record.
    pub(crate) is_hidden: Vec<bool>,
    pub(crate) ignore: Vec<String>,
    pub(crate) stutter: Vec<String>,
}

/// What a field may be: which of them depends on the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The parameter of this name.
    Parameter(String),
    /// The parameter at this position, counted from 0.
    Position(usize),
    /// A variable, or an element of one, or all its elements.
    Variable { variable: VariableId, part: Part, is_before: bool },
}

/// Which part of a variable a field tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    One(u32),
    Whole,
}

impl<'m> Binding<'m> {
    /// Looks up all that the user says about names; every mistake is told.
    pub fn new(model: &'m Model, names: &Names) -> Result<Binding<'m>, Vec<Mistake>> {
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
        // Those of the model, before the log's own names come in.
        let mut mistakes = binding.add_map(&names.map);
        let mut none_named = |patterns: &[String], what: &str| {
            for pattern in
                patterns.iter().filter(|pattern| !binding.events.keys().any(|name| fits(pattern, name)))
            {
                mistakes.push(Mistake {
                    message: format!("the model has no event or action `{pattern}` that could be {what}"),
                    name: pattern.clone(),
                    known: binding.events.keys().cloned().collect(),
                });
            }
        };
        none_named(&names.hidden, "hidden");
        none_named(&names.logged, "logged");
        for (action, is_hidden) in model.parts().actions.iter().zip(&mut binding.is_hidden) {
            let is_among = |patterns: &[String]| {
                let called = [Some(&action.name), action.event.as_ref()].into_iter().flatten();
                called.into_iter().any(|name| patterns.iter().any(|pattern| fits(pattern, name)))
            };
            let is_logged = if names.logged.is_empty() { !*is_hidden } else { is_among(&names.logged) };
            *is_hidden = !is_logged || is_among(&names.hidden);
        }
        if mistakes.is_empty() { Ok(binding) } else { Err(mistakes) }
    }

    /// The names of all fields that say something; records refer to them by their positions here.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// The number of a field.
    pub fn field(&self, name: &str) -> Option<u32> {
        self.fields.get_index_of(name).map(|at| at as u32)
    }

    /// The events of a log that are actions of the model.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.events.keys().map(String::as_str)
    }

    /// Whether something is said about an event.
    pub(crate) fn knows(&self, event: &str) -> bool {
        let mut patterns = self.ignore.iter().chain(&self.stutter);
        self.events.contains_key(event) || patterns.any(|pattern| fits(pattern, event))
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
        // An action is also called by its own name, unless an event has it.
        for (id, action) in (0..).zip(&self.model.parts().actions) {
            self.events.entry(action.name.clone()).or_insert_with(|| vec![id]);
        }
    }

    fn add_fields(&mut self) {
        let parts = self.model.parts();
        for action in &parts.actions {
            for (at, (name, _)) in action.parameters.iter().enumerate() {
                self.add(name, Use::Parameter(name.clone()));
                self.add(&format!("arg {}", at + 1), Use::Position(at));
            }
        }
        let visible = (0..).zip(&parts.variables).filter(|(_, variable)| !variable.is_hidden);
        for (variable, of) in visible {
            let whole = if of.length.is_some() { Part::Whole } else { Part::One(0) };
            self.add(&of.name, Use::Variable { variable, part: whole, is_before: false });
            for index in 0..of.length.filter(|length| *length <= MOST_ELEMENTS).unwrap_or(0) {
                let element = Use::Variable { variable, part: Part::One(index), is_before: false };
                self.add(&format!("{}[{index}]", of.name), element);
            }
        }
        for process in &parts.processes {
            // Where a process is, unless a variable has its name.
            if self.model.variable_called(&process.name).is_none() {
                let location =
                    Use::Variable { variable: process.location, part: Part::One(0), is_before: false };
                self.add(&process.name, location);
            }
        }
    }

    fn add(&mut self, field: &str, what: Use) {
        let uses = self.fields.entry(field.to_owned()).or_default();
        if !uses.contains(&what) {
            uses.push(what);
        }
    }

    /// What the user says of a name comes instead of what it would be by itself.
    fn add_map(&mut self, map: &[(String, String)]) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let (own_events, own_fields) = (self.events.clone(), self.fields.clone());
        for (at, (from, to)) in map.iter().enumerate() {
            let is_first = !map[..at].iter().any(|(earlier, _)| earlier == from);
            if to.is_empty() {
                self.fields.shift_remove(from);
                continue;
            }
            let (is_before, name) = match to.strip_prefix(BEFORE) {
                Some(name) => (true, name),
                None => (false, to.as_str()),
            };
            let actions = own_events.get(to).cloned().unwrap_or_default();
            let mut uses = own_fields.get(name).cloned().unwrap_or_default();
            if is_before {
                uses.retain_mut(|of| match of {
                    Use::Variable { is_before, .. } => {
                        *is_before = true;
                        true
                    }
                    _ => false,
                });
            }
            if actions.is_empty() && uses.is_empty() {
                let known = own_events.keys().chain(own_fields.keys()).cloned().collect();
                mistakes.push(Mistake {
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
            if !uses.is_empty() {
                let bound = self.fields.entry(from.clone()).or_default();
                if is_first {
                    bound.clear();
                }
                bound.extend(uses);
            }
        }
        mistakes
    }
}
