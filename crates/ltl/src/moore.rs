//! Moore machines: deterministic automata with an output in every state.

mod minimise;
mod product;
mod reachability;
mod verdict;

pub use verdict::{FourValuedTruth, LogicalVerdict, Truth, Verdict};

use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels, Variable};
use crate::word::Letter;

/// Moore machine, deterministic and complete.
///
/// In each state, the labels of the edges are disjoint and cover all letters, and no two edges have the same target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moore<Output> {
    /// State before the first letter.
    pub initial: State,
    /// Output of each state.
    pub outputs: Vec<Output>,
    /// Edges of each state: letters and target.
    pub edges: Vec<Vec<(Label, State)>>,
}

impl<Output> Moore<Output> {
    /// Creates a machine with one state.
    pub fn constant(labels: &Labels, output: Output) -> Moore<Output> {
        Moore { initial: 0, outputs: vec![output], edges: vec![vec![(labels.top(), 0)]] }
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.outputs.len()
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// Returns the output of a state.
    pub fn output(&self, state: State) -> &Output {
        &self.outputs[state as usize]
    }

    /// Returns the state after a letter. To read many letters, build a [`TransitionTable`](crate::table::TransitionTable).
    pub fn next(&self, labels: &Labels, state: State, letter: &Letter) -> State {
        let holds = |variable| matches!(variable, Variable::Atom(atom) if letter.has(atom));
        let taken = self.edges[state as usize].iter().find(|(label, _)| labels.evaluate(label, holds));
        taken.map_or(state, |(_, target)| *target)
    }

    /// Returns the atoms of the labels, sorted.
    pub fn atoms(&self, labels: &Labels) -> Vec<Atom> {
        labels.atoms_of(self.edges.iter().flatten().map(|(label, _)| label))
    }

    /// Maps the outputs.
    pub fn map<Other>(self, output: impl FnMut(Output) -> Other) -> Moore<Other> {
        Moore {
            initial: self.initial,
            outputs: self.outputs.into_iter().map(output).collect(),
            edges: self.edges,
        }
    }
}
