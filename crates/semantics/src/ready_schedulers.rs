//! Scheduling policies that are ready to use: fixed priority, round-robin, and seeded random.

use crate::{Fields, SchedulingPolicy};
use core::fmt;
use core::hash::Hash;

/// The action of the most urgent unit, by a priority that never changes; of equals, the one listed first.
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
    /// The policy under which the actions of the greatest `priority` go first.
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
        // Of equal elements `max_by_key` gives the last, so it looks from the end.
        Some((enabled.iter().rev().max_by_key(|action| (self.priority)(action))?, ()))
    }
}

/// An action of each unit in turn; units that have nothing to do are passed over.
///
/// Units are whatever ordered values the user's function gives. The state is the unit served last: the turn
/// is that of the next greater one, and of the least one after the greatest. A unit that stays enabled is
/// served within as many choices as there are units. Of several actions of one unit, the first listed is
/// taken.
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
    /// The policy that takes turns between the units that `unit` tells actions belong to.
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

/// Any of the enabled actions, drawn from a seed.
///
/// The state of the generator is the state of the policy, so the same seed gives the same run, and an
/// exploration of a randomly scheduled subject is well defined.
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
    /// Where the generator starts.
    pub seed: u64,
}

impl<C, A> SchedulingPolicy<C, A> for SeededRandom {
    type State = u64;

    fn initial(&self) -> u64 {
        self.seed
    }

    fn choose<'a>(&self, state: &u64, _: &C, enabled: &'a [A]) -> Option<(&'a A, u64)> {
        let (drawn, next) = splitmix64(*state);
        // The high half of the product spreads `drawn` over the indices, evenly but for one part in 2^64/n.
        let index = (u128::from(drawn) * enabled.len() as u128) >> 64;
        Some((enabled.get(index as usize)?, next))
    }

    fn describe(&self, state: &u64) -> Fields {
        Fields::new().with("random state", state)
    }
}

/// The number that SplitMix64 (Steele, Lea and Flood, 2014) draws in `state`, and its next state.
fn splitmix64(state: u64) -> (u64, u64) {
    let next = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31), next)
}

#[cfg(test)]
mod tests {
    use super::splitmix64;

    #[test]
    fn splitmix64_draws_the_published_sequence() {
        let (first, state) = splitmix64(1_234_567);
        let (second, state) = splitmix64(state);
        let (third, _) = splitmix64(state);
        assert_eq!(
            [first, second, third],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
