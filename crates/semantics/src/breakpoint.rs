//! The smallest useful property: stop at the first step that satisfies a condition.

use crate::{Accepting, Dependent, Describe, Evaluate, Fields, Language, StepRef};
use alloc::string::{String, ToString};
use core::convert::Infallible;
use core::fmt;

/// A property that accepts after the first step on which `condition`, an expression of the subject, is true.
///
/// After that it blocks, so that a search does not continue beyond a hit. The virtual initial step counts: a
/// condition that holds on an initial configuration is hit there. If the condition cannot be evaluated, the
/// property accepts in [`BreakpointState::Failed`], because continuing would hide the error; evaluate the
/// condition on that step again to get the error.
///
/// ```
/// use core::convert::Infallible;
/// use invigil_semantics::{Accepting, Breakpoint, Compose, Evaluate, Language, Semantics, StepRef};
///
/// struct Counter;
/// impl Language for Counter {
///     type Config = u8;
///     type Action = ();
/// }
/// impl Semantics for Counter {
///     fn initial(&self) -> impl IntoIterator<Item = u8> {
///         [0]
///     }
///     fn actions(&self, _: &u8) -> impl IntoIterator<Item = ()> {
///         [()]
///     }
///     fn execute(&self, at: &u8, _: &()) -> impl IntoIterator<Item = u8> {
///         [at.wrapping_add(1)]
///     }
/// }
/// impl Evaluate for Counter {
///     type Expr = u8;
///     type Error = Infallible;
///     fn evaluate(&self, number: &u8, step: StepRef<'_, Counter>) -> Result<bool, Infallible> {
///         Ok(step.target == number)
///     }
/// }
///
/// let watched = Counter.product(Breakpoint { condition: 5 });
/// let mut at = watched.initial().into_iter().next().unwrap();
/// while !watched.is_accepting(&at) {
///     (_, at) = watched.steps(&at).into_iter().next().unwrap();
/// }
/// assert_eq!(at.0, 5);
/// assert!(watched.is_deadlocked(&at));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Breakpoint<E> {
    /// The condition to stop at.
    pub condition: E,
}

/// State of a [`Breakpoint`].
///
/// ```
/// use invigil_semantics::BreakpointState;
/// assert_eq!(BreakpointState::Hit.to_string(), "hit");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BreakpointState {
    /// The condition was false of all steps so far.
    Waiting,
    /// The condition was true of the last step.
    Hit,
    /// The condition could not be evaluated on the last step.
    Failed,
}

impl fmt::Display for BreakpointState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BreakpointState::Waiting => "waiting",
            BreakpointState::Hit => "hit",
            BreakpointState::Failed => "condition failed",
        })
    }
}

impl<E> Language for Breakpoint<E> {
    type Config = BreakpointState;
    /// The state to enter.
    type Action = BreakpointState;
}

impl<S: Evaluate + ?Sized> Dependent<S> for Breakpoint<S::Expr> {
    fn initial(&self, _: &S) -> impl IntoIterator<Item = BreakpointState> {
        [BreakpointState::Waiting]
    }

    fn actions(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &BreakpointState,
    ) -> impl IntoIterator<Item = BreakpointState> {
        (*at == BreakpointState::Waiting).then(|| match subject.evaluate(&self.condition, step) {
            Ok(false) => BreakpointState::Waiting,
            Ok(true) => BreakpointState::Hit,
            Err(_) => BreakpointState::Failed,
        })
    }

    fn execute(
        &self,
        _: &S,
        _: StepRef<'_, S>,
        _: &BreakpointState,
        next: &BreakpointState,
    ) -> impl IntoIterator<Item = BreakpointState> {
        [*next]
    }
}

impl<E> Accepting for Breakpoint<E> {
    fn is_accepting(&self, at: &BreakpointState) -> bool {
        *at != BreakpointState::Waiting
    }
}

/// A breakpoint has no expressions of its own.
impl<E> Evaluate for Breakpoint<E> {
    type Expr = Infallible;
    type Error = Infallible;

    fn evaluate(&self, expr: &Infallible, _: StepRef<'_, Self>) -> Result<bool, Infallible> {
        match *expr {}
    }
}

impl<E> Describe for Breakpoint<E> {
    fn describe_config(&self, config: &BreakpointState) -> Fields {
        Fields::new().with("breakpoint", config)
    }

    fn describe_action(&self, next: &BreakpointState) -> String {
        next.to_string()
    }
}
