//! Ready-made scheduling policies: fixed priority, round-robin and seeded random.

use crate::{Fields, SchedulingPolicy, SplitMix64};
use core::fmt;
use core::hash::Hash;

/// Chooses the action with the greatest fixed priority; of equals, the one listed first.
///
/// ```
/// use invigil_semantics::{FixedPriority, SchedulingPolicy};
///
/// let policy = FixedPriority::new(|task: &&str| if *task == "alarm" { 2 } else { 1 });
/// assert_eq!(policy.choose(&(), &(), &["log", "alarm", "idle"]), Some((&"alarm", ())));
/// assert_eq!(policy.choose(&(), &(), &["log", "idle"]), Some((&"log", ())));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FixedPriority<F> {
    priority: F,
}

impl<F> FixedPriority<F> {
    /// A policy that prefers actions with the greatest `priority`.
    ///
    /// ```
    /// # use invigil_semantics::{FixedPriority, SchedulingPolicy};
    /// let shortest_first = FixedPriority::new(|task: &&str| core::cmp::Reverse(task.len()));
    /// assert_eq!(shortest_first.choose(&(), &(), &["log", "up"]), Some((&"up", ())));
    /// ```
    pub fn new(priority: F) -> Self {
        FixedPriority { priority }
    }
}

impl<C, A, K: Ord, F: Fn(&A) -> K> SchedulingPolicy<C, A> for FixedPriority<F> {
    type State = ();

    fn initial(&self) {}

    fn choose<'a>(&self, _: &(), _: &C, enabled: &'a [A]) -> Option<(&'a A, ())> {
        // `max_by_key` returns the last of equal elements: search from the end.
        Some((enabled.iter().rev().max_by_key(|action| (self.priority)(action))?, ()))
    }
}

/// Chooses an action of each unit in turn; units without enabled actions are skipped.
///
/// The unit of an action is any ordered value. The state is the unit served last; the next is the next
/// greater enabled one, or the least if there is none. A unit that stays enabled is served within as many
/// choices as there are units. Of several actions of one unit, the first listed is chosen.
///
/// ```
/// use invigil_semantics::{RoundRobin, SchedulingPolicy};
///
/// let policy = RoundRobin::new(|action: &(&'static str, u8)| action.0);
/// let enabled = [("gate", 1), ("sensor", 2), ("train", 3)];
/// let (mut last, mut served) = (SchedulingPolicy::<(), _>::initial(&policy), vec![]);
/// for _ in 0..4 {
///     let (action, next) = policy.choose(&last, &(), &enabled).unwrap();
///     served.push(action.0);
///     last = next;
/// }
/// assert_eq!(served, ["gate", "sensor", "train", "gate"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RoundRobin<F> {
    unit: F,
}

impl<F> RoundRobin<F> {
    /// A policy that alternates between units; `unit` maps an action to its unit.
    ///
    /// ```
    /// # use invigil_semantics::{RoundRobin, SchedulingPolicy};
    /// let policy = RoundRobin::new(|thread: &u32| *thread);
    /// assert_eq!(policy.choose(&Some(4), &(), &[2, 4]), Some((&2, Some(2))));
    /// ```
    pub fn new(unit: F) -> Self {
        RoundRobin { unit }
    }
}

impl<C, A, U, F> SchedulingPolicy<C, A> for RoundRobin<F>
where
    U: Clone + Ord + Hash + fmt::Display,
    F: Fn(&A) -> U,
{
    type State = Option<U>;

    fn initial(&self) -> Option<U> {
        None
    }

    fn choose<'a>(&self, last: &Option<U>, _: &C, enabled: &'a [A]) -> Option<(&'a A, Option<U>)> {
        let units = || enabled.iter().map(|action| ((self.unit)(action), action));
        let least = |candidate: &(U, &'a A), other: &(U, &'a A)| candidate.0.cmp(&other.0);
        let after = units().filter(|(unit, _)| last.as_ref().is_none_or(|last| unit > last)).min_by(least);
        let (unit, action) = after.or_else(|| units().min_by(least))?;
        Some((action, Some(unit)))
    }

    fn describe(&self, last: &Option<U>) -> Fields {
        match last {
            Some(unit) => Fields::new().with("last served", unit),
            None => Fields::new().with("last served", "none"),
        }
    }
}

/// Chooses a pseudo-random enabled action.
///
/// The state of the generator is the state of the policy. The same seed gives the same run, and exploring a
/// randomly scheduled subject is well defined.
///
/// ```
/// use invigil_semantics::{SchedulingPolicy, SeededRandom};
///
/// let policy = SeededRandom { seed: 7 };
/// let run = || {
///     let mut state = SchedulingPolicy::<(), char>::initial(&policy);
///     (0..20).map(|_| {
///         let (action, next) = policy.choose(&state, &(), &['a', 'b', 'c']).unwrap();
///         state = next;
///         *action
///     }).collect::<String>()
/// };
/// assert_eq!(run(), run());
/// assert!(run().contains('a') && run().contains('b') && run().contains('c'));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeededRandom {
    /// The initial state of the generator.
    pub seed: u64,
}

impl<C, A> SchedulingPolicy<C, A> for SeededRandom {
    type State = u64;

    fn initial(&self) -> u64 {
        self.seed
    }

    fn choose<'a>(&self, state: &u64, _: &C, enabled: &'a [A]) -> Option<(&'a A, u64)> {
        let mut random = SplitMix64::new(*state);
        let index = random.below(enabled.len());
        Some((enabled.get(index)?, random.state()))
    }

    fn describe(&self, state: &u64) -> Fields {
        Fields::new().with("random state", state)
    }
}
