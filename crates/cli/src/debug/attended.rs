//! A language of another program that says at once when it fails, as what it answers from then on is nothing.

use crate::terminal::Terminal;
use invigil_remote::{Action, Config, NoValue, Remote};
use invigil_semantics::{Describe, Evaluate, Fields, Language, Semantics, StepRef};
use std::sync::atomic::{AtomicBool, Ordering};

/// A language of another program, and where to complain about it.
pub(super) struct Attended<'a> {
    remote: &'a Remote,
    terminal: &'a Terminal,
    is_told: AtomicBool,
}

impl<'a> Attended<'a> {
    pub(super) fn new(remote: &'a Remote, terminal: &'a Terminal) -> Attended<'a> {
        Attended { remote, terminal, is_told: AtomicBool::new(false) }
    }

    /// An answer, which is worth nothing if the language has failed.
    fn heard<T>(&self, answer: T) -> T {
        if let Some(failure) = self.remote.failure()
            && !self.is_told.swap(true, Ordering::Relaxed)
        {
            self.terminal.error(&failure.incomplete());
        }
        answer
    }
}

impl Language for Attended<'_> {
    type Config = Config;
    type Action = Action;
}

impl Semantics for Attended<'_> {
    fn initial(&self) -> impl IntoIterator<Item = Config> {
        self.heard(self.remote.initial())
    }

    fn actions(&self, at: &Config) -> impl IntoIterator<Item = Action> {
        self.heard(self.remote.actions(at))
    }

    fn execute(&self, at: &Config, action: &Action) -> impl IntoIterator<Item = Config> {
        self.heard(self.remote.execute(at, action))
    }

    fn steps(&self, at: &Config) -> impl IntoIterator<Item = (Action, Config)> {
        self.heard(self.remote.steps(at))
    }
}

impl Evaluate for Attended<'_> {
    type Expr = String;
    type Error = NoValue;

    fn evaluate(&self, expression: &String, step: StepRef<'_, Self>) -> Result<bool, NoValue> {
        self.heard(self.remote.evaluate(expression, step))
    }
}

impl Describe for Attended<'_> {
    fn describe_config(&self, config: &Config) -> Fields {
        self.heard(self.remote.describe_config(config))
    }

    fn describe_action(&self, action: &Action) -> String {
        self.heard(self.remote.describe_action(action))
    }
}
