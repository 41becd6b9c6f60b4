//! What a debugger tells of itself.

use crate::debugger::{Act, Debugger, History};
use invigil_semantics::{Describe, Evaluate, Fields, Semantics, Step, StepRef};

/// Expressions are those of the subject. A selection is looked at as the step of the subject that it completes, and
/// what else leads to a current configuration as its virtual initial step. Where nothing is current they are false.
impl<S: Semantics + Evaluate, H: History<S::Config, S::Action>> Evaluate for Debugger<'_, S, H> {
    type Expr = S::Expr;
    type Error = S::Error;

    fn evaluate(&self, expr: &S::Expr, step: StepRef<'_, Self>) -> Result<bool, S::Error> {
        let Some(target) = &step.target.current else { return Ok(false) };
        let from = match step.action {
            Some(Act::Select(_)) => step.source.and_then(|source| source.from.as_ref()),
            _ => None,
        };
        match from {
            Some((source, action)) => self.subject.evaluate(expr, Step::taken(source, action, target)),
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
            .with("history", config.history.places().count())
    }

    fn describe_action(&self, action: &Self::Action) -> String {
        match action {
            Act::Step(action) => format!("step {}", self.subject.describe_action(action)),
            Act::Select(config) => format!("select {}", self.subject.describe_config(config)),
            Act::Jump(place) => format!("jump #{place}"),
            Act::Run => "run to breakpoint".to_owned(),
        }
    }
}
