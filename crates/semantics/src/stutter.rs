//! Idle loops in deadlocked configurations.

use crate::{Accepting, Describe, Evaluate, Fields, Language, Semantics, StepRef};
use alloc::borrow::ToOwned;
use alloc::string::String;

/// `inner` with an idle loop in each deadlock, so that every execution is infinite.
///
/// Properties of infinite executions are not defined on finite ones. Wrap the subject in this operator before
/// searching a product for cycles: an execution that ends is then treated as one that stays in its last
/// configuration. `inner` still reports deadlocks.
///
/// An action is `Some` action of `inner`, or `None` for the idle action, which is enabled only where `inner`
/// has no step. Expressions of `inner` read it as an idle step.
///
/// ```
/// use invigil_semantics::{Compose, Language, Semantics};
/// # struct Once;
/// # impl Language for Once { type Config = bool; type Action = &'static str; }
/// # impl Semantics for Once {
/// #     fn initial(&self) -> impl IntoIterator<Item = bool> { [false] }
/// #     fn actions(&self, done: &bool) -> impl IntoIterator<Item = &'static str> { (!done).then_some("do") }
/// #     fn execute(&self, _: &bool, _: &&'static str) -> impl IntoIterator<Item = bool> { [true] }
/// # }
/// let forever = Once.stuttering();
/// assert_eq!(forever.steps(&false).into_iter().collect::<Vec<_>>(), [(Some("do"), true)]);
/// assert_eq!(forever.steps(&true).into_iter().collect::<Vec<_>>(), [(None, true)]);
/// assert!(forever.inner.is_deadlocked(&true));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stutter<S> {
    /// The subject.
    pub inner: S,
}

impl<S: Language> Language for Stutter<S> {
    type Config = S::Config;
    type Action = Option<S::Action>;
}

impl<S: Semantics> Semantics for Stutter<S> {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        self.inner.initial()
    }

    fn actions(&self, at: &Self::Config) -> impl IntoIterator<Item = Self::Action> {
        let idle = self.inner.is_deadlocked(at).then_some(None);
        self.inner.actions(at).into_iter().map(Some).chain(idle)
    }

    fn execute(&self, at: &Self::Config, action: &Self::Action) -> impl IntoIterator<Item = Self::Config> {
        let stay = action.is_none().then(|| at.clone());
        action.iter().flat_map(|action| self.inner.execute(at, action)).chain(stay)
    }
}

impl<S: Evaluate> Evaluate for Stutter<S> {
    type Expr = S::Expr;
    type Error = S::Error;

    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Self>) -> Result<bool, Self::Error> {
        self.inner.evaluate(expr, step.project(|config| config, Option::as_ref))
    }
}

impl<S: Accepting> Accepting for Stutter<S> {
    fn is_accepting(&self, at: &Self::Config) -> bool {
        self.inner.is_accepting(at)
    }
}

impl<S: Describe> Describe for Stutter<S> {
    fn describe_config(&self, config: &Self::Config) -> Fields {
        self.inner.describe_config(config)
    }

    fn describe_action(&self, action: &Self::Action) -> String {
        match action {
            Some(action) => self.inner.describe_action(action),
            None => "idle".to_owned(),
        }
    }
}
