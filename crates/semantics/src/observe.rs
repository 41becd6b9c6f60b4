//! Observations of an execution: expressions over its steps and acceptance of its configurations.

use crate::{Language, StepRef};
use core::error::Error;

/// A language whose runtime evaluates expressions over steps.
///
/// Expressions are opaque to the other crates. They are evaluated over a whole [`Step`](crate::Step), which
/// covers predicates on states, on actions and on pairs of states. A language without expressions uses
/// [`Infallible`](core::convert::Infallible) for them.
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
///     // A model in Rust can use Rust as its expression language.
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
    /// A Boolean expression over a step.
    type Expr;
    /// The reason why an expression has no value on a step.
    type Error: Error;

    /// Whether `expr` is true of `step`.
    ///
    /// The answer depends on nothing else: evaluating again, for instance to report an error that occurred
    /// during an exploration, gives the same result.
    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Self>) -> Result<bool, Self::Error>;
}

/// A language in which some configurations are accepting.
///
/// The meaning of acceptance depends on the caller: the end of a run, the violation of a safety property, or a
/// state to be visited infinitely often.
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
