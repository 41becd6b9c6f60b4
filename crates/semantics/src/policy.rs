//! Policies: deterministic rules that forbid some of the enabled actions.

use crate::Fields;
use core::hash::Hash;

/// A rule that keeps some of the enabled actions and drops the others; see [`Filter`](crate::Filter).
///
/// A policy may have a state, which becomes part of the configurations of the filtered subject. Each kept
/// action comes with the state of the policy *after* that action; the state is entered when the action is
/// executed. Two laws hold:
///
/// - *subset*: only enabled actions are kept. This holds by construction, because the kept actions are
///   borrowed from the enabled ones;
/// - *determinism*: the same state, configuration and actions give the same answer. Randomness, if any,
///   is in the state.
///
/// ```
/// use invigil_semantics::FilteringPolicy;
///
/// /// At most `limit` sends; all other actions are unrestricted.
/// struct Budget {
///     limit: u32,
/// }
///
/// impl<C> FilteringPolicy<C, &'static str> for Budget {
///     type State = u32;
///     fn initial(&self) -> u32 {
///         self.limit
///     }
///     fn controls(&self, action: &&'static str) -> bool {
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
    /// The state of the policy; `()` if it has none.
    type State: Clone + Eq + Hash;

    /// The initial state of the policy.
    fn initial(&self) -> Self::State;

    /// Whether the policy decides about `action`. Other actions stay enabled, and executing them does not
    /// change the policy's state.
    fn controls(&self, action: &A) -> bool {
        let _ = action;
        true
    }

    /// The actions to keep of those in `enabled`, which are the controlled actions enabled in `at`, each with
    /// the state of the policy after it.
    fn apply<'a>(
        &self,
        state: &Self::State,
        at: &C,
        enabled: &'a [A],
    ) -> impl IntoIterator<Item = (&'a A, Self::State)>;

    /// The named parts of the policy's state, for display.
    fn describe(&self, state: &Self::State) -> Fields {
        let _ = state;
        Fields::new()
    }
}

/// A policy that keeps at most one of the actions it controls.
///
/// [`AsFilter`] turns every scheduling policy into a filtering policy. By construction at most one action is
/// kept, and none if none is enabled. Executing the chosen action may still have several outcomes.
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
    /// The state of the policy; `()` if it has none.
    type State: Clone + Eq + Hash;

    /// The initial state of the policy.
    fn initial(&self) -> Self::State;

    /// Whether the policy decides about `action`; see [`FilteringPolicy::controls`].
    fn controls(&self, action: &A) -> bool {
        let _ = action;
        true
    }

    /// The action to keep of those in `enabled`, and the state of the policy after it.
    fn choose<'a>(&self, state: &Self::State, at: &C, enabled: &'a [A]) -> Option<(&'a A, Self::State)>;

    /// The named parts of the policy's state, for display.
    fn describe(&self, state: &Self::State) -> Fields {
        let _ = state;
        Fields::new()
    }
}

/// Adapter from a scheduling policy to a filtering policy.
///
/// ```
/// use invigil_semantics::{FilteringPolicy, FixedPriority, AsFilter};
/// let policy = AsFilter(FixedPriority::new(|task: &u8| *task));
/// assert_eq!(policy.apply(&(), &(), &[3, 9, 4]).into_iter().collect::<Vec<_>>(), [(&9, ())]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AsFilter<P>(
    /// The policy that chooses.
    pub P,
);

impl<C, A, P: SchedulingPolicy<C, A>> FilteringPolicy<C, A> for AsFilter<P> {
    type State = P::State;

    fn initial(&self) -> Self::State {
        self.0.initial()
    }

    fn controls(&self, action: &A) -> bool {
        self.0.controls(action)
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

/// A scheduling policy restricted to the actions for which `selector` holds.
///
/// Typically these are the actions of the system: no scheduler controls its environment.
///
/// ```
/// use invigil_semantics::{FixedPriority, Only, SchedulingPolicy};
///
/// let system = |unit: &i32| *unit > 0;
/// let policy = Only { selector: system, policy: FixedPriority::new(|unit: &i32| *unit) };
/// assert!(SchedulingPolicy::<(), _>::controls(&policy, &3));
/// assert!(!SchedulingPolicy::<(), _>::controls(&policy, &-1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Only<F, P> {
    /// The actions that the policy decides about, of those that it controls.
    pub selector: F,
    /// The policy.
    pub policy: P,
}

impl<C, A, F: Fn(&A) -> bool, P: SchedulingPolicy<C, A>> SchedulingPolicy<C, A> for Only<F, P> {
    type State = P::State;

    fn initial(&self) -> Self::State {
        self.policy.initial()
    }

    fn controls(&self, action: &A) -> bool {
        (self.selector)(action) && self.policy.controls(action)
    }

    fn choose<'a>(&self, state: &Self::State, at: &C, enabled: &'a [A]) -> Option<(&'a A, Self::State)> {
        self.policy.choose(state, at, enabled)
    }

    fn describe(&self, state: &Self::State) -> Fields {
        self.policy.describe(state)
    }
}
