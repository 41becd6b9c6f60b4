//! The remote semantics as a subject of the semantic interface.

use crate::known::{Action, Config};
use crate::remote::Remote;
use invigil_semantics::{Accepting, Describe, Evaluate, Fields, Language, Semantics, StepRef};
use std::error::Error;
use std::fmt;

impl Language for Remote {
    type Config = Config;
    type Action = Action;
}

impl Semantics for Remote {
    fn initial(&self) -> impl IntoIterator<Item = Config> {
        self.ask_initial()
    }

    fn actions(&self, at: &Config) -> impl IntoIterator<Item = Action> {
        self.actions_of(&[*at]).into_iter().flatten()
    }

    fn execute(&self, at: &Config, action: &Action) -> impl IntoIterator<Item = Config> {
        self.targets_of(&[(*at, *action)]).into_iter().flatten()
    }

    fn steps(&self, at: &Config) -> impl IntoIterator<Item = (Action, Config)> {
        self.steps_of(&[*at]).into_iter().flatten()
    }
}

/// Why an expression has no value on a step, in the words of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue(pub String);

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for NoValue {}

/// Expressions are text in the language's own syntax.
impl Evaluate for Remote {
    type Expr = String;
    type Error = NoValue;

    fn evaluate(&self, expression: &String, step: StepRef<'_, Remote>) -> Result<bool, NoValue> {
        let value = self.values_of(expression, &[step]).pop();
        value.unwrap_or_else(|| Err("there is no answer".to_owned())).map_err(NoValue)
    }
}

impl Accepting for Remote {
    fn is_accepting(&self, at: &Config) -> bool {
        self.accepting_of(&[*at]) == [true]
    }
}

/// Where the language does not describe its configurations and actions, they are shown as JSON.
impl Describe for Remote {
    fn describe_config(&self, config: &Config) -> Fields {
        if let Some(why) = self.fault(*config) {
            return Fields::new().with("broken", why);
        }
        if !self.can("describe") {
            return Fields::new().with("configuration", self.text(*config).unwrap_or_default());
        }
        let fields = self.fields_of(&[*config]).into_iter().flatten();
        fields.fold(Fields::new(), |fields, (name, value)| fields.with(name, value))
    }

    fn describe_action(&self, action: &Action) -> String {
        let described = if self.can("describe") { self.phrase(*action) } else { None };
        described.or_else(|| self.action_text(*action)).unwrap_or_default()
    }
}
