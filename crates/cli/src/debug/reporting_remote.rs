//! A remote language whose failure is reported as soon as it occurs: from then on it returns empty answers.

use crate::terminal::Terminal;
use invigil_remote::{NoValue, Remote, RemoteAction, RemoteConfig};
use invigil_semantics::{Describe, Evaluate, Fields, Language, Semantics, StepRef};
use std::sync::atomic::{AtomicBool, Ordering};

/// A remote language and the terminal that its failure is reported to.
pub(super) struct ReportingRemote<'a> {
    remote: &'a Remote,
    terminal: &'a Terminal,
    is_reported: AtomicBool,
}

impl<'a> ReportingRemote<'a> {
    pub(super) fn new(remote: &'a Remote, terminal: &'a Terminal) -> ReportingRemote<'a> {
        ReportingRemote { remote, terminal, is_reported: AtomicBool::new(false) }
    }

    /// Passes an answer on and reports, once, that the language has failed.
    fn reporting<T>(&self, answer: T) -> T {
        if let Some(failure) = self.remote.error()
            && !self.is_reported.swap(true, Ordering::Relaxed)
        {
            self.terminal.error(&failure.incomplete_note());
        }
        answer
    }
}

impl Language for ReportingRemote<'_> {
    type Config = RemoteConfig;
    type Action = RemoteAction;
}

impl Semantics for ReportingRemote<'_> {
    fn initial(&self) -> impl IntoIterator<Item = RemoteConfig> {
        self.reporting(self.remote.initial())
    }

    fn actions(&self, at: &RemoteConfig) -> impl IntoIterator<Item = RemoteAction> {
        self.reporting(self.remote.actions(at))
    }

    fn execute(&self, at: &RemoteConfig, action: &RemoteAction) -> impl IntoIterator<Item = RemoteConfig> {
        self.reporting(self.remote.execute(at, action))
    }

    fn steps(&self, at: &RemoteConfig) -> impl IntoIterator<Item = (RemoteAction, RemoteConfig)> {
        self.reporting(self.remote.steps(at))
    }
}

impl Evaluate for ReportingRemote<'_> {
    type Expr = String;
    type Error = NoValue;

    fn evaluate(&self, expression: &String, step: StepRef<'_, Self>) -> Result<bool, NoValue> {
        self.reporting(self.remote.evaluate(expression, step))
    }
}

impl Describe for ReportingRemote<'_> {
    fn describe_config(&self, config: &RemoteConfig) -> Fields {
        self.reporting(self.remote.describe_config(config))
    }

    fn describe_action(&self, action: &RemoteAction) -> String {
        self.reporting(self.remote.describe_action(action))
    }
}
