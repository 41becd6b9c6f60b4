//! Membership of ultimately periodic words, by the definition of acceptance.

use super::scc::components;
use super::{Automaton, Marks, State};
use crate::label::{Labels, Variable};
use crate::word::Lasso;

impl Automaton {
    /// Whether the automaton accepts the word.
    pub fn accepts(&self, labels: &Labels, word: &Lasso) -> bool {
        let (start, length) = (word.prefix.len(), word.prefix.len() + word.cycle.len());
        let after = |at: usize| if at + 1 < length { at + 1 } else { start };
        // A node is a pair of a state and a position in the lasso.
        let node = |state: State, at: usize| (state as usize * length + at) as State;
        let mut edges = vec![Vec::new(); self.states() * length];
        for (at, letter) in word.prefix.iter().chain(&word.cycle).enumerate() {
            let holds = |variable| matches!(variable, Variable::Atom(atom) if letter.has(atom));
            for (state, from) in self.edges.iter().enumerate() {
                let taken = from.iter().filter(|edge| labels.evaluate(&edge.label, holds));
                edges[node(state as State, at) as usize]
                    .extend(taken.map(|edge| (node(edge.target, after(at)), edge.marks)));
            }
        }
        let next = |state: State| edges[state as usize].iter().map(|(target, _)| *target);
        let sccs = components(edges.len(), node(self.initial, 0), next);
        sccs.members.iter().enumerate().any(|(number, members)| {
            let inside = members
                .iter()
                .flat_map(|member| &edges[*member as usize])
                .filter(|(target, _)| sccs.of[*target as usize] == Some(number));
            is_accepting(inside.map(|(_, marks)| *marks), self.all_marks())
        })
    }
}

/// Whether the edges of a component make it accepting: there are any, and they cover all acceptance sets.
fn is_accepting(edges: impl Iterator<Item = Marks>, all: Marks) -> bool {
    edges.fold(None, |sum, marks| Some(sum.unwrap_or(0) | marks)).is_some_and(|marks| marks & all == all)
}
