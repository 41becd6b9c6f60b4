//! A subject with other initial configurations.

use crate::{Accepting, Describe, Evaluate, Fields, Language, Semantics, StepRef};
use alloc::string::String;
use alloc::vec::Vec;

/// `inner` with the initial configurations `starts` instead of its own.
///
/// A search uses it to start from the current configuration of a debugger.
///
/// ```
/// use invigil_semantics::{Compose, Language, Semantics};
/// # struct Counter;
/// # impl Language for Counter { type Config = u8; type Action = (); }
/// # impl Semantics for Counter {
/// #     fn initial(&self) -> impl IntoIterator<Item = u8> { [0] }
/// #     fn actions(&self, _: &u8) -> impl IntoIterator<Item = ()> { [()] }
/// #     fn execute(&self, at: &u8, _: &()) -> impl IntoIterator<Item = u8> { [at + 1] }
/// # }
/// let later = Counter.starting_in([40, 41]);
/// assert_eq!(later.initial().into_iter().collect::<Vec<_>>(), [40, 41]);
/// assert_eq!(later.steps(&41).into_iter().collect::<Vec<_>>(), [((), 42)]);
/// ```
#[derive(Clone, Debug)]
pub struct PreInitialised<S: Language> {
    /// The subject.
    pub inner: S,
    /// The initial configurations.
    pub starts: Vec<S::Config>,
}

impl<S: Language> Language for PreInitialised<S> {
    type Config = S::Config;
    type Action = S::Action;
}

impl<S: Semantics> Semantics for PreInitialised<S> {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        self.starts.iter().cloned()
    }

    fn actions(&self, at: &Self::Config) -> impl IntoIterator<Item = Self::Action> {
        self.inner.actions(at)
    }

    fn execute(&self, at: &Self::Config, action: &Self::Action) -> impl IntoIterator<Item = Self::Config> {
        self.inner.execute(at, action)
    }

    fn steps(&self, at: &Self::Config) -> impl IntoIterator<Item = (Self::Action, Self::Config)> {
        self.inner.steps(at)
    }
}

impl<S: Evaluate> Evaluate for PreInitialised<S> {
    type Expr = S::Expr;
    type Error = S::Error;

    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Self>) -> Result<bool, Self::Error> {
        self.inner.evaluate(expr, step)
    }
}

impl<S: Accepting> Accepting for PreInitialised<S> {
    fn is_accepting(&self, at: &Self::Config) -> bool {
        self.inner.is_accepting(at)
    }
}

impl<S: Describe> Describe for PreInitialised<S> {
    fn describe_config(&self, config: &Self::Config) -> Fields {
        self.inner.describe_config(config)
    }

    fn describe_action(&self, action: &Self::Action) -> String {
        self.inner.describe_action(action)
    }
}
