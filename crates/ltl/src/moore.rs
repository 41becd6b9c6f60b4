//! Deterministic machines that say something after every letter.

mod minimise;
mod output;
mod paths;
mod product;

pub use output::{Four, Logical, Truth, Verdict};

use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels, Variable};
use crate::word::Letter;

/// A deterministic, complete machine: in each state the labels of the edges exclude each other, one of them is
/// true at every letter, and there is at most one edge from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moore<Output> {
    /// The state before the first letter.
    pub initial: State,
    /// What each state says.
    pub outputs: Vec<Output>,
    /// The edges of each state: the letters, and where they lead.
    pub edges: Vec<Vec<(Label, State)>>,
}

impl<Output> Moore<Output> {
    /// The machine of one state.
    pub fn constant(labels: &Labels, output: Output) -> Moore<Output> {
        Moore { initial: 0, outputs: vec![output], edges: vec![vec![(labels.top(), 0)]] }
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.outputs.len()
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// What a state says.
    pub fn output(&self, state: State) -> &Output {
        &self.outputs[state as usize]
    }

    /// The state after a letter. To run a machine on many letters make a [`Table`](crate::table::Table) of it.
    pub fn next(&self, labels: &Labels, state: State, letter: &Letter) -> State {
        let holds = |variable| matches!(variable, Variable::Atom(atom) if letter.has(atom));
        let taken = self.edges[state as usize].iter().find(|(label, _)| labels.value(label, holds));
        taken.map_or(state, |(_, target)| *target)
    }

    /// The atoms that its labels speak of, sorted.
    pub fn atoms(&self, labels: &Labels) -> Vec<Atom> {
        labels.atoms_of(self.edges.iter().flatten().map(|(label, _)| label))
    }

    /// The same machine saying something else.
    pub fn map<Other>(self, say: impl FnMut(Output) -> Other) -> Moore<Other> {
        Moore {
            initial: self.initial,
            outputs: self.outputs.into_iter().map(say).collect(),
            edges: self.edges,
        }
    }
}
