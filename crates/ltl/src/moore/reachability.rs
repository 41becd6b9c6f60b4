//! Reachability of outputs, and shortest words that lead to them.

use super::{Moore, Truth, Verdict};
use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels, Variable};
use crate::word::Letter;
use std::collections::VecDeque;

impl Labels {
    /// Returns the atoms that these labels depend on, sorted.
    pub(crate) fn atoms_of<'a>(&self, all: impl Iterator<Item = &'a Label>) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = all
            .flat_map(|label| self.support(label))
            .filter_map(|variable| match variable {
                Variable::Atom(atom) => Some(atom),
                Variable::Helper(_) => None,
            })
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// Returns a letter that satisfies the label: atoms are false where the diagram permits. Equal labels have equal letters.
    pub(crate) fn least_letter(&self, label: &Label) -> Letter {
        let (mut at, mut atoms) = (label.clone(), Vec::new());
        while let Some((variable, yes, no)) = self.cofactors(&at) {
            at = if no.is_false() {
                if let Variable::Atom(atom) = variable {
                    atoms.push(atom);
                }
                yes
            } else {
                no
            };
        }
        atoms.into_iter().collect()
    }
}

impl<Output: Verdict> Moore<Output> {
    /// Returns a shortest word that leads to a state with the property; the empty word if the initial state has it.
    pub fn shortest_word(
        &self,
        labels: &Labels,
        mut property: impl FnMut(State, Output) -> bool,
    ) -> Option<Vec<Letter>> {
        let mut parent: Vec<Option<(State, &Label)>> = vec![None; self.states()];
        let mut seen = vec![false; self.states()];
        let mut open = VecDeque::from([self.initial]);
        seen[self.initial as usize] = true;
        while let Some(state) = open.pop_front() {
            if property(state, self.outputs[state as usize]) {
                let mut word = Vec::new();
                let mut at = state;
                while let Some((previous, label)) = parent[at as usize] {
                    word.push(labels.least_letter(label));
                    at = previous;
                }
                word.reverse();
                return Some(word);
            }
            for (label, target) in &self.edges[state as usize] {
                if !std::mem::replace(&mut seen[*target as usize], true) {
                    parent[*target as usize] = Some((state, label));
                    open.push_back(*target);
                }
            }
        }
        None
    }

    /// Returns, for each state, whether a state with the property is reachable.
    pub fn can_reach(&self, property: impl Fn(State, Output) -> bool) -> Vec<bool> {
        let mut predecessors: Vec<Vec<State>> = vec![Vec::new(); self.states()];
        for (state, edges) in self.edges.iter().enumerate() {
            for (_, target) in edges {
                predecessors[*target as usize].push(state as State);
            }
        }
        let mut reaches: Vec<bool> = self
            .outputs
            .iter()
            .enumerate()
            .map(|(state, output)| property(state as State, *output))
            .collect();
        let mut open: Vec<State> =
            (0..self.states() as State).filter(|state| reaches[*state as usize]).collect();
        while let Some(state) = open.pop() {
            for source in &predecessors[state as usize] {
                if !std::mem::replace(&mut reaches[*source as usize], true) {
                    open.push(*source);
                }
            }
        }
        reaches
    }
}

impl Moore<Truth> {
    /// Returns a shortest good prefix: the formula holds on all its continuations.
    pub fn good_prefix(&self, labels: &Labels) -> Option<Vec<Letter>> {
        self.shortest_word(labels, |_, output| output == Truth::True)
    }

    /// Returns a shortest bad prefix: the formula fails on all its continuations.
    pub fn bad_prefix(&self, labels: &Labels) -> Option<Vec<Letter>> {
        self.shortest_word(labels, |_, output| output == Truth::False)
    }
}
