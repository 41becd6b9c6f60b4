//! The acceptance condition of infinite executions, in terms of the marks of their steps.

use crate::state_space::StateSpace;

/// A condition on the marks that occur infinitely often.
pub(super) struct Acceptance {
    /// All of these must occur.
    required: u64,
    /// Trigger and response: if the first mark of a pair occurs, the second one must occur as well.
    pairs: Vec<(u64, u64)>,
}

impl Acceptance {
    pub(super) fn of(space: &impl StateSpace) -> Acceptance {
        let bit = |at: u32| 1u64.checked_shl(at).unwrap_or(0);
        let sets = space.acceptance_set_count();
        let required = !u64::MAX.checked_shl(sets).unwrap_or(0);
        let pairs =
            (0..space.fairness_pair_count()).map(|pair| (bit(sets + 2 * pair), bit(sets + 2 * pair + 1)));
        Acceptance { required, pairs: pairs.collect() }
    }

    /// Whether an execution is accepted if exactly these marks occur in it infinitely often.
    pub(super) fn is_met(&self, marks: u64) -> bool {
        marks & self.required == self.required && self.unanswered(marks) == 0
    }

    /// The triggers without a response.
    pub(super) fn unanswered(&self, marks: u64) -> u64 {
        let open =
            self.pairs.iter().filter(|(trigger, response)| marks & trigger != 0 && marks & response == 0);
        open.fold(0, |all, (trigger, _)| all | trigger)
    }

    /// Whether a component with these marks, which is not accepted, may contain an accepted one.
    pub(super) fn may_contain_accepted(&self, marks: u64) -> bool {
        marks & self.required == self.required && self.unanswered(marks) != 0
    }

    /// The triggers that are not among `marks`.
    pub(super) fn absent_triggers(&self, marks: u64) -> u64 {
        self.pairs.iter().fold(0, |all, (trigger, _)| all | trigger) & !marks
    }

    /// The marks that a cycle in an accepted component must have to be accepted, whatever other marks of the
    /// component it has.
    pub(super) fn needed(&self, marks: u64) -> u64 {
        let triggered = self.pairs.iter().filter(|(trigger, _)| marks & trigger != 0);
        triggered.fold(self.required, |all, (_, response)| all | response)
    }
}
