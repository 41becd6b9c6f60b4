//! Which words lead where.

use super::{Moore, Truth, Verdict};
use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels, Variable};
use crate::word::Letter;
use std::collections::VecDeque;

impl Labels {
    /// The atoms that some of these labels depend on, sorted.
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

    /// A letter at which a label is true, the same for equal labels: false wherever the diagram allows it.
    pub(crate) fn least_letter(&self, label: &Label) -> Letter {
        let (mut at, mut atoms) = (label.clone(), Vec::new());
        while let Some((variable, yes, no)) = self.decide(&at) {
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
    /// One of the shortest words that lead to a state of which something is true. The empty word if it is true
    /// of the first state.
    pub fn shortest(
        &self,
        labels: &Labels,
        mut wanted: impl FnMut(State, Output) -> bool,
    ) -> Option<Vec<Letter>> {
        let mut came: Vec<Option<(State, &Label)>> = vec![None; self.states()];
        let mut seen = vec![false; self.states()];
        let mut open = VecDeque::from([self.initial]);
        seen[self.initial as usize] = true;
        while let Some(state) = open.pop_front() {
            if wanted(state, self.outputs[state as usize]) {
                let mut word = Vec::new();
                let mut at = state;
                while let Some((before, label)) = came[at as usize] {
                    word.push(labels.least_letter(label));
                    at = before;
                }
                word.reverse();
                return Some(word);
            }
            for (label, target) in &self.edges[state as usize] {
                if !std::mem::replace(&mut seen[*target as usize], true) {
                    came[*target as usize] = Some((state, label));
                    open.push_back(*target);
                }
            }
        }
        None
    }

    /// For each state: whether a word leads from it to a state of which something is true.
    pub fn can_reach(&self, wanted: impl Fn(State, Output) -> bool) -> Vec<bool> {
        let mut before: Vec<Vec<State>> = vec![Vec::new(); self.states()];
        for (state, edges) in self.edges.iter().enumerate() {
            for (_, target) in edges {
                before[*target as usize].push(state as State);
            }
        }
        let mut found: Vec<bool> =
            self.outputs.iter().enumerate().map(|(state, output)| wanted(state as State, *output)).collect();
        let mut open: Vec<State> =
            (0..self.states() as State).filter(|state| found[*state as usize]).collect();
        while let Some(state) = open.pop() {
            for source in &before[state as usize] {
                if !std::mem::replace(&mut found[*source as usize], true) {
                    open.push(*source);
                }
            }
        }
        found
    }
}

impl Moore<Truth> {
    /// One of the shortest words after which the formula holds however it goes on.
    pub fn good_prefix(&self, labels: &Labels) -> Option<Vec<Letter>> {
        self.shortest(labels, |_, output| output == Truth::True)
    }

    /// One of the shortest words after which the formula does not hold however it goes on.
    pub fn bad_prefix(&self, labels: &Labels) -> Option<Vec<Letter>> {
        self.shortest(labels, |_, output| output == Truth::False)
    }
}
