//! A model as a space, by interpretation: what compiled models must agree with.

use crate::space::{BAD, FAULT, Space, Successors, Taken};
use invigil_model::{Expression, Model, State, Step};

/// A model, interpreted.
pub struct Plain<'a> {
    model: &'a Model,
    bad: Vec<Expression>,
}

impl<'a> Plain<'a> {
    /// The model; `bad` says which configurations, or steps, must not be reached.
    pub fn new(model: &'a Model, bad: Vec<Expression>) -> Plain<'a> {
        Plain { model, bad }
    }

    fn add(&self, source: Option<&[u64]>, action: Option<u32>, target: &State, out: &mut Successors) {
        let step = Step { source, action, target: &target.words };
        // A predicate that goes wrong cannot be said to hold: whoever looks at the path is told why.
        let is_bad = || self.bad.iter().any(|bad| self.model.holds(bad, step).unwrap_or(true));
        let flags = match target.fault {
            Some(_) => FAULT,
            None if is_bad() => BAD,
            None => 0,
        };
        out.push(&target.words, Taken { action: action.unwrap_or(0), flags });
    }
}

impl Space for Plain<'_> {
    fn width(&self) -> usize {
        self.model.layout().words
    }

    fn initial(&self, out: &mut Successors) {
        for start in self.model.starts() {
            self.add(None, None, &start, out);
        }
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        for action in self.model.enabled(state) {
            for target in self.model.outcomes(state, action) {
                self.add(Some(state), Some(action), &target, out);
            }
        }
    }
}
