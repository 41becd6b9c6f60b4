//! The reified step: the input of properties, breakpoints and expressions.

use crate::Language;

/// One step of an execution: source configuration, action and target configuration.
///
/// Of the four combinations, three occur:
///
/// | `source` | `action` | the step |
/// | --- | --- | --- |
/// | `None` | `None` | the *virtual initial step*: the execution starts in `target` |
/// | `Some` | `Some` | `action` was executed in `source` and led to `target` |
/// | `Some` | `None` | an *idle* step: no action of this subject, because it stutters or because another subject moved. The other subject may have written a shared variable, so `target` may differ from `source` |
/// | `None` | `Some` | never |
///
/// A predicate on states reads `target`. With the virtual initial step, each configuration of an execution,
/// the first included, is therefore evaluated exactly once.
///
/// The type is used both owned, `Step<C, A>`, and borrowed, `Step<&C, &A>`, which is `Copy`.
///
/// ```
/// use invigil_semantics::Step;
///
/// let step = Step::by_action(3, "up", 4);
/// let grows = |step: Step<&i32, &&str>| step.source.is_some_and(|source| step.target > source);
/// assert!(grows(step.as_ref()));
/// assert!(!grows(Step::initial(&4)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step<C, A> {
    /// The configuration before the step; `None` for the virtual initial step.
    pub source: Option<C>,
    /// The executed action; `None` for the virtual initial step and for idle steps.
    pub action: Option<A>,
    /// The configuration after the step.
    pub target: C,
}

/// A step of `L`, owned.
///
/// ```
/// use invigil_semantics::{Language, Step, StepOf};
/// # struct Lift;
/// # impl Language for Lift { type Config = u8; type Action = char; }
/// let trace: Vec<StepOf<Lift>> = vec![Step::initial(0), Step::by_action(0, '↑', 1)];
/// assert_eq!(trace[1].target, 1);
/// ```
pub type StepOf<L> = Step<<L as Language>::Config, <L as Language>::Action>;

/// A step of `L`, borrowed: the form in which steps are passed around.
///
/// ```
/// use invigil_semantics::{Language, Step, StepRef};
/// # struct Lift;
/// # impl Language for Lift { type Config = u8; type Action = char; }
/// fn rises(step: StepRef<'_, Lift>) -> bool {
///     step.action == Some(&'↑')
/// }
/// assert!(rises(Step::by_action(&0, &'↑', &1)));
/// ```
pub type StepRef<'a, L> = Step<&'a <L as Language>::Config, &'a <L as Language>::Action>;

impl<C, A> Step<C, A> {
    /// The virtual step by which an execution starts in `target`.
    ///
    /// ```
    /// # use invigil_semantics::Step;
    /// let start: Step<u8, char> = Step::initial(0);
    /// assert_eq!((start.source, start.action, start.target), (None, None, 0));
    /// ```
    pub fn initial(target: C) -> Self {
        Step { source: None, action: None, target }
    }

    /// The step in which `action`, executed in `source`, led to `target`.
    ///
    /// ```
    /// # use invigil_semantics::Step;
    /// assert_eq!(Step::by_action(0, "up", 1).source, Some(0));
    /// ```
    pub fn by_action(source: C, action: A, target: C) -> Self {
        Step { source: Some(source), action: Some(action), target }
    }

    /// The step from `source` to `target` in which the subject itself did nothing.
    ///
    /// ```
    /// # use invigil_semantics::Step;
    /// let wait: Step<u8, char> = Step::idle(7, 7);
    /// assert_eq!(wait.action, None);
    /// ```
    pub fn idle(source: C, target: C) -> Self {
        Step { source: Some(source), action: None, target }
    }

    /// The same step, borrowed.
    ///
    /// ```
    /// # use invigil_semantics::Step;
    /// assert_eq!(Step::by_action(0, "up", 1).as_ref(), Step::by_action(&0, &"up", &1));
    /// ```
    pub fn as_ref(&self) -> Step<&C, &A> {
        Step { source: self.source.as_ref(), action: self.action.as_ref(), target: &self.target }
    }

    /// Projects a step of a composition to one of its parts.
    ///
    /// `action` returns `None` if the part did not take part in the action; the result is then an idle step.
    ///
    /// ```
    /// # use invigil_semantics::Step;
    /// // Of two cells, the second one moved.
    /// let whole = Step::by_action((0, 5), (None::<&str>, Some("up")), (0, 6));
    /// assert_eq!(whole.project(|c| c.0, |a| a.0), Step::idle(0, 0));
    /// assert_eq!(whole.project(|c| c.1, |a| a.1), Step::by_action(5, "up", 6));
    /// ```
    pub fn project<D, B>(self, config: impl Fn(C) -> D, action: impl FnOnce(A) -> Option<B>) -> Step<D, B> {
        Step {
            source: self.source.map(&config),
            action: self.action.and_then(action),
            target: config(self.target),
        }
    }
}
