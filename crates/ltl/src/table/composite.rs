//! Composites compiled to tables.

use super::TransitionTable;
use crate::TooLarge;
use crate::automaton::State;
use crate::formula::Atom;
use crate::label::Labels;
use crate::monitor::{Composite, Gate};
use crate::moore::LogicalVerdict;

/// [`Composite`] compiled to tables.
#[derive(Clone, Debug)]
pub struct CompositeTable<Output> {
    parts: Vec<TransitionTable<Output>>,
    gates: Vec<Gate>,
}

/// State of a [`CompositeTable`]: the states of the parts and the values of the gates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompositeState<Output> {
    states: Vec<State>,
    values: Vec<Output>,
}

impl<Output: Copy> CompositeState<Output> {
    /// Returns the output of the last gate.
    pub fn output(&self) -> Option<Output> {
        self.values.last().copied()
    }
}

impl<Output: LogicalVerdict> CompositeTable<Output> {
    /// Compiles a composite. Letters are encoded as for [`TransitionTable::new`].
    ///
    /// # Errors
    /// Fails if there are more than 64 atoms, or if a table is too large.
    pub fn new(
        labels: &Labels,
        composite: &Composite<Output>,
        atoms: &[Atom],
    ) -> Result<CompositeTable<Output>, TooLarge> {
        let parts = composite.parts.iter().map(|part| TransitionTable::new(labels, part, atoms));
        Ok(CompositeTable { parts: parts.collect::<Result<_, _>>()?, gates: composite.gates.clone() })
    }

    /// Returns the state before the first letter.
    pub fn start(&self) -> CompositeState<Output> {
        let states: Vec<State> = self.parts.iter().map(TransitionTable::start).collect();
        let mut state = CompositeState { states, values: Vec::with_capacity(self.gates.len()) };
        self.evaluate(&mut state);
        state
    }

    /// Reads a letter. The gates are evaluated only if the output of a part changes.
    pub fn step(&self, state: &mut CompositeState<Output>, letter: u64) {
        let mut changed = false;
        for (part, current) in self.parts.iter().zip(&mut state.states) {
            let next = part.step(*current, letter);
            changed |= next != *current && part.output(next) != part.output(*current);
            *current = next;
        }
        if changed {
            self.evaluate(state);
        }
    }

    fn evaluate(&self, state: &mut CompositeState<Output>) {
        let CompositeState { states, values } = state;
        values.clear();
        for gate in &self.gates {
            let fold = |all: &[usize], combine: fn(Output, Output) -> Output| {
                all.iter().map(|at| values[*at]).reduce(combine)
            };
            let value = match gate {
                Gate::Part(at) => Some(self.parts[*at].output(states[*at])),
                Gate::Not(at) => Some(values[*at].not()),
                Gate::All(all) => fold(all, Output::and),
                Gate::Any(all) => fold(all, Output::or),
            };
            values.extend(value);
        }
    }
}
