//! Asynchronous composition of two subjects: each step is a step of one of them.

use crate::{
    Accepting, Binding, Describe, Either, Evaluate, Fields, Independent, Language, Semantics, StepRef,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Asynchronous composition of `left` and `right`, optionally with shared variables.
///
/// The enabled actions are those of either side; a deadlock of one side does not block the other. An action
/// moves its own side, and then the shared variables are copied from the side that moved to the other.
/// **Invariant:** in every reachable configuration both sides hold the same values of the shared variables.
/// Pairs of initial configurations that disagree on them are dropped.
///
/// An expression of one side is evaluated over the projection of the step to that side, which is an idle step
/// if the other side moved. A configuration is accepting if both parts are.
///
/// ```
/// use invigil_semantics::{Compose, Either, Language, Semantics};
///
/// struct CountTo(u8);
/// impl Language for CountTo {
///     type Config = u8;
///     type Action = &'static str;
/// }
/// impl Semantics for CountTo {
///     fn initial(&self) -> impl IntoIterator<Item = u8> {
///         [0]
///     }
///     fn actions(&self, at: &u8) -> impl IntoIterator<Item = &'static str> {
///         (*at < self.0).then_some("count")
///     }
///     fn execute(&self, at: &u8, _: &&'static str) -> impl IntoIterator<Item = u8> {
///         [at + 1]
///     }
/// }
///
/// let both = CountTo(1).interleaved(CountTo(2));
/// let steps: Vec<_> = both.steps(&(1, 1)).into_iter().collect();
/// assert_eq!(steps, [(Either::Right("count"), (1, 2))]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Interleave<L, R, B = Independent> {
    /// One subject.
    pub left: L,
    /// The other subject.
    pub right: R,
    /// The shared variables.
    pub binding: B,
}

impl<L: Language, R: Language, B> Language for Interleave<L, R, B> {
    type Config = (L::Config, R::Config);
    type Action = Either<L::Action, R::Action>;
}

impl<L: Semantics, R: Semantics, B: Binding<L::Config, R::Config>> Semantics for Interleave<L, R, B> {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        let rights: Vec<_> = self.right.initial().into_iter().collect();
        self.left.initial().into_iter().flat_map(move |left| {
            let shared = self.binding.left(&left);
            let agreeing = rights.iter().filter(|right| self.binding.right(right) == shared);
            agreeing.map(|right| (left.clone(), right.clone())).collect::<Vec<_>>()
        })
    }

    fn actions(&self, (left, right): &Self::Config) -> impl IntoIterator<Item = Self::Action> {
        let lefts = self.left.actions(left).into_iter().map(Either::Left);
        lefts.chain(self.right.actions(right).into_iter().map(Either::Right))
    }

    fn execute(
        &self,
        (left, right): &Self::Config,
        action: &Self::Action,
    ) -> impl IntoIterator<Item = Self::Config> {
        let moved_left = action.left().into_iter().flat_map(|action| self.left.execute(left, action));
        let moved_right = action.right().into_iter().flat_map(|action| self.right.execute(right, action));
        let lefts = moved_left.map(|target| {
            let mut other = right.clone();
            self.binding.set_right(&mut other, self.binding.left(&target));
            (target, other)
        });
        let rights = moved_right.map(|target| {
            let mut other = left.clone();
            self.binding.set_left(&mut other, self.binding.right(&target));
            (other, target)
        });
        lefts.chain(rights)
    }
}

impl<L: Evaluate, R: Evaluate, B> Evaluate for Interleave<L, R, B> {
    type Expr = Either<L::Expr, R::Expr>;
    type Error = Either<L::Error, R::Error>;

    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Self>) -> Result<bool, Self::Error> {
        match expr {
            Either::Left(expr) => {
                let projection = step.project(|(left, _)| left, Either::left);
                self.left.evaluate(expr, projection).map_err(Either::Left)
            }
            Either::Right(expr) => {
                let projection = step.project(|(_, right)| right, Either::right);
                self.right.evaluate(expr, projection).map_err(Either::Right)
            }
        }
    }
}

impl<L: Accepting, R: Accepting, B> Accepting for Interleave<L, R, B> {
    fn is_accepting(&self, (left, right): &Self::Config) -> bool {
        self.left.is_accepting(left) && self.right.is_accepting(right)
    }
}

impl<L: Describe, R: Describe, B> Describe for Interleave<L, R, B> {
    fn describe_config(&self, (left, right): &Self::Config) -> Fields {
        Fields::new()
            .with_group("left", self.left.describe_config(left))
            .with_group("right", self.right.describe_config(right))
    }

    fn describe_action(&self, action: &Self::Action) -> String {
        match action {
            Either::Left(action) => format!("left: {}", self.left.describe_action(action)),
            Either::Right(action) => format!("right: {}", self.right.describe_action(action)),
        }
    }
}
