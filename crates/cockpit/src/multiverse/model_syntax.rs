//! The syntax of models.

use super::subject_syntax::{StepEvaluator, SubjectSyntax};
use invigil_explore::Path;
use invigil_explore::breakpoint_search::{Automaton, Breakpoint, Execution, HasModel};
use invigil_expr::diag::nearest;
use invigil_model::{ActionId, Expression, Model, OmegaAutomaton, State};
use invigil_semantics::{Evaluate, Language, StepRef};

/// Parser for text of the user that refers to a model.
pub type Parser<'a, T> = Box<dyn Fn(&str) -> Result<T, String> + 'a>;

/// The syntax of models. The caller supplies the parsers of the expression language, of formulae and of properties.
pub struct ModelSyntax<'a, S: Language> {
    /// The model.
    pub model: &'a Model,
    /// Parses an expression over steps.
    pub expression: Parser<'a, Expression>,
    /// Translates a formula to an automaton for the executions that satisfy it.
    pub formula: Parser<'a, OmegaAutomaton>,
    /// Loads a property file as a breakpoint at its violations.
    pub property: Parser<'a, Breakpoint<'a, S>>,
}

impl<S: HasModel + Evaluate<Expr = Expression>> SubjectSyntax<S> for ModelSyntax<'_, S> {
    fn predicate(&self, text: &str) -> Result<Expression, String> {
        (self.expression)(text)
    }

    fn named(&self, name: &str) -> Result<Expression, String> {
        let parts = self.model.parts();
        let mut actions = self.model.actions_named(name);
        if actions.is_empty() {
            let named = (0..).zip(&parts.actions).filter(|(_, action)| action.name == name);
            actions = named.map(|(id, _)| id).collect();
        }
        if actions.is_empty() {
            let events = parts.actions.iter().filter_map(|action| action.event.as_deref());
            return Err(match nearest(name, events) {
                Some(near) => format!("no action `{name}`: did you mean `{near}`?"),
                None => format!("no action `{name}`"),
            });
        }
        Ok(Expression::Happens(actions))
    }

    fn value<'d>(&'d self, text: &str) -> Result<StepEvaluator<'d, S>, String>
    where
        S: 'd,
    {
        let model = self.model;
        // A variable is rendered according to its type, an array with all its elements.
        if let Some(id) = model.variable_named(text) {
            let (variable, slot) = (model.variable(id), model.layout().slots[id as usize]);
            return Ok(Box::new(move |step: StepRef<'_, S>| {
                let words = &S::state(step.target).words;
                let show = |index| variable.domain.show(slot.read(words, index));
                let Some(length) = variable.length else { return Ok(show(0)) };
                Ok(format!("[{}]", (0..length).map(show).collect::<Vec<_>>().join(", ")))
            }));
        }
        let expression = (self.expression)(text)?;
        let domain = model.domain(&expression).cloned();
        Ok(Box::new(move |step: StepRef<'_, S>| {
            let value = model.value(&expression, S::step(step)).map_err(|reason| reason.to_string())?;
            Ok(domain.as_ref().map_or_else(|| value.to_string(), |domain| domain.show(value)))
        }))
    }

    fn formula(&self, text: &str) -> Result<Automaton<Expression>, String> {
        (self.formula)(text).map(Automaton::from)
    }

    fn property<'d>(&'d self, file: &str) -> Result<Breakpoint<'d, S>, String>
    where
        S: 'd,
    {
        (self.property)(file)
    }

    fn actor(&self, action: &S::Action) -> Option<String> {
        let mover = self.model.action(S::action(action)).moves.first()?;
        self.model.parts().processes.get(mover.process as usize).map(|process| process.name.clone())
    }

    fn names(&self) -> Vec<String> {
        let parts = self.model.parts();
        let variables = parts.variables.iter().filter(|variable| !variable.is_hidden);
        let mut names: Vec<String> = variables.map(|variable| variable.name.clone()).collect();
        names.extend(parts.processes.iter().map(|process| process.name.clone()));
        names.extend(parts.actions.iter().filter_map(|action| action.event.clone()));
        names.extend(parts.predicates.iter().map(|predicate| predicate.name.clone()));
        names
    }
}

/// Converts a path found by an exploration to an execution for [`debug`](super::debug).
///
/// # Errors
/// If it is not an execution of the model.
pub fn execution(model: &Model, path: &Path) -> Result<Execution<State, ActionId>, String> {
    let state = |at: usize| path.states.get(at).map(|words| State::without_fault(words));
    let is_action = |action: u32| (action as usize) < model.parts().actions.len();
    let actions = path.actions.iter().chain(&path.fault).chain(path.loop_back.iter().flat_map(|(_, by)| by));
    let (true, Some(start)) = (actions.copied().all(is_action), state(0)) else {
        return Err("the execution does not belong to this model".to_owned());
    };
    let mut execution = Execution::at(start);
    for (at, action) in path.actions.iter().enumerate() {
        let target = state(at + 1).ok_or("the execution is missing a configuration")?;
        execution.steps.push((*action, target));
    }
    if let Some(action) = path.fault {
        let outcomes = model.outcomes(&execution.last().words, action);
        let faulty = outcomes.into_iter().find(|outcome| outcome.fault.is_some());
        execution.steps.push((action, faulty.ok_or("the last action does not raise a fault")?));
    }
    match path.loop_back {
        None => {}
        Some((_, None)) => execution.loop_back = Some(execution.len()),
        Some((target_index, Some(action))) => {
            let target = state(target_index).ok_or("the cycle refers to a missing configuration")?;
            execution.steps.push((action, target));
            execution.loop_back = Some(target_index);
        }
    }
    Ok(execution)
}
