//! The operators as methods: a composition reads from the subject outwards.

use crate::{
    AsFilter, Binding, Dependent, Filter, FilteringPolicy, Independent, Interleave, PreInitialised, Product,
    SchedulingPolicy, Semantics, Stutter, ToTransitionRelation,
};

/// The operators on a [`Semantics`] or a reference to one.
///
/// ```
/// use invigil_semantics::{Compose, Either, Language, ReactiveHypothesis, RoundRobin, Semantics};
/// # struct Unit(u8);
/// # impl Language for Unit { type Config = u8; type Action = u8; }
/// # impl Semantics for Unit {
/// #     fn initial(&self) -> impl IntoIterator<Item = u8> { [0] }
/// #     fn actions(&self, at: &u8) -> impl IntoIterator<Item = u8> { (*at < self.0).then_some(*at) }
/// #     fn execute(&self, at: &u8, _: &u8) -> impl IntoIterator<Item = u8> { [at + 1] }
/// # }
/// let (system, environment) = (Unit(2), Unit(3));
///
/// // A verification setup with the scheduler in the loop and a decoupled environment.
/// let setup = system
///     .scheduled(RoundRobin::new(|unit: &u8| *unit))
///     .interleaved(&environment)
///     .filtered(ReactiveHypothesis { is_system: |action: &Either<_, _>| action.left().is_some() });
/// let start = setup.initial().into_iter().next().unwrap();
/// assert_eq!(setup.actions(&start).into_iter().count(), 1);
/// ```
pub trait Compose: Semantics + Sized {
    /// Restricts the enabled actions to those that `policy` keeps.
    ///
    /// ```
    /// use invigil_semantics::{Compose, Keep, Semantics};
    /// # use invigil_semantics::Language;
    /// # struct Counter;
    /// # impl Language for Counter { type Config = u8; type Action = (); }
    /// # impl Semantics for Counter {
    /// #     fn initial(&self) -> impl IntoIterator<Item = u8> { [0] }
    /// #     fn actions(&self, _: &u8) -> impl IntoIterator<Item = ()> { [()] }
    /// #     fn execute(&self, at: &u8, _: &()) -> impl IntoIterator<Item = u8> { [at + 1] }
    /// # }
    /// let bounded = Counter.filtered(Keep(|at: &u8, _: &()| *at < 9));
    /// assert!(bounded.is_deadlocked(&(9, ())));
    /// ```
    fn filtered<P: FilteringPolicy<Self::Config, Self::Action>>(self, policy: P) -> Filter<Self, P> {
        Filter { inner: self, policy }
    }

    /// Restricts the enabled actions to the one that `policy` chooses and those it does not control.
    ///
    /// ```
    /// use invigil_semantics::{Compose, SeededRandom, Semantics};
    /// # use invigil_semantics::Language;
    /// # struct Dice;
    /// # impl Language for Dice { type Config = u8; type Action = u8; }
    /// # impl Semantics for Dice {
    /// #     fn initial(&self) -> impl IntoIterator<Item = u8> { [0] }
    /// #     fn actions(&self, _: &u8) -> impl IntoIterator<Item = u8> { 1..=6 }
    /// #     fn execute(&self, _: &u8, eyes: &u8) -> impl IntoIterator<Item = u8> { [*eyes] }
    /// # }
    /// let thrown = Dice.scheduled(SeededRandom { seed: 1 });
    /// assert_eq!(thrown.actions(&(0, 1)).into_iter().count(), 1);
    /// ```
    fn scheduled<P: SchedulingPolicy<Self::Config, Self::Action>>(
        self,
        policy: P,
    ) -> Filter<Self, AsFilter<P>> {
        self.filtered(AsFilter(policy))
    }

    /// Composes this subject and `other` asynchronously, without shared variables.
    ///
    /// ```
    /// use invigil_semantics::{Compose, Semantics};
    /// # use invigil_semantics::Language;
    /// # struct Bit;
    /// # impl Language for Bit { type Config = bool; type Action = (); }
    /// # impl Semantics for Bit {
    /// #     fn initial(&self) -> impl IntoIterator<Item = bool> { [false, true] }
    /// #     fn actions(&self, _: &bool) -> impl IntoIterator<Item = ()> { [()] }
    /// #     fn execute(&self, at: &bool, _: &()) -> impl IntoIterator<Item = bool> { [!at] }
    /// # }
    /// assert_eq!(Bit.interleaved(Bit).initial().into_iter().count(), 4);
    /// ```
    fn interleaved<R: Semantics>(self, other: R) -> Interleave<Self, R> {
        self.interleaved_sharing(other, Independent)
    }

