//! What tools may ask about an execution: expressions over its steps, and acceptance of its states.

use crate::{Language, StepRef};
use core::error::Error;

/// A language whose runtime evaluates expressions over steps.
///
/// The expressions are the language's own; a tool hands them through without looking inside. That they are
/// evaluated over a whole [`Step`](crate::Step) makes predicates on states, on actions and on pairs of
/// states one thing. A language without expressions uses [`Infallible`](core::convert::Infallible) for them.
///
/// ```
/// use core::convert::Infallible;
/// use invigil_semantics::{Evaluate, Language, Step, StepRef};
///
/// struct Lift;
/// impl Language for Lift {
///     type Config = u8;
///     type Action = char;
/// }
/// impl Evaluate for Lift {
///     // The quickest expression language for a model in Rust is Rust.
///     type Expr = fn(StepRef<'_, Lift>) -> bool;
///     type Error = Infallible;
///     fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Lift>) -> Result<bool, Infallible> {
///         Ok(expr(step))
///     }
/// }
///
/// let at_the_top: <Lift as Evaluate>::Expr = |step| *step.target == 9;
/// assert_eq!(Lift.evaluate(&at_the_top, Step::initial(&9)), Ok(true));
/// ```
pub trait Evaluate: Language {
    /// An expression of the language, true or false of a step.
    type Expr;
    /// Why an expression has no value on some step.
    type Error: Error;

    /// Whether `expr` is true of `step`.
    ///
    /// The answer depends on nothing else, so that asking again, for instance to show an error met during
    /// an exploration, gives it again.
    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Self>) -> Result<bool, Self::Error>;
}

/// A language in which some configurations are accepting.
///
/// What acceptance means is up to the tool: the end of a run, the violation of a safety property, or a state
/// to be visited infinitely often.
///
/// ```
/// use invigil_semantics::{Accepting, Language};
///
/// struct Parity;
/// impl Language for Parity {
///     type Config = u8;
///     type Action = ();
/// }
/// impl Accepting for Parity {
///     fn is_accepting(&self, at: &u8) -> bool {
///         at % 2 == 0
///     }
/// }
/// assert!(Parity.is_accepting(&4));
/// ```
pub trait Accepting: Language {
    /// Whether `at` is accepting.
    fn is_accepting(&self, at: &Self::Config) -> bool;
}

impl<T: Evaluate + ?Sized> Evaluate for &T {
    type Expr = T::Expr;
    type Error = T::Error;

    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Self>) -> Result<bool, Self::Error> {
        (**self).evaluate(expr, step)
    }
}

impl<T: Accepting + ?Sized> Accepting for &T {
    fn is_accepting(&self, at: &Self::Config) -> bool {
        (**self).is_accepting(at)
    }
}
