//! What can be left out without another thought: states that no accepted word needs, and edges beside others.

use super::scc::Components;
use super::{Automaton, Edge, State};
use crate::TooLarge;
use crate::label::Labels;
use std::collections::VecDeque;

/// Edges of a state beyond which not every two are compared.
pub(super) const FEW_EDGES: usize = 256;

impl Automaton {
    /// Which components have a cycle with marks of every set.
    pub fn accepting(&self, found: &Components) -> Vec<bool> {
        let mut accepting = Vec::with_capacity(found.members.len());
        for (number, members) in found.members.iter().enumerate() {
            let (mut any, mut marks) = (false, 0);
            for edge in members.iter().flat_map(|state| &self.edges[*state as usize]) {
                if found.of[edge.target as usize] == Some(number) {
                    (any, marks) = (true, marks | edge.marks);
                }
            }
            accepting.push(any && marks & self.all_marks() == self.all_marks());
        }
        accepting
    }

    /// The same without states that cannot be reached or from which no word is accepted, and with one edge
    /// where several lead to the same state. States are numbered anew, in the order of their distance.
    ///
    /// # Errors
    /// If there is no room for labels.
    pub fn trim(&self, labels: &Labels) -> Result<Automaton, TooLarge> {
        let possible = Automaton {
            initial: self.initial,
            edges: self
                .edges
                .iter()
                .map(|edges| edges.iter().filter(|edge| !edge.label.is_false()).cloned().collect())
                .collect(),
            sets: self.sets,
        };
        let found = possible.components();
        let mut alive = possible.accepting(&found);
        for number in 0..alive.len() {
            let out = found.members[number].iter().flat_map(|state| &possible.edges[*state as usize]);
            let leads = out.filter_map(|edge| found.of[edge.target as usize]).any(|target| alive[target]);
            alive[number] |= leads;
        }
        let lives = |state: State| found.of[state as usize].is_some_and(|number| alive[number]);
        if !lives(self.initial) {
            return Ok(Automaton::empty());
        }
        possible.only(lives).merge_parallel(labels)
    }

    /// The states that satisfy the condition and can be reached through such, renumbered. The initial one must
    /// be among them.
    pub(super) fn only(&self, keep: impl Fn(State) -> bool) -> Automaton {
        let mut numbers: Vec<Option<State>> = vec![None; self.states()];
        let (mut open, mut edges) = (VecDeque::from([self.initial]), Vec::new());
        numbers[self.initial as usize] = Some(0);
        let mut count = 1;
        while let Some(state) = open.pop_front() {
            let mut out = Vec::new();
            for edge in self.edges[state as usize].iter().filter(|edge| keep(edge.target)) {
                let target = *numbers[edge.target as usize].get_or_insert_with(|| {
                    open.push_back(edge.target);
                    count += 1;
                    count - 1
                });
                out.push(Edge { target, ..edge.clone() });
            }
            edges.push(out);
        }
        Automaton { initial: 0, edges, sets: self.sets }
    }

    /// One edge for each target and marks; letters at which an edge with more marks leads to the same state
    /// are taken away from those with fewer.
    pub(super) fn merge_parallel(&self, labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut all = Vec::with_capacity(self.states());
        for edges in &self.edges {
            let mut sorted: Vec<&Edge> = edges.iter().collect();
            // Those with more marks come before those that have some of them.
            sorted
                .sort_by_key(|edge| (edge.target, std::cmp::Reverse((edge.marks.count_ones(), edge.marks))));
            let mut merged: Vec<Edge> = Vec::with_capacity(edges.len());
            for edge in sorted {
                match merged.last_mut() {
                    Some(last) if last.target == edge.target && last.marks == edge.marks => {
                        last.label = labels.or(&last.label, &edge.label)?;
                    }
                    _ => merged.push(edge.clone()),
                }
            }
            let mut out: Vec<Edge> = Vec::with_capacity(merged.len());
            let few = merged.len() <= FEW_EDGES;
            for mut edge in merged {
                let beside = out.iter().rev().take_while(|other| few && other.target == edge.target);
                for other in beside {
                    if edge.marks & !other.marks == 0 {
                        edge.label = labels.minus(&edge.label, &other.label)?;
                    }
                }
                if !edge.label.is_false() {
                    out.push(edge);
                }
            }
            all.push(out);
        }
        Ok(Automaton { initial: self.initial, edges: all, sets: self.sets })
    }
}
