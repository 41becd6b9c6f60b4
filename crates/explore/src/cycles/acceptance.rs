//! Which infinite executions are accepted, by the marks of their steps.

use crate::space::Space;

/// A condition on the marks that occur for ever.
pub(super) struct Acceptance {
    /// Each of these must.
    each: u64,
    /// If the first does, so must the second.
    pairs: Vec<(u64, u64)>,
}

impl Acceptance {
    pub(super) fn of(space: &impl Space) -> Acceptance {
        let bit = |at: u32| 1u64.checked_shl(at).unwrap_or(0);
        let sets = space.sets();
        let each = !u64::MAX.checked_shl(sets).unwrap_or(0);
        let pairs = (0..space.pairs()).map(|pair| (bit(sets + 2 * pair), bit(sets + 2 * pair + 1)));
        Acceptance { each, pairs: pairs.collect() }
    }

    /// Whether an execution is accepted on which just these marks occur for ever.
    pub(super) fn is_met(&self, marks: u64) -> bool {
        marks & self.each == self.each && self.unanswered(marks) == 0
    }

    /// The marks that occur without those that must then occur, too.
    pub(super) fn unanswered(&self, marks: u64) -> u64 {
        let open = self.pairs.iter().filter(|(if_this, then)| marks & if_this != 0 && marks & then == 0);
        open.fold(0, |all, (if_this, _)| all | if_this)
    }

    /// Whether a part of something with these marks can be accepted though the whole is not.
    pub(super) fn is_open(&self, marks: u64) -> bool {
        marks & self.each == self.each && self.unanswered(marks) != 0
    }

    /// The marks that ask for others and that are not among these.
    pub(super) fn absent(&self, marks: u64) -> u64 {
        self.pairs.iter().fold(0, |all, (if_this, _)| all | if_this) & !marks
    }

    /// What to take of the marks of an accepted component so that whatever else is taken of it is accepted.
    pub(super) fn needed(&self, marks: u64) -> u64 {
        let answers = self.pairs.iter().filter(|(if_this, _)| marks & if_this != 0);
        answers.fold(self.each, |all, (_, then)| all | then)
    }
}
