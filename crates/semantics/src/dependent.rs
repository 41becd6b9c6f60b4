//! Semantics of properties, which depend on the steps of a subject.

use crate::{Language, StepRef};

/// A property of subjects of type `S`: a semantics that depends on the subject's steps.
///
/// A property reads an execution as an automaton reads a word. The letters are the subject's steps; the first
/// letter is the virtual initial step, whose target is the initial configuration. On each step the property
/// executes one action that is enabled for that step. If none is enabled, the property blocks, and a
/// [`Product`](crate::Product) has no step there.
///
/// The step includes its target, because an action may have several outcomes and the property reads the actual
/// one. The subject is passed so that the property can evaluate expressions in it. Such a property is
/// written once for all subjects, as `impl<S: Evaluate<Expr = …>> Dependent<S>`.
///
/// ```
/// use invigil_semantics::{Compose, Dependent, Language, Semantics, StepRef};
/// # struct Lamp;
/// # impl Language for Lamp { type Config = bool; type Action = (); }
/// # impl Semantics for Lamp {
/// #     fn initial(&self) -> impl IntoIterator<Item = bool> { [true] }
/// #     fn actions(&self, _: &bool) -> impl IntoIterator<Item = ()> { [()] }
/// #     fn execute(&self, on: &bool, _: &()) -> impl IntoIterator<Item = bool> { [!on] }
/// # }
///
/// /// Counts, up to three, the configurations in which a lamp is on.
/// struct TimesOn;
/// impl Language for TimesOn {
///     type Config = u8;
///     type Action = bool;
/// }
/// impl Dependent<Lamp> for TimesOn {
///     fn initial(&self, _: &Lamp) -> impl IntoIterator<Item = u8> {
///         [0]
///     }
///     fn actions(&self, _: &Lamp, step: StepRef<'_, Lamp>, at: &u8) -> impl IntoIterator<Item = bool> {
///         (*at < 3).then_some(*step.target)
///     }
///     fn execute(&self, _: &Lamp, _: StepRef<'_, Lamp>, at: &u8, on: &bool) -> impl IntoIterator<Item = u8> {
///         [at + u8::from(*on)]
///     }
/// }
///
/// // The lamp is on from the start, and that counts.
/// assert_eq!(Lamp.product(TimesOn).initial().into_iter().collect::<Vec<_>>(), [(true, 1)]);
/// ```
pub trait Dependent<S: Language + ?Sized>: Language {
    /// The configurations of the property before the first step of `subject`.
    fn initial(&self, subject: &S) -> impl IntoIterator<Item = Self::Config>;

    /// The property's actions enabled in `at` when `subject` makes `step`.
    fn actions(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &Self::Config,
    ) -> impl IntoIterator<Item = Self::Action>;

    /// The configurations that `action`, enabled in `at` for `step`, may lead the property to.
    fn execute(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &Self::Config,
        action: &Self::Action,
    ) -> impl IntoIterator<Item = Self::Config>;
}

impl<S: Language + ?Sized, P: Dependent<S> + ?Sized> Dependent<S> for &P {
    fn initial(&self, subject: &S) -> impl IntoIterator<Item = Self::Config> {
        (**self).initial(subject)
    }

    fn actions(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &Self::Config,
    ) -> impl IntoIterator<Item = Self::Action> {
        (**self).actions(subject, step, at)
    }

    fn execute(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &Self::Config,
        action: &Self::Action,
    ) -> impl IntoIterator<Item = Self::Config> {
        (**self).execute(subject, step, at, action)
    }
}
