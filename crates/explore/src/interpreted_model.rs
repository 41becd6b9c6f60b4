//! Interpreted model as a state space: the reference for compiled models.

use crate::state_space::{BAD, FAULT, StateSpace, Successors, TransitionInfo};
use invigil_model::{Expression, Model, State, Step};

/// A model that is interpreted.
pub struct InterpretedModel<'a> {
    model: &'a Model,
    bad: Vec<Expression>,
}

impl<'a> InterpretedModel<'a> {
    /// Wraps a model; `bad` are predicates on configurations or steps that must not be reached.
    pub fn new(model: &'a Model, bad: Vec<Expression>) -> InterpretedModel<'a> {
        InterpretedModel { model, bad }
    }

    fn push_state(&self, source: Option<&[u64]>, action: Option<u32>, target: &State, out: &mut Successors) {
        let step = Step { source, action, target: &target.words };
        // A predicate that raises a fault counts as violated: the explanation of the path reports the fault.
        let is_bad = || self.bad.iter().any(|bad| self.model.holds(bad, step).unwrap_or(true));
        let flags = match target.fault {
            Some(_) => FAULT,
            None if is_bad() => BAD,
            None => 0,
        };
        out.push(&target.words, TransitionInfo { action: action.unwrap_or(0), flags });
    }
}

impl StateSpace for InterpretedModel<'_> {
    fn width(&self) -> usize {
        self.model.layout().words
    }

    fn initial(&self, out: &mut Successors) {
        for start in self.model.initial_states() {
            self.push_state(None, None, &start, out);
        }
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        for action in self.model.enabled(state) {
            for target in self.model.outcomes(state, action) {
                self.push_state(Some(state), Some(action), &target, out);
            }
        }
    }
}
