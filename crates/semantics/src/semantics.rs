//! The semantic interface: initial configurations, enabled actions and execution.

use alloc::vec::Vec;
use core::hash::Hash;

/// The configurations and actions of a subject or a property. The word *language* is that of the paper \[Teo23\].
///
/// Both types are opaque to operators and explorers, which store and compare them and pass them back. They
/// are inspected only through [`Evaluate`](crate::Evaluate), [`Accepting`](crate::Accepting) and
/// [`Describe`](crate::Describe). These require a language and not a [`Semantics`], so that properties,
/// which cannot run alone, implement them too.
///
/// ```
/// use invigil_semantics::Language;
///
/// struct Lift;
/// impl Language for Lift {
///     /// The floor.
///     type Config = u8;
///     /// The floor of the button pressed.
///     type Action = u8;
/// }
/// ```
pub trait Language {
    /// A global state of an execution.
    type Config: Clone + Eq + Hash;
    /// An atomic action.
    type Action: Clone + Eq;
}

/// The interface of every subject. Each of the three functions may have several results.
///
/// No method changes the subject: `execute` returns where an action leads, and the caller decides whether
/// to continue there.
///
/// ```
/// use invigil_semantics::{Language, Semantics};
///
/// /// A lift that serves two floors, parked at either of them at first.
/// struct Lift;
/// impl Language for Lift {
///     type Config = u8;
///     type Action = u8;
/// }
/// impl Semantics for Lift {
///     fn initial(&self) -> impl IntoIterator<Item = u8> {
///         [0, 1]
///     }
///     fn actions(&self, at: &u8) -> impl IntoIterator<Item = u8> {
///         [0, 1].into_iter().filter(move |floor| floor != at)
///     }
///     fn execute(&self, _at: &u8, floor: &u8) -> impl IntoIterator<Item = u8> {
///         [*floor]
///     }
/// }
/// assert_eq!(Lift.steps(&0).into_iter().collect::<Vec<_>>(), [(1, 1)]);
/// ```
pub trait Semantics: Language {
    /// The configurations an execution may start in.
    fn initial(&self) -> impl IntoIterator<Item = Self::Config>;

    /// The actions enabled in `config`.
    fn actions(&self, config: &Self::Config) -> impl IntoIterator<Item = Self::Action>;

    /// The configurations that `action`, enabled in `config`, may lead to; none if it blocks.
    fn execute(&self, config: &Self::Config, action: &Self::Action)
    -> impl IntoIterator<Item = Self::Config>;

    /// Every action enabled in `config` with every configuration it leads to.
    ///
    /// Override it for subjects that compute successors in bulk. It must agree with `actions` and `execute`.
    ///
    /// ```
    /// # use invigil_semantics::{Language, Semantics};
    /// # struct Coin;
    /// # impl Language for Coin { type Config = char; type Action = &'static str; }
    /// # impl Semantics for Coin {
    /// #     fn initial(&self) -> impl IntoIterator<Item = char> { ['?'] }
    /// #     fn actions(&self, _: &char) -> impl IntoIterator<Item = &'static str> { ["toss"] }
    /// #     fn execute(&self, _: &char, _: &&'static str) -> impl IntoIterator<Item = char> { ['H', 'T'] }
    /// # }
    /// let steps: Vec<_> = Coin.steps(&'?').into_iter().collect();
    /// assert_eq!(steps, [("toss", 'H'), ("toss", 'T')]);
    /// ```
    fn steps(&self, config: &Self::Config) -> impl IntoIterator<Item = (Self::Action, Self::Config)> {
        self.actions(config).into_iter().flat_map(move |action| {
            let successors: Vec<_> = self.execute(config, &action).into_iter().collect();
            successors.into_iter().map(move |successor| (action.clone(), successor))
        })
    }

    /// Whether `config` has no step: no action is enabled, or every enabled action blocks.
    ///
    /// ```
    /// # use invigil_semantics::{Language, Semantics};
    /// # struct Once;
    /// # impl Language for Once { type Config = bool; type Action = (); }
    /// # impl Semantics for Once {
    /// #     fn initial(&self) -> impl IntoIterator<Item = bool> { [false] }
    /// #     fn actions(&self, done: &bool) -> impl IntoIterator<Item = ()> { (!done).then_some(()) }
    /// #     fn execute(&self, _: &bool, _: &()) -> impl IntoIterator<Item = bool> { [true] }
    /// # }
    /// assert!(!Once.is_deadlocked(&false));
    /// assert!(Once.is_deadlocked(&true));
    /// ```
    fn is_deadlocked(&self, config: &Self::Config) -> bool {
        self.steps(config).into_iter().next().is_none()
    }
}

impl<T: Language + ?Sized> Language for &T {
    type Config = T::Config;
    type Action = T::Action;
}

impl<T: Semantics + ?Sized> Semantics for &T {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        (**self).initial()
    }

    fn actions(&self, config: &Self::Config) -> impl IntoIterator<Item = Self::Action> {
        (**self).actions(config)
    }

    fn execute(
        &self,
        config: &Self::Config,
        action: &Self::Action,
    ) -> impl IntoIterator<Item = Self::Config> {
        (**self).execute(config, action)
    }

    fn steps(&self, config: &Self::Config) -> impl IntoIterator<Item = (Self::Action, Self::Config)> {
        (**self).steps(config)
    }
}
