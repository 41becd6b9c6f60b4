//! A subject restricted by a policy.

use crate::{Accepting, Describe, Evaluate, Fields, FilteringPolicy, Language, Semantics, StepRef};
use alloc::string::String;
use alloc::vec::Vec;

/// `inner` restricted to the actions that `policy` keeps.
///
/// With a [`SchedulingPolicy`](crate::SchedulingPolicy) this is a scheduled subject.
///
/// A configuration is a configuration of `inner` with the policy's state. An action is an action of `inner`
/// with the policy's state after it, so that listing the actions changes nothing. Actions that the policy does
/// not control stay enabled, after those it keeps, and do not change its state.
///
/// ```
/// use invigil_semantics::{Compose, Language, RoundRobin, Semantics};
///
/// /// Two threads, each free to move at any time.
/// struct Threads;
/// impl Language for Threads {
///     type Config = ();
///     type Action = u8;
/// }
/// impl Semantics for Threads {
///     fn initial(&self) -> impl IntoIterator<Item = ()> {
///         [()]
///     }
///     fn actions(&self, _: &()) -> impl IntoIterator<Item = u8> {
///         [1, 2]
///     }
///     fn execute(&self, _: &(), _: &u8) -> impl IntoIterator<Item = ()> {
///         [()]
///     }
/// }
///
/// let fair = Threads.scheduled(RoundRobin::new(|thread: &u8| *thread));
/// let mut at = ((), None);
/// for expected in [1, 2, 1, 2] {
///     let ((thread, _), next) = fair.steps(&at).into_iter().next().unwrap();
///     assert_eq!(thread, expected);
///     at = next;
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Filter<S, P> {
    /// The subject.
    pub inner: S,
    /// The policy that restricts its actions.
    pub policy: P,
}

impl<S: Language, P: FilteringPolicy<S::Config, S::Action>> Language for Filter<S, P> {
    type Config = (S::Config, P::State);
    type Action = (S::Action, P::State);
}

impl<S: Semantics, P: FilteringPolicy<S::Config, S::Action>> Semantics for Filter<S, P> {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        self.inner.initial().into_iter().map(|config| (config, self.policy.initial()))
    }

    fn actions(&self, (at, state): &Self::Config) -> impl IntoIterator<Item = Self::Action> {
        let (controlled, others): (Vec<_>, Vec<_>) =
            self.inner.actions(at).into_iter().partition(|action| self.policy.controls(action));
        let kept: Vec<_> = self
            .policy
            .apply(state, at, &controlled)
            .into_iter()
            .map(|(action, next)| (action.clone(), next))
            .collect();
        kept.into_iter().chain(others.into_iter().map(|action| (action, state.clone())))
    }

    fn execute(
        &self,
        (at, _): &Self::Config,
        (action, next): &Self::Action,
    ) -> impl IntoIterator<Item = Self::Config> {
        self.inner.execute(at, action).into_iter().map(|target| (target, next.clone()))
    }
}

impl<S: Evaluate, P: FilteringPolicy<S::Config, S::Action>> Evaluate for Filter<S, P> {
    type Expr = S::Expr;
    type Error = S::Error;

    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Self>) -> Result<bool, Self::Error> {
        self.inner.evaluate(expr, step.project(|(config, _)| config, |(action, _)| Some(action)))
    }
}

impl<S: Accepting, P: FilteringPolicy<S::Config, S::Action>> Accepting for Filter<S, P> {
    fn is_accepting(&self, (at, _): &Self::Config) -> bool {
        self.inner.is_accepting(at)
    }
}

impl<S: Describe, P: FilteringPolicy<S::Config, S::Action>> Describe for Filter<S, P> {
    fn describe_config(&self, (config, state): &Self::Config) -> Fields {
        self.inner.describe_config(config).with_group("policy", self.policy.describe(state))
    }

    fn describe_action(&self, (action, _): &Self::Action) -> String {
        self.inner.describe_action(action)
    }
}
