//! Ready-made filtering policies: a condition, and the reactive hypothesis.

use crate::FilteringPolicy;

/// Keeps the actions for which a condition on configuration and action holds.
///
/// ```
/// use invigil_semantics::{FilteringPolicy, Keep};
///
/// // Drop what would overflow a queue of two messages.
/// let bounded = Keep(|queue: &Vec<u8>, action: &&str| *action != "send" || queue.len() < 2);
/// let enabled = ["send", "receive"];
/// let kept = |queue| {
///     bounded.apply(&(), &queue, &enabled).into_iter().map(|(action, ())| *action).collect::<Vec<_>>()
/// };
/// assert_eq!(kept(vec![1]), ["send", "receive"]);
/// assert_eq!(kept(vec![1, 2]), ["receive"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Keep<F>(
    /// Whether an action may be executed in a configuration.
    pub F,
);

impl<C, A, F: Fn(&C, &A) -> bool> FilteringPolicy<C, A> for Keep<F> {
    type State = ();

    fn initial(&self) {}

    fn apply<'a>(&self, _: &(), at: &C, enabled: &'a [A]) -> impl IntoIterator<Item = (&'a A, ())> {
        enabled.iter().filter(move |action| (self.0)(at, action)).map(|action| (action, ()))
    }
}

/// Drops the actions of the environment while an action of the system is enabled.
///
/// This is the reactive hypothesis: the environment waits until the system has reacted. The decision needs
/// the actions of both, so the policy controls all of them.
///
/// ```
/// use invigil_semantics::{FilteringPolicy, ReactiveHypothesis};
///
/// let policy = ReactiveHypothesis { is_system: |action: &&str| action.starts_with("system") };
/// let kept = |enabled: &[&'static str]| {
///     policy.apply(&(), &(), enabled).into_iter().map(|(action, ())| *action).collect::<Vec<_>>()
/// };
/// assert_eq!(kept(&["press button", "system lights lamp"]), ["system lights lamp"]);
/// assert_eq!(kept(&["press button", "leave"]), ["press button", "leave"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReactiveHypothesis<F> {
    /// Whether an action is the system's and not its environment's.
    pub is_system: F,
}

impl<C, A, F: Fn(&A) -> bool> FilteringPolicy<C, A> for ReactiveHypothesis<F> {
    type State = ();

    fn initial(&self) {}

    fn apply<'a>(&self, _: &(), _: &C, enabled: &'a [A]) -> impl IntoIterator<Item = (&'a A, ())> {
        let busy = enabled.iter().any(&self.is_system);
        enabled.iter().filter(move |action| !busy || (self.is_system)(action)).map(|action| (action, ()))
    }
}
