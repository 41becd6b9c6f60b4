//! Fairness constraints.
//!
//! A space with fairness constraints marks its steps. A search for accepting cycles in it, or in its product with an
//! automaton, then finds only fair executions. An action is enabled if it has an outcome, including a fault.

use crate::product::{MAX_MARKS, TooManyMarks};
use crate::state_space::{StateSpace, Successors};
use invigil_model::{Actions, Model, ProcessId};

/// Strength of a fairness constraint on a set of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strength {
    /// If one of the actions is continuously enabled from some point on, one of them is taken infinitely often.
    Weak,
    /// If one of the actions is enabled infinitely often, one of them is taken infinitely often.
    Strong,
}

/// Requirement that executions treat a set of actions fairly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FairnessConstraint {
    /// The actions.
    pub actions: Actions,
    /// The strength.
    pub strength: Strength,
}

impl FairnessConstraint {
    /// Fairness to a process: the constraint covers all actions in which it moves.
    ///
    /// ```
    /// use invigil_explore::fairness::{FairnessConstraint, Strength};
    /// use invigil_model::{Model, ModelParts};
    /// let empty = Model::new(ModelParts::default()).unwrap();
    /// assert!(FairnessConstraint::for_process(&empty, 0, Strength::Weak).actions.is_empty());
    /// ```
    pub fn for_process(model: &Model, process: ProcessId, strength: Strength) -> FairnessConstraint {
        let moves = |action: &u32| model.action(*action).moves.iter().any(|by| by.process == process);
        FairnessConstraint {
            actions: (0..model.parts().actions.len() as u32).filter(moves).collect(),
            strength,
        }
    }

    /// One constraint for each process of a model. Processes without actions need none.
    ///
    /// ```
    /// use invigil_explore::fairness::{FairnessConstraint, Strength};
    /// use invigil_model::{Model, ModelParts};
    /// let empty = Model::new(ModelParts::default()).unwrap();
    /// assert!(FairnessConstraint::for_processes(&empty, Strength::Strong).is_empty());
    /// ```
    pub fn for_processes(model: &Model, strength: Strength) -> Vec<FairnessConstraint> {
        let processes = 0..model.parts().processes.len() as ProcessId;
        let constraints = processes.map(|process| FairnessConstraint::for_process(model, process, strength));
        constraints.filter(|constraint| !constraint.actions.is_empty()).collect()
    }
}

/// A space in which an infinite execution can be accepted only if it is fair.
pub struct Fair<S> {
    space: S,
    weak: ConstraintBits,
    strong: ConstraintBits,
}

/// For each action, the constraints of one strength that cover it, one bit each.
struct ConstraintBits {
    count: u32,
    of_action: Vec<u64>,
}

impl ConstraintBits {
    fn new(constraints: &[FairnessConstraint], strength: Strength) -> ConstraintBits {
        let mut members = ConstraintBits { count: 0, of_action: Vec::new() };
        for constraint in constraints.iter().filter(|constraint| constraint.strength == strength) {
            for &action in &constraint.actions {
                let at = action as usize;
                members.of_action.resize(members.of_action.len().max(at + 1), 0);
                members.of_action[at] |= 1u64.checked_shl(members.count).unwrap_or(0);
            }
            members.count += 1;
        }
        members
    }

    fn of(&self, action: u32) -> u64 {
        self.of_action.get(action as usize).copied().unwrap_or(0)
    }

    fn all(&self) -> u64 {
        low_bits(self.count)
    }
}

/// A mask of the lowest `count` bits.
fn low_bits(count: u32) -> u64 {
    !u64::MAX.checked_shl(count).unwrap_or(0)
}

impl<S: StateSpace> Fair<S> {
    /// Adds fairness constraints to a space.
    ///
    /// # Errors
    /// If there are too many constraints: a weak one needs one mark, a strong one two.
    pub fn new(space: S, constraints: &[FairnessConstraint]) -> Result<Fair<S>, TooManyMarks> {
        let weak = ConstraintBits::new(constraints, Strength::Weak);
        let strong = ConstraintBits::new(constraints, Strength::Strong);
        let inner =
            space.acceptance_set_count().saturating_add(space.fairness_pair_count().saturating_mul(2));
        let needed = inner.saturating_add(weak.count).saturating_add(strong.count.saturating_mul(2));
        if needed > MAX_MARKS {
            return Err(TooManyMarks { needed });
        }
        Ok(Fair { space, weak, strong })
    }

    /// The wrapped space.
    pub fn space(&self) -> &S {
        &self.space
    }

    /// Marks the successors from `first` on, which all belong to one configuration.
    fn mark(&self, first: usize, out: &mut Successors) {
        let (sets, pairs) = (self.space.acceptance_set_count(), self.space.fairness_pair_count());
        out.marks.resize(out.len(), 0);
        let transitions = &out.transitions[first..];
        let enabled = |members: &ConstraintBits| {
            transitions.iter().fold(0, |all, transition| all | members.of(transition.action))
        };
        let (enabled_weak, enabled_strong) = (enabled(&self.weak), enabled(&self.strong));
        for (transition, marks) in transitions.iter().zip(&mut out.marks[first..]) {
            let up = |bits: u64, by: u32| bits.checked_shl(by).unwrap_or(0);
            let inner_pairs = marks.checked_shr(sets).unwrap_or(0) & low_bits(2 * pairs);
            let satisfied_weak = (!enabled_weak | self.weak.of(transition.action)) & self.weak.all();
            let mut all = *marks & low_bits(sets) | up(satisfied_weak, sets);
            let mut at = sets + self.weak.count;
            all |= up(inner_pairs, at);
            at += 2 * pairs;
            let taken_strong = self.strong.of(transition.action);
            for constraint in 0..self.strong.count {
                all |= up(
                    enabled_strong >> constraint & 1 | (taken_strong >> constraint & 1) << 1,
                    at + 2 * constraint,
                );
            }
            *marks = all;
        }
    }
}

impl<S: StateSpace> StateSpace for Fair<S> {
    fn width(&self) -> usize {
        self.space.width()
    }

    fn initial(&self, out: &mut Successors) {
        self.space.initial(out);
        out.marks.resize(out.len(), 0);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let first = out.len();
        self.space.successors(state, out);
        self.mark(first, out);
    }

    fn acceptance_set_count(&self) -> u32 {
        self.space.acceptance_set_count() + self.weak.count
    }

    fn fairness_pair_count(&self) -> u32 {
        self.space.fairness_pair_count() + self.strong.count
    }

    fn failure(&self) -> Option<String> {
        self.space.failure()
    }
}
