//! The model as a subject of the semantic interface.

use crate::action::ActionId;
use crate::expression::Expression;
use crate::fault::Fault;
use crate::model::Model;
use crate::state::State;
use crate::value::Step;
use invigil_semantics::{Describe, Evaluate, Fields, Language, Semantics, StepRef};

impl Language for Model {
    type Config = State;
    type Action = ActionId;
}

impl Semantics for Model {
    fn initial(&self) -> impl IntoIterator<Item = State> {
        self.initial_states()
    }

    fn actions(&self, at: &State) -> impl IntoIterator<Item = ActionId> {
        if at.fault.is_some() { Vec::new() } else { self.enabled(&at.words) }
    }

    fn execute(&self, at: &State, action: &ActionId) -> impl IntoIterator<Item = State> {
        self.outcomes(&at.words, *action)
    }
}

/// Expressions are those of the model. A faulted configuration keeps the values from before the failing action;
/// expressions are evaluated on these.
impl Evaluate for Model {
    type Expr = Expression;
    type Error = Fault;

    fn evaluate(&self, expression: &Expression, step: StepRef<'_, Model>) -> Result<bool, Fault> {
        let source = step.source.map(|source| &*source.words);
        self.holds(expression, Step { source, action: step.action.copied(), target: &step.target.words })
    }
}

impl Describe for Model {
    fn describe_config(&self, config: &State) -> Fields {
        let mut fields = Fields::new();
        for (variable, slot) in self.parts().variables.iter().zip(&self.layout().slots) {
            if variable.is_hidden {
                continue;
            }
            let show = |index| variable.domain.show(slot.read(&config.words, index));
            let shown = match variable.length {
                None => show(0),
                Some(length) => format!("[{}]", (0..length).map(show).collect::<Vec<_>>().join(", ")),
            };
            fields = fields.with(variable.name.clone(), shown);
        }
        match &config.fault {
            Some(fault) => fields.with("faulted", &fault.reason),
            None => fields,
        }
    }

    fn describe_action(&self, action: &ActionId) -> String {
        self.action(*action).name.clone()
    }
}
