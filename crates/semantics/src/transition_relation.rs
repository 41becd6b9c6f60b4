//! Plain graphs: a semantics without its actions, for graph algorithms.

use crate::Semantics;
use core::hash::Hash;

/// A graph of configurations, some of them accepting: the input of reachability and emptiness checks.
///
/// ```
/// use invigil_semantics::TransitionRelation;
///
/// /// Each number leads to its proper multiples below a hundred.
/// struct Multiples;
/// impl TransitionRelation for Multiples {
///     type Config = u8;
///     fn initial(&self) -> impl IntoIterator<Item = u8> {
///         [7]
///     }
///     fn next(&self, at: &u8) -> impl IntoIterator<Item = u8> {
///         (2..100).map_while(move |n| at.checked_mul(n).filter(|m| *m < 100))
///     }
///     fn is_accepting(&self, at: &u8) -> bool {
///         *at == 98
///     }
/// }
/// assert!(Multiples.next(&49).into_iter().any(|n| Multiples.is_accepting(&n)));
/// ```
pub trait TransitionRelation {
    /// A node of the graph.
    type Config: Clone + Eq + Hash;

    /// The initial nodes.
    fn initial(&self) -> impl IntoIterator<Item = Self::Config>;

    /// The successors of `at`, possibly with repetitions.
    fn next(&self, at: &Self::Config) -> impl IntoIterator<Item = Self::Config>;

    /// Whether `at` is accepting.
    fn is_accepting(&self, at: &Self::Config) -> bool;
}

/// The transition relation of `semantics`: `next` returns the outcomes of all enabled actions.
///
/// `accepting` decides which configurations are accepting. For a semantics that implements
/// [`Accepting`](crate::Accepting), pass `Accepting::is_accepting`.
///
/// ```
/// use invigil_semantics::{Compose, Language, Semantics, TransitionRelation};
/// # struct Coin;
/// # impl Language for Coin { type Config = char; type Action = &'static str; }
/// # impl Semantics for Coin {
/// #     fn initial(&self) -> impl IntoIterator<Item = char> { ['?'] }
/// #     fn actions(&self, _: &char) -> impl IntoIterator<Item = &'static str> { ["toss", "lose"] }
/// #     fn execute(&self, _: &char, action: &&'static str) -> impl IntoIterator<Item = char> {
/// #         if *action == "toss" { vec!['H', 'T'] } else { vec![' '] }
/// #     }
/// # }
/// let graph = Coin.to_transition_relation(|_, side| *side == 'H');
/// assert_eq!(graph.next(&'?').into_iter().collect::<String>(), "HT ");
/// assert!(graph.is_accepting(&'H'));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ToTransitionRelation<S, F> {
    /// The subject, or its product with a property.
    pub semantics: S,
    /// The acceptance predicate.
    pub accepting: F,
}

impl<S: Semantics, F: Fn(&S, &S::Config) -> bool> TransitionRelation for ToTransitionRelation<S, F> {
    type Config = S::Config;

    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        self.semantics.initial()
    }

    fn next(&self, at: &Self::Config) -> impl IntoIterator<Item = Self::Config> {
        self.semantics.steps(at).into_iter().map(|(_, target)| target)
    }

    fn is_accepting(&self, at: &Self::Config) -> bool {
        (self.accepting)(&self.semantics, at)
    }
}
