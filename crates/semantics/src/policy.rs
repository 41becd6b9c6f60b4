//! What a policy is: a deterministic rule that forbids some of the enabled actions.

use crate::Fields;
use core::hash::Hash;

/// A rule that keeps some of the actions enabled in a configuration and drops the others, for use with
/// [`Filter`](crate::Filter).
///
/// A policy may have a state of its own, which becomes part of the configurations of the filtered subject.
/// Each action kept comes with the state the policy is in *after* that action; it is entered only when the
/// action is executed. Two laws:
///
/// - *subset*: only enabled actions are kept. This holds by construction, as what is kept is borrowed from
///   what is enabled;
/// - *determinism*: the same state, configuration and actions give the same answer. Randomness, if any,
///   is in the state.
///
/// ```
/// use invigil_semantics::FilteringPolicy;
///
/// /// At most `limit` sends; everything that is not a send passes by.
/// struct Budget {
///     limit: u32,
/// }
///
/// impl<C> FilteringPolicy<C, &'static str> for Budget {
///     type State = u32;
///     fn initial(&self) -> u32 {
///         self.limit
///     }
///     fn selects(&self, action: &&'static str) -> bool {
///         *action == "send"
///     }
///     fn apply<'a>(
///         &self,
///         left: &u32,
///         _at: &C,
///         enabled: &'a [&'static str],
///     ) -> impl IntoIterator<Item = (&'a &'static str, u32)> {
///         enabled.iter().filter_map(|action| Some((action, left.checked_sub(1)?)))
///     }
/// }
/// let kept: Vec<_> = Budget { limit: 1 }.apply(&1, &(), &["send"]).into_iter().collect();
/// assert_eq!(kept, [(&"send", 0)]);
/// assert_eq!(Budget { limit: 1 }.apply(&0, &(), &["send"]).into_iter().count(), 0);
/// ```
pub trait FilteringPolicy<C, A> {
    /// What the policy remembers; `()` if nothing.
    type State: Clone + Eq + Hash;

    /// The one state the policy starts in.
    fn initial(&self) -> Self::State;

    /// Whether the policy decides about `action`. Others are left enabled, and executing them leaves the
    /// policy's state as it is.
    fn selects(&self, action: &A) -> bool {
        let _ = action;
        true
    }

    /// The actions to keep of those in `enabled`, which are the selected actions enabled in `at`, each with
    /// the state of the policy after it.
    fn apply<'a>(
        &self,
        state: &Self::State,
        at: &C,
        enabled: &'a [A],
    ) -> impl IntoIterator<Item = (&'a A, Self::State)>;

    /// The parts of the policy's state to show to people.
    fn describe(&self, state: &Self::State) -> Fields {
        let _ = state;
        Fields::new()
    }
}

/// A policy that keeps at most one of the actions it selects: what a processor runs next.
///
/// Every scheduling policy is a filtering policy, by way of [`Schedule`]. That at most one action is kept, and
/// none if none is enabled, holds by construction. Executing the chosen action may still have several outcomes.
///
/// ```
/// use invigil_semantics::SchedulingPolicy;
///
/// /// The action listed last.
/// struct Latest;
/// impl<C, A> SchedulingPolicy<C, A> for Latest {
///     type State = ();
///     fn initial(&self) {}
///     fn choose<'a>(&self, _: &(), _at: &C, enabled: &'a [A]) -> Option<(&'a A, ())> {
///         Some((enabled.last()?, ()))
///     }
/// }
/// assert_eq!(Latest.choose(&(), &(), &['a', 'b']), Some((&'b', ())));
/// ```
pub trait SchedulingPolicy<C, A> {
    /// What the policy remembers; `()` if nothing.
    type State: Clone + Eq + Hash;

    /// The one state the policy starts in.
    fn initial(&self) -> Self::State;

    /// Whether the policy decides about `action`; see [`FilteringPolicy::selects`].
    fn selects(&self, action: &A) -> bool {
        let _ = action;
        true
    }

    /// The action to keep of those in `enabled`, and the state of the policy after it.
    fn choose<'a>(&self, state: &Self::State, at: &C, enabled: &'a [A]) -> Option<(&'a A, Self::State)>;

    /// The parts of the policy's state to show to people.
    fn describe(&self, state: &Self::State) -> Fields {
        let _ = state;
        Fields::new()
    }
}

/// A scheduling policy as the filtering policy that it is.
///
/// ```
/// use invigil_semantics::{FilteringPolicy, FixedPriority, Schedule};
/// let policy = Schedule(FixedPriority::new(|task: &u8| *task));
/// assert_eq!(policy.apply(&(), &(), &[3, 9, 4]).into_iter().collect::<Vec<_>>(), [(&9, ())]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Schedule<P>(
    /// The policy that chooses.
    pub P,
);

impl<C, A, P: SchedulingPolicy<C, A>> FilteringPolicy<C, A> for Schedule<P> {
    type State = P::State;

    fn initial(&self) -> Self::State {
        self.0.initial()
    }

    fn selects(&self, action: &A) -> bool {
        self.0.selects(action)
    }

    fn apply<'a>(
        &self,
        state: &Self::State,
        at: &C,
        enabled: &'a [A],
    ) -> impl IntoIterator<Item = (&'a A, Self::State)> {
        self.0.choose(state, at, enabled)
    }

    fn describe(&self, state: &Self::State) -> Fields {
        self.0.describe(state)
    }
}

/// A scheduling policy restricted to the actions for which `selector` holds, typically those of the system
/// and not those of its environment, which no scheduler commands.
///
/// ```
/// use invigil_semantics::{FixedPriority, Only, SchedulingPolicy};
///
/// let system = |unit: &i32| *unit > 0;
/// let policy = Only { selector: system, policy: FixedPriority::new(|unit: &i32| *unit) };
/// assert!(SchedulingPolicy::<(), _>::selects(&policy, &3));
/// assert!(!SchedulingPolicy::<(), _>::selects(&policy, &-1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Only<F, P> {
    /// Which actions the policy decides about, of those that it would decide about by itself.
    pub selector: F,
    /// The policy.
    pub policy: P,
}

impl<C, A, F: Fn(&A) -> bool, P: SchedulingPolicy<C, A>> SchedulingPolicy<C, A> for Only<F, P> {
    type State = P::State;

    fn initial(&self) -> Self::State {
        self.policy.initial()
    }

    fn selects(&self, action: &A) -> bool {
        (self.selector)(action) && self.policy.selects(action)
    }

    fn choose<'a>(&self, state: &Self::State, at: &C, enabled: &'a [A]) -> Option<(&'a A, Self::State)> {
        self.policy.choose(state, at, enabled)
    }

    fn describe(&self, state: &Self::State) -> Fields {
        self.policy.describe(state)
    }
}
