//! Implements the semantic interface for remote subjects.

use crate::registry::{RemoteAction, RemoteConfig};
use crate::remote::Remote;
use invigil_semantics::{Accepting, Describe, Evaluate, Fields, Language, Semantics, StepRef};
use std::error::Error;
use std::fmt;

impl Language for Remote {
    type Config = RemoteConfig;
    type Action = RemoteAction;
}

impl Semantics for Remote {
    fn initial(&self) -> impl IntoIterator<Item = RemoteConfig> {
        self.initial_configs()
    }

    fn actions(&self, at: &RemoteConfig) -> impl IntoIterator<Item = RemoteAction> {
        self.actions_of(&[*at]).into_iter().flatten()
    }

    fn execute(&self, at: &RemoteConfig, action: &RemoteAction) -> impl IntoIterator<Item = RemoteConfig> {
        self.targets_of(&[(*at, *action)]).into_iter().flatten()
    }

    fn steps(&self, at: &RemoteConfig) -> impl IntoIterator<Item = (RemoteAction, RemoteConfig)> {
        self.steps_of(&[*at]).into_iter().flatten()
    }
}

/// Why an expression has no value on a step, as reported by the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue(pub String);

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for NoValue {}

/// Expressions are texts in the language's own syntax.
impl Evaluate for Remote {
    type Expr = String;
    type Error = NoValue;

    fn evaluate(&self, expression: &String, step: StepRef<'_, Remote>) -> Result<bool, NoValue> {
        let value = self.values_of(expression, &[step]).pop();
        value.unwrap_or_else(|| Err("there is no answer".to_owned())).map_err(NoValue)
    }
}

impl Accepting for Remote {
    fn is_accepting(&self, at: &RemoteConfig) -> bool {
        self.accepting_of(&[*at]) == [true]
    }
}

/// If the program does not describe configurations and actions, they are shown as JSON.
impl Describe for Remote {
    fn describe_config(&self, config: &RemoteConfig) -> Fields {
        if let Some(why) = self.fault(*config) {
            return Fields::new().with("broken", why);
        }
        if !self.supports("describe") {
            return Fields::new().with("configuration", self.text(*config).unwrap_or_default());
        }
        let fields = self.fields_of(&[*config]).into_iter().flatten();
        fields.fold(Fields::new(), |fields, (name, value)| fields.with(name, value))
    }

    fn describe_action(&self, action: &RemoteAction) -> String {
        let described = if self.supports("describe") { self.action_description(*action) } else { None };
        described.or_else(|| self.action_text(*action)).unwrap_or_default()
    }
}
