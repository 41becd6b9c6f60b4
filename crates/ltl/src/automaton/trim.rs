//! Trimming: removal of unreachable and dead states, and of redundant parallel edges.

use super::scc::Components;
use super::{Automaton, Edge, State};
use crate::TooLarge;
use crate::label::Labels;
use std::collections::VecDeque;

/// Maximum number of edges of a state that are compared pairwise.
pub(super) const MAX_PAIRWISE_EDGES: usize = 256;

impl Automaton {
    /// Returns, for each component, whether it has a cycle with all marks.
    pub fn accepting_components(&self, sccs: &Components) -> Vec<bool> {
        let mut accepting = Vec::with_capacity(sccs.members.len());
        for (number, members) in sccs.members.iter().enumerate() {
            let (mut any, mut marks) = (false, 0);
            for edge in members.iter().flat_map(|state| &self.edges[*state as usize]) {
                if sccs.of[edge.target as usize] == Some(number) {
                    (any, marks) = (true, marks | edge.marks);
                }
            }
            accepting.push(any && marks & self.all_marks() == self.all_marks());
        }
        accepting
    }

    /// Removes unreachable states and states with an empty language, and merges parallel edges. The remaining states are
    /// renumbered in breadth-first order.
    ///
    /// # Errors
    /// Fails if the labels outgrow the budget.
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
        let sccs = possible.components();
        let mut alive = possible.accepting_components(&sccs);
        for number in 0..alive.len() {
            let out = sccs.members[number].iter().flat_map(|state| &possible.edges[*state as usize]);
            let leads_to_alive =
                out.filter_map(|edge| sccs.of[edge.target as usize]).any(|target| alive[target]);
            alive[number] |= leads_to_alive;
        }
        let is_alive = |state: State| sccs.of[state as usize].is_some_and(|number| alive[number]);
        if !is_alive(self.initial) {
            return Ok(Automaton::empty());
        }
        possible.restricted_to(is_alive).merge_parallel(labels)
    }

    /// Restricts the automaton to the states that are reachable through selected states, and renumbers them. The initial
    /// state must be selected.
    pub(super) fn restricted_to(&self, keep: impl Fn(State) -> bool) -> Automaton {
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

    /// Merges edges with the same target and marks, and removes from edges the letters of parallel edges with more marks.
    pub(super) fn merge_parallel(&self, labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut all = Vec::with_capacity(self.states());
        for edges in &self.edges {
            let mut sorted: Vec<&Edge> = edges.iter().collect();
            // Edges with more marks precede edges with a subset of them.
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
            let few = merged.len() <= MAX_PAIRWISE_EDGES;
            for mut edge in merged {
                let parallel = out.iter().rev().take_while(|other| few && other.target == edge.target);
                for other in parallel {
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
