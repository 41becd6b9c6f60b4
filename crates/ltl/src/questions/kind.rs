//! Classes that a formula is surely in, by its form (after Černá and Pelánek; Chang, Manna and Pnueli).

use super::Class;
use crate::formula::{Formula, Formulae, Node};

/// The classes of the hierarchy that something is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) safety: bool,
    pub(super) guarantee: bool,
    pub(super) obligation: bool,
    pub(super) recurrence: bool,
    pub(super) persistence: bool,
}

impl Kinds {
    const ALL: Kinds =
        Kinds { safety: true, guarantee: true, obligation: true, recurrence: true, persistence: true };

    /// The smallest class.
    pub(super) fn class(self) -> Class {
        match self {
            Kinds { safety: true, guarantee: true, .. } => Class::Bounded,
            Kinds { safety: true, .. } => Class::Safety,
            Kinds { guarantee: true, .. } => Class::Guarantee,
            Kinds { obligation: true, .. } => Class::Obligation,
            Kinds { recurrence: true, persistence: true, .. } => Class::Obligation,
            Kinds { recurrence: true, .. } => Class::Recurrence,
            Kinds { persistence: true, .. } => Class::Persistence,
            _ => Class::Reactivity,
        }
    }

    fn not(self) -> Kinds {
        Kinds {
            safety: self.guarantee,
            guarantee: self.safety,
            obligation: self.obligation,
            recurrence: self.persistence,
            persistence: self.recurrence,
        }
    }

    /// Both, or one of them: all classes allow for that.
    fn with(self, other: Kinds) -> Kinds {
        Kinds {
            safety: self.safety && other.safety,
            guarantee: self.guarantee && other.guarantee,
            obligation: self.obligation && other.obligation,
            recurrence: self.recurrence && other.recurrence,
            persistence: self.persistence && other.persistence,
        }
    }

    /// `self U goal`: for some instant, the goal there and a finite number of things before.
    fn until(self, goal: Kinds) -> Kinds {
        Kinds {
            safety: false,
            guarantee: self.guarantee && goal.guarantee,
            obligation: self.obligation && goal.guarantee,
            recurrence: self.recurrence && goal.guarantee,
            persistence: self.persistence && goal.persistence,
        }
    }
}

/// The classes of a formula, by its form. What looks back is a finite combination of what it looks at: if that
/// is of a class at every instant, then so is the whole.
pub(super) fn kinds(formulae: &Formulae, formula: Formula) -> Kinds {
    let parts = formulae.within(formula);
    let mut known: Vec<Kinds> = Vec::with_capacity(parts.len());
    for part in &parts {
        let of = |inner: &Formula| known[parts.binary_search(inner).unwrap_or_default()];
        let node = formulae.node(*part);
        let until = |a: Kinds, b: Kinds| a.until(b);
        let release = |a: Kinds, b: Kinds| a.not().until(b.not()).not();
        known.push(match node {
            Node::Not(a) => of(a).not(),
            Node::Finally(a) => until(Kinds::ALL, of(a)),
            Node::Globally(a) => release(Kinds::ALL, of(a)),
            Node::Until([a, b]) => until(of(a), of(b)),
            Node::Release([a, b]) => release(of(a), of(b)),
            // `b R (a | b)`, and `b U (a & b)`.
            Node::WeakUntil([a, b]) => release(of(b), of(a).with(of(b))),
            Node::StrongRelease([a, b]) => until(of(b), of(a).with(of(b))),
            _ => node.parts().iter().fold(Kinds::ALL, |sum, part| sum.with(of(part))),
        });
    }
    known.last().copied().unwrap_or(Kinds::ALL)
}