    /// Composes this subject and `other` asynchronously; they share the variables of `binding`.
    ///
    /// ```
    /// use invigil_semantics::{Binding, Compose, Semantics};
    /// # use invigil_semantics::Language;
    /// # struct Bit;
    /// # impl Language for Bit { type Config = bool; type Action = (); }
    /// # impl Semantics for Bit {
    /// #     fn initial(&self) -> impl IntoIterator<Item = bool> { [false, true] }
    /// #     fn actions(&self, _: &bool) -> impl IntoIterator<Item = ()> { [()] }
    /// #     fn execute(&self, at: &bool, _: &()) -> impl IntoIterator<Item = bool> { [!at] }
    /// # }
    ///
    /// /// Two bits that are always equal.
    /// struct Wire;
    /// impl Binding<bool, bool> for Wire {
    ///     type Shared = bool;
    ///     fn left(&self, left: &bool) -> bool { *left }
    ///     fn right(&self, right: &bool) -> bool { *right }
    ///     fn set_left(&self, left: &mut bool, shared: bool) { *left = shared }
    ///     fn set_right(&self, right: &mut bool, shared: bool) { *right = shared }
    /// }
    ///
    /// let wired = Bit.interleaved_sharing(Bit, Wire);
    /// assert_eq!(wired.initial().into_iter().collect::<Vec<_>>(), [(false, false), (true, true)]);
    /// assert!(wired.steps(&(true, true)).into_iter().all(|(_, target)| target == (false, false)));
    /// ```
    fn interleaved_sharing<R, B>(self, other: R, binding: B) -> Interleave<Self, R, B>
    where
        R: Semantics,
        B: Binding<Self::Config, R::Config>,
    {
        Interleave { left: self, right: other, binding }
    }

    /// Composes this subject and `property` synchronously.
    ///
    /// ```
    /// use invigil_semantics::{Breakpoint, BreakpointState, Compose, Semantics};
    /// # use invigil_semantics::{Evaluate, Language, StepRef};
    /// # struct Counter;
    /// # impl Language for Counter { type Config = u8; type Action = (); }
    /// # impl Semantics for Counter {
    /// #     fn initial(&self) -> impl IntoIterator<Item = u8> { [0] }
    /// #     fn actions(&self, _: &u8) -> impl IntoIterator<Item = ()> { [()] }
    /// #     fn execute(&self, at: &u8, _: &()) -> impl IntoIterator<Item = u8> { [at + 1] }
    /// # }
    /// # impl Evaluate for Counter {
    /// #     type Expr = u8;
    /// #     type Error = core::convert::Infallible;
    /// #     fn evaluate(&self, n: &u8, step: StepRef<'_, Counter>) -> Result<bool, Self::Error> {
    /// #         Ok(step.target == n)
    /// #     }
    /// # }
    /// let watched = Counter.product(Breakpoint { condition: 0 });
    /// assert_eq!(watched.initial().into_iter().collect::<Vec<_>>(), [(0, BreakpointState::Hit)]);
    /// ```
    fn product<P: Dependent<Self>>(self, property: P) -> Product<Self, P> {
        Product { subject: self, property }
    }

    /// Adds an idle loop to each deadlock.
    ///
    /// ```
    /// use invigil_semantics::{Compose, Semantics};
    /// # use invigil_semantics::Language;
    /// # struct Stone;
    /// # impl Language for Stone { type Config = (); type Action = (); }
    /// # impl Semantics for Stone {
    /// #     fn initial(&self) -> impl IntoIterator<Item = ()> { [()] }
    /// #     fn actions(&self, _: &()) -> impl IntoIterator<Item = ()> { [] }
    /// #     fn execute(&self, _: &(), _: &()) -> impl IntoIterator<Item = ()> { [] }
    /// # }
    /// assert!(Stone.is_deadlocked(&()));
    /// assert!(!Stone.stuttering().is_deadlocked(&()));
    /// ```
    fn stuttering(self) -> Stutter<Self> {
        Stutter { inner: self }
    }

    /// Replaces the initial configurations by `starts`.
    ///
    /// ```
    /// use invigil_semantics::{Compose, Semantics};
    /// # use invigil_semantics::Language;
    /// # struct Stone;
    /// # impl Language for Stone { type Config = u8; type Action = (); }
    /// # impl Semantics for Stone {
    /// #     fn initial(&self) -> impl IntoIterator<Item = u8> { [0] }
    /// #     fn actions(&self, _: &u8) -> impl IntoIterator<Item = ()> { [] }
    /// #     fn execute(&self, _: &u8, _: &()) -> impl IntoIterator<Item = u8> { [] }
    /// # }
    /// assert!(Stone.starting_in([3]).initial().into_iter().eq([3]));
    /// ```
    fn starting_in(self, starts: impl IntoIterator<Item = Self::Config>) -> PreInitialised<Self> {
        PreInitialised { inner: self, starts: starts.into_iter().collect() }
    }

    /// Drops the actions; `accepting` decides which configurations are accepting.
    ///
    /// ```
    /// use invigil_semantics::{Accepting, Compose, TransitionRelation};
    /// # use invigil_semantics::{Language, Semantics};
    /// # struct Bit;
    /// # impl Language for Bit { type Config = bool; type Action = (); }
    /// # impl Semantics for Bit {
    /// #     fn initial(&self) -> impl IntoIterator<Item = bool> { [false] }
    /// #     fn actions(&self, _: &bool) -> impl IntoIterator<Item = ()> { [()] }
    /// #     fn execute(&self, at: &bool, _: &()) -> impl IntoIterator<Item = bool> { [!at] }
    /// # }
    /// # impl Accepting for Bit { fn is_accepting(&self, at: &bool) -> bool { *at } }
    /// let graph = Bit.to_transition_relation(Accepting::is_accepting);
    /// assert!(graph.next(&false).into_iter().all(|at| graph.is_accepting(&at)));
    /// ```
    fn to_transition_relation<F>(self, accepting: F) -> ToTransitionRelation<Self, F>
    where
        F: Fn(&Self, &Self::Config) -> bool,
    {
        ToTransitionRelation { semantics: self, accepting }
    }
}

impl<S: Semantics> Compose for S {}
