//! Syntactic classes of formulae in the temporal hierarchy (after Černá and Pelánek; Chang, Manna and Pnueli).

use super::Class;
use crate::formula::{Formula, Formulae, Node};

/// Set of the classes that a formula belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClassSet {
    pub(super) safety: bool,
    pub(super) guarantee: bool,
    pub(super) obligation: bool,
    pub(super) recurrence: bool,
    pub(super) persistence: bool,
}

impl ClassSet {
    /// The classes of a formula without temporal operators.
    const ALL: ClassSet =
        ClassSet { safety: true, guarantee: true, obligation: true, recurrence: true, persistence: true };

    /// Returns the smallest class.
    pub(super) fn class(self) -> Class {
        match self {
            ClassSet { safety: true, guarantee: true, .. } => Class::Bounded,
            ClassSet { safety: true, .. } => Class::Safety,
            ClassSet { guarantee: true, .. } => Class::Guarantee,
            ClassSet { obligation: true, .. } => Class::Obligation,
            ClassSet { recurrence: true, persistence: true, .. } => Class::Obligation,
            ClassSet { recurrence: true, .. } => Class::Recurrence,
            ClassSet { persistence: true, .. } => Class::Persistence,
            _ => Class::Reactivity,
        }
    }

    /// Returns the classes of the negation.
    fn not(self) -> ClassSet {
        ClassSet {
            safety: self.guarantee,
            guarantee: self.safety,
            obligation: self.obligation,
            recurrence: self.persistence,
            persistence: self.recurrence,
        }
    }

    /// Returns the classes of a conjunction or disjunction: all classes are closed under both.
    fn combine(self, other: ClassSet) -> ClassSet {
        ClassSet {
            safety: self.safety && other.safety,
            guarantee: self.guarantee && other.guarantee,
            obligation: self.obligation && other.obligation,
            recurrence: self.recurrence && other.recurrence,
            persistence: self.persistence && other.persistence,
        }
    }

    /// Returns the classes of `self U goal`, an infinite disjunction of finite conjunctions.
    fn until(self, goal: ClassSet) -> ClassSet {
        ClassSet {
            safety: false,
            guarantee: self.guarantee && goal.guarantee,
            obligation: self.obligation && goal.guarantee,
            recurrence: self.recurrence && goal.guarantee,
            persistence: self.persistence && goal.persistence,
        }
    }
}

/// Returns the syntactic classes of a formula. At each position, a past formula is a finite Boolean combination of its
/// operands, so it belongs to their common classes.
pub(super) fn syntactic_classes(formulae: &Formulae, formula: Formula) -> ClassSet {
    let parts = formulae.subformulae(formula);
    let mut known: Vec<ClassSet> = Vec::with_capacity(parts.len());
    for part in &parts {
        let of = |inner: &Formula| known[parts.binary_search(inner).unwrap_or_default()];
        let node = formulae.node(*part);
        let until = |a: ClassSet, b: ClassSet| a.until(b);
        let release = |a: ClassSet, b: ClassSet| a.not().until(b.not()).not();
        known.push(match node {
            Node::Not(a) => of(a).not(),
            Node::Finally(a) => until(ClassSet::ALL, of(a)),
            Node::Globally(a) => release(ClassSet::ALL, of(a)),
            Node::Until([a, b]) => until(of(a), of(b)),
            Node::Release([a, b]) => release(of(a), of(b)),
            // `b R (a | b)`, and `b U (a & b)`.
            Node::WeakUntil([a, b]) => release(of(b), of(a).combine(of(b))),
            Node::StrongRelease([a, b]) => until(of(b), of(a).combine(of(b))),
            _ => node.parts().iter().fold(ClassSet::ALL, |classes, part| classes.combine(of(part))),
        });
    }
    known.last().copied().unwrap_or(ClassSet::ALL)
}
