//! Tables side by side.

use super::Table;
use crate::TooLarge;
use crate::automaton::State;
use crate::formula::Atom;
use crate::label::Labels;
use crate::monitor::{Composite, Gate};
use crate::moore::Logical;

/// A [`Composite`] made to run.
#[derive(Clone, Debug)]
pub struct Tables<Output> {
    parts: Vec<Table<Output>>,
    gates: Vec<Gate>,
}

/// Where the parts are, and what the gates say there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Running<Output> {
    states: Vec<State>,
    values: Vec<Output>,
}

impl<Output: Copy> Running<Output> {
    /// What is said now.
    pub fn output(&self) -> Option<Output> {
        self.values.last().copied()
    }
}

impl<Output: Logical> Tables<Output> {
    /// Tables of machines; for letters see [`Table::new`].
    ///
    /// # Errors
    /// If there are more than 64 atoms, or a table would be too large.
    pub fn new(
        labels: &Labels,
        composite: &Composite<Output>,
        atoms: &[Atom],
    ) -> Result<Tables<Output>, TooLarge> {
        let parts = composite.parts.iter().map(|part| Table::new(labels, part, atoms));
        Ok(Tables { parts: parts.collect::<Result<_, _>>()?, gates: composite.gates.clone() })
    }

    /// Before the first letter.
    pub fn start(&self) -> Running<Output> {
        let states: Vec<State> = self.parts.iter().map(Table::start).collect();
        let mut running = Running { states, values: Vec::with_capacity(self.gates.len()) };
        self.combine(&mut running);
        running
    }

    /// Reads a letter. The gates are only asked if a part says something new.
    pub fn step(&self, running: &mut Running<Output>, letter: u64) {
        let mut changed = false;
        for (part, state) in self.parts.iter().zip(&mut running.states) {
            let next = part.step(*state, letter);
            changed |= next != *state && part.output(next) != part.output(*state);
            *state = next;
        }
        if changed {
            self.combine(running);
        }
    }

    fn combine(&self, running: &mut Running<Output>) {
        let Running { states, values } = running;
        values.clear();
        for gate in &self.gates {
            let fold = |all: &[usize], say: fn(Output, Output) -> Output| {
                all.iter().map(|at| values[*at]).reduce(say)
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
