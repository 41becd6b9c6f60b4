//! Synchronous product of a subject and a property on reified steps.

use crate::{Accepting, Dependent, Describe, Either, Evaluate, Fields, Language, Semantics, Step, StepRef};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Synchronous product: the property reads each step of the subject.
///
/// The product has an execution for each execution of the subject and each execution of the property on it.
/// Its initial configurations pair an initial configuration of the subject with a configuration that the
/// property reaches on the virtual initial step. A predicate that holds initially is therefore detected
/// there. Where the property blocks, the product has no step.
///
/// The property reads the outcome of a step, so an action of the product contains the outcome, and executing
/// it leads to that outcome only. This keeps the product sound if an action has several outcomes.
///
/// Acceptance is the property's. Expressions of a part are evaluated over the projection of the step to it.
///
/// ```
/// use core::convert::Infallible;
/// use invigil_semantics::{Breakpoint, BreakpointState, Compose, Evaluate, Language, Semantics, StepRef};
///
/// struct Coin;
/// impl Language for Coin {
///     type Config = Option<bool>;
///     type Action = &'static str;
/// }
/// impl Semantics for Coin {
///     fn initial(&self) -> impl IntoIterator<Item = Option<bool>> {
///         [None]
///     }
///     fn actions(&self, at: &Option<bool>) -> impl IntoIterator<Item = &'static str> {
///         at.is_none().then_some("toss")
///     }
///     fn execute(&self, _: &Option<bool>, _: &&'static str) -> impl IntoIterator<Item = Option<bool>> {
///         [Some(false), Some(true)]
///     }
/// }
/// impl Evaluate for Coin {
///     type Expr = bool;
///     type Error = Infallible;
///     fn evaluate(&self, side: &bool, step: StepRef<'_, Coin>) -> Result<bool, Infallible> {
///         Ok(*step.target == Some(*side))
///     }
/// }
///
/// let watched = Coin.product(Breakpoint { condition: true });
/// let targets: Vec<_> =
///     watched.steps(&(None, BreakpointState::Waiting)).into_iter().map(|(_, target)| target).collect();
/// assert_eq!(targets, [(Some(false), BreakpointState::Waiting), (Some(true), BreakpointState::Hit)]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Product<S, P> {
    /// The subject.
    pub subject: S,
    /// The property.
    pub property: P,
}

/// An action of a [`Product`]: the subject's action with its outcome and the property's action.
///
/// Together with the source configuration this is a complete step of the subject.
///
/// ```
/// use invigil_semantics::{ProductAction, Step};
/// let both = ProductAction { action: "toss", target: 1, property: 'w' };
/// assert_eq!(both.subject_step(&0), Step::by_action(&0, &"toss", &1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProductAction<A, C, B> {
    /// The action of the subject.
    pub action: A,
    /// The configuration of the subject after the action.
    pub target: C,
    /// The action of the property.
    pub property: B,
}

impl<A, C, B> ProductAction<A, C, B> {
    /// The subject's step, if this action is executed where the subject is in `source`.
    ///
    /// ```
    /// # use invigil_semantics::ProductAction;
    /// let both = ProductAction { action: "toss", target: 1, property: 'w' };
    /// assert_eq!(both.subject_step(&0).target, &1);
    /// ```
    pub fn subject_step<'a>(&'a self, source: &'a C) -> Step<&'a C, &'a A> {
        Step::by_action(source, &self.action, &self.target)
    }
}

impl<S: Language, P: Language> Language for Product<S, P> {
    type Config = (S::Config, P::Config);
    type Action = ProductAction<S::Action, S::Config, P::Action>;
}

impl<S: Semantics, P: Dependent<S>> Semantics for Product<S, P> {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        let Product { subject, property } = self;
        let mut pairs = Vec::new();
        for start in subject.initial() {
            let step = Step::initial(&start);
            let mut reached = Vec::new();
            for before in property.initial(subject) {
                for action in property.actions(subject, step, &before) {
                    for config in property.execute(subject, step, &before, &action) {
                        // Several actions may lead to one configuration; initial configurations do not keep them.
                        if !reached.contains(&config) {
                            reached.push(config);
                        }
                    }
                }
            }
            pairs.extend(reached.into_iter().map(|config| (start.clone(), config)));
        }
        pairs
    }

    fn actions(&self, (source, at): &Self::Config) -> impl IntoIterator<Item = Self::Action> {
        let Product { subject, property } = self;
        let mut both = Vec::new();
        for (action, target) in subject.steps(source) {
            for property in property.actions(subject, Step::by_action(source, &action, &target), at) {
                both.push(ProductAction { action: action.clone(), target: target.clone(), property });
            }
        }
        both
    }

    fn execute(
        &self,
        (source, at): &Self::Config,
        action: &Self::Action,
    ) -> impl IntoIterator<Item = Self::Config> {
        let step = action.subject_step(source);
        let reached = self.property.execute(&self.subject, step, at, &action.property);
        reached.into_iter().map(|config| (action.target.clone(), config)).collect::<Vec<_>>()
    }
}

impl<S: Evaluate, P: Evaluate> Evaluate for Product<S, P> {
    type Expr = Either<S::Expr, P::Expr>;
    type Error = Either<S::Error, P::Error>;

    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Self>) -> Result<bool, Self::Error> {
        match expr {
            Either::Left(expr) => {
                let projection = step.project(|(subject, _)| subject, |both| Some(&both.action));
                self.subject.evaluate(expr, projection).map_err(Either::Left)
            }
            Either::Right(expr) => {
                let projection = step.project(|(_, property)| property, |both| Some(&both.property));
                self.property.evaluate(expr, projection).map_err(Either::Right)
            }
        }
    }
}

impl<S: Language, P: Accepting> Accepting for Product<S, P> {
    fn is_accepting(&self, (_, property): &Self::Config) -> bool {
        self.property.is_accepting(property)
    }
}

impl<S: Describe, P: Describe> Describe for Product<S, P> {
    fn describe_config(&self, (subject, property): &Self::Config) -> Fields {
        let fields = self.subject.describe_config(subject);
        fields.with_group("property", self.property.describe_config(property))
    }

    fn describe_action(&self, both: &Self::Action) -> String {
        let subject = self.subject.describe_action(&both.action);
        format!("{subject} / {}", self.property.describe_action(&both.property))
    }
}
