//! Evaluation and description of debugger configurations.

use crate::debugger::{DebugAction, Debugger, History};
use invigil_semantics::{Describe, Evaluate, Fields, Semantics, Step, StepRef};

/// Expressions are those of the subject. A selection is evaluated as the step of the subject that it completes; any
/// other action that sets the current configuration as the virtual initial step. Without a current configuration, every
/// expression is false.
impl<S: Semantics + Evaluate, H: History<S::Config, S::Action>> Evaluate for Debugger<'_, S, H> {
    type Expr = S::Expr;
    type Error = S::Error;

    fn evaluate(&self, expr: &S::Expr, step: StepRef<'_, Self>) -> Result<bool, S::Error> {
        let Some(target) = &step.target.current else { return Ok(false) };
        let from = match step.action {
            Some(DebugAction::Select(_)) => step.source.and_then(|source| source.from.as_ref()),
            _ => None,
        };
        match from {
            Some((source, action)) => self.subject.evaluate(expr, Step::by_action(source, action, target)),
            None => self.subject.evaluate(expr, Step::initial(target)),
        }
    }
}

impl<S: Semantics + Describe, H: History<S::Config, S::Action>> Describe for Debugger<'_, S, H> {
    fn describe_config(&self, config: &Self::Config) -> Fields {
        let show = |config: &S::Config| self.subject.describe_config(config).to_string();
        let current = config.current.as_ref().map_or_else(|| "nothing selected".to_owned(), show);
        let options: Vec<String> = config.options.iter().map(show).collect();
        Fields::new()
            .with("current", current)
            .with("options", format!("[{}]", options.join("; ")))
            .with("history", config.history.entries().count())
    }

    fn describe_action(&self, action: &Self::Action) -> String {
        match action {
            DebugAction::Step(action) => format!("step {}", self.subject.describe_action(action)),
            DebugAction::Select(config) => format!("select {}", self.subject.describe_config(config)),
            DebugAction::Jump(entry) => format!("jump #{entry}"),
            DebugAction::Run => "run to breakpoint".to_owned(),
        }
    }
}
