//! The semantics of property languages, which depend on the steps of a subject.

use crate::{Language, StepRef};

/// A property that watches subjects of type `S`: a semantics whose moves depend on the subject's steps.
///
/// A property reads an execution as an automaton reads a word. The letters are the subject's steps, and the
/// first letter is the virtual initial step, which shows the configuration the subject starts in. On each
/// step the property makes one move of its own, an action enabled for that step; if none is, the property
/// blocks there, and a [`Product`](crate::Product) goes no further that way.
///
/// All of the step is given, the target included, so the answer fits the very outcome that the subject had
/// and not some other outcome of the same action. The subject is given too, for the property to have its
/// expressions evaluated by it. A property that does so is written once for all subjects, as
/// `impl<S: Evaluate<Expr = …>> Dependent<S>`.
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
    /// The configurations the property may be in before it has seen anything of `subject`.
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
