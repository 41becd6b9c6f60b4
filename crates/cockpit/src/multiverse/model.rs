//! The dialect of models.

use super::dialect::{Dialect, Value};
use invigil_explore::Path;
use invigil_explore::finder::{Automaton, Execution, OfModel, Stop};
use invigil_expr::diag::nearest;
use invigil_model::{ActionId, Expression, Model, Omega, State};
use invigil_semantics::{Evaluate, Language, StepRef};

/// Reads a text that is about a model.
pub type Reader<'a, T> = Box<dyn Fn(&str) -> Result<T, String> + 'a>;

/// The dialect of models. What expressions, formulae and properties look like is said by whoever knows languages.
pub struct Readers<'a, S: Language> {
    /// The model.
    pub model: &'a Model,
    /// Reads an expression over steps.
    pub expression: Reader<'a, Expression>,
    /// Reads a formula: an automaton for the executions that satisfy it.
    pub formula: Reader<'a, Omega>,
    /// Reads the file of a property: what violates it.
    pub property: Reader<'a, Stop<'a, S>>,
}

impl<S: OfModel + Evaluate<Expr = Expression>> Dialect<S> for Readers<'_, S> {
    fn predicate(&self, text: &str) -> Result<Expression, String> {
        (self.expression)(text)
    }

    fn named(&self, name: &str) -> Result<Expression, String> {
        let parts = self.model.parts();
        let mut actions = self.model.actions_called(name);
        if actions.is_empty() {
            let named = (0..).zip(&parts.actions).filter(|(_, action)| action.name == name);
            actions = named.map(|(id, _)| id).collect();
        }
        if actions.is_empty() {
            let events = parts.actions.iter().filter_map(|action| action.event.as_deref());
            return Err(match nearest(name, events) {
                Some(near) => format!("there is no action `{name}`: did you mean `{near}`?"),
                None => format!("there is no action `{name}`"),
            });
        }
        Ok(Expression::Happens(actions))
    }

    fn value<'d>(&'d self, text: &str) -> Result<Value<'d, S>, String>
    where
        S: 'd,
    {
        let model = self.model;
        // A variable is shown as the kind of thing that it holds, all of it if it is an array.
        if let Some(id) = model.variable_called(text) {
            let (variable, slot) = (model.variable(id), model.layout().slots[id as usize]);
            return Ok(Box::new(move |step: StepRef<'_, S>| {
                let words = &S::state(step.target).words;
                let show = |index| variable.kind.show(slot.read(words, index));
                let Some(length) = variable.length else { return Ok(show(0)) };
                Ok(format!("[{}]", (0..length).map(show).collect::<Vec<_>>().join(", ")))
            }));
        }
        let expression = (self.expression)(text)?;
        let kind = model.kind(&expression).cloned();
        Ok(Box::new(move |step: StepRef<'_, S>| {
            let value = model.value(&expression, S::step(step)).map_err(|reason| reason.to_string())?;
            Ok(kind.as_ref().map_or_else(|| value.to_string(), |kind| kind.show(value)))
        }))
    }

    fn formula(&self, text: &str) -> Result<Automaton<Expression>, String> {
        (self.formula)(text).map(Automaton::from)
    }

    fn property<'d>(&'d self, file: &str) -> Result<Stop<'d, S>, String>
    where
        S: 'd,
    {
        (self.property)(file)
    }

    fn actor(&self, action: &S::Action) -> Option<String> {
        let by = self.model.action(S::action(action)).moves.first()?;
        self.model.parts().processes.get(by.process as usize).map(|process| process.name.clone())
    }

    fn words(&self) -> Vec<String> {
        let parts = self.model.parts();
        let variables = parts.variables.iter().filter(|variable| !variable.is_hidden);
        let mut words: Vec<String> = variables.map(|variable| variable.name.clone()).collect();
        words.extend(parts.processes.iter().map(|process| process.name.clone()));
        words.extend(parts.actions.iter().filter_map(|action| action.event.clone()));
        words.extend(parts.predicates.iter().map(|predicate| predicate.name.clone()));
        words
    }
}

/// An execution that an exploration of a model found, to be opened by [`debug`](super::debug).
///
/// # Errors
/// If it is none of the model.
pub fn execution(model: &Model, path: &Path) -> Result<Execution<State, ActionId>, String> {
    let state = |at: usize| path.states.get(at).map(|words| State::sound(words));
    let is_action = |action: u32| (action as usize) < model.parts().actions.len();
    let actions = path.actions.iter().chain(&path.fault).chain(path.back.iter().flat_map(|(_, by)| by));
    let (true, Some(start)) = (actions.copied().all(is_action), state(0)) else {
        return Err("the execution is none of this model".to_owned());
    };
    let mut execution = Execution::at(start);
    for (at, action) in path.actions.iter().enumerate() {
        let target = state(at + 1).ok_or("the execution lacks a configuration")?;
        execution.steps.push((*action, target));
    }
    if let Some(action) = path.fault {
        let outcomes = model.outcomes(&execution.last().words, action);
        let broken = outcomes.into_iter().find(|outcome| outcome.fault.is_some());
        execution.steps.push((action, broken.ok_or("the action at the end does not go wrong")?));
    }
    match path.back {
        None => {}
        Some((_, None)) => execution.back = Some(execution.len()),
        Some((place, Some(action))) => {
            let target = state(place).ok_or("the execution leads back to nowhere")?;
            execution.steps.push((action, target));
            execution.back = Some(place);
        }
    }
    Ok(execution)
}
