//! Normalisation of marks.
//!
//! Only marks on cycles matter, and only as far as they separate accepting from rejecting cycles. Many marks make more
//! edges comparable; few marks make merges less likely to change the language.

use super::scc::{Components, components};
use super::{Automaton, Edge, Marks, State};

/// Carrier of the marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkCarrier {
    /// Each edge has its own marks.
    Edges,
    /// All edges of a state have the same marks.
    States,
}

/// Maximum number of edges of an automaton from which redundant marks are removed one by one.
const MAX_MARK_REMOVAL_EDGES: usize = 500;

impl Automaton {
    /// Returns the components of the graph that consists of the selected edges inside components.
    fn components_of_subgraph(&self, sccs: &Components, keep: impl Fn(&Edge) -> bool) -> Components {
        let mut graph: Vec<Vec<State>> = vec![Vec::new(); self.states() + 1];
        for (state, edges) in self.edges.iter().enumerate() {
            let inside = |edge: &&Edge| sccs.of[state] == sccs.of[edge.target as usize];
            graph[state]
                .extend(edges.iter().filter(inside).filter(|edge| keep(edge)).map(|edge| edge.target));
        }
        let all = self.states() as State;
        graph[all as usize].extend(0..all);
        components(graph.len(), all, |state| graph[state as usize].iter().copied())
    }

    /// Returns, for every edge, the sets that it can be added to, because no cycle through it avoids them.
    fn possible_marks(&self, sccs: &Components) -> Vec<Vec<Marks>> {
        let mut possible: Vec<Vec<Marks>> = self
            .edges
            .iter()
            .enumerate()
            .map(|(state, edges)| {
                let stays = |edge: &Edge| sccs.of[state] == sccs.of[edge.target as usize];
                edges.iter().map(|edge| if stays(edge) { edge.marks } else { self.all_marks() }).collect()
            })
            .collect();
        for set in 0..self.sets {
            let without = self.components_of_subgraph(sccs, |edge| edge.marks >> set & 1 == 0);
            for (state, edges) in self.edges.iter().enumerate() {
                for (at, edge) in edges.iter().enumerate() {
                    if without.of[state] != without.of[edge.target as usize] {
                        possible[state][at] |= 1 << set;
                    }
                }
            }
        }
        possible
    }

    /// Adds all marks that do not change the language, and removes those in rejecting components.
    pub(super) fn with_most_marks(&self, carrier: MarkCarrier) -> Automaton {
        let sccs = self.components();
        let accepting = self.accepting_components(&sccs);
        let possible = self.possible_marks(&sccs);
        let mut result = self.clone();
        for (state, edges) in result.edges.iter_mut().enumerate() {
            let Some(number) = sccs.of[state] else { continue };
            let common = possible[state].iter().fold(self.all_marks(), |all, marks| all & marks);
            let cycle = edges.iter().any(|edge| sccs.of[edge.target as usize] == Some(number));
            for (edge, possible) in edges.iter_mut().zip(&possible[state]) {
                let stays = sccs.of[edge.target as usize] == Some(number);
                edge.marks = match carrier {
                    MarkCarrier::Edges if stays && !accepting[number] => 0,
                    MarkCarrier::Edges => *possible,
                    MarkCarrier::States if cycle && !accepting[number] => 0,
                    MarkCarrier::States => common,
                };
            }
        }
        result
    }

    /// Removes marks until removing any single one would change the language.
    pub(super) fn with_fewest_marks(&self, carrier: MarkCarrier) -> Automaton {
        let sccs = self.components();
        let accepting = self.accepting_components(&sccs);
        let mut result = self.clone();
        for state in 0..self.states() {
            let Some(number) = sccs.of[state] else { continue };
            let stays = |edge: &Edge| sccs.of[edge.target as usize] == Some(number);
            let cycle = result.edges[state].iter().any(stays);
            for edge in &mut result.edges[state] {
                let is_irrelevant = match carrier {
                    MarkCarrier::Edges => !stays(edge),
                    MarkCarrier::States => !cycle,
                };
                if is_irrelevant || !accepting[number] {
                    edge.marks = 0;
                }
            }
        }
        if self.edge_count() > MAX_MARK_REMOVAL_EDGES {
            return result;
        }
        for set in 0..self.sets {
            for state in 0..self.states() {
                let units: Vec<Vec<usize>> = match carrier {
                    MarkCarrier::Edges => (0..self.edges[state].len()).map(|at| vec![at]).collect(),
                    MarkCarrier::States => vec![(0..self.edges[state].len()).collect()],
                };
                for unit in units {
                    result.unmark(&sccs, state, &unit, set);
                }
            }
        }
        result
    }

    /// Removes a set from some edges of a state, unless a cycle through one of them would then avoid the set.
    fn unmark(&mut self, sccs: &Components, state: usize, unit: &[usize], set: u32) {
        if !unit.iter().any(|at| self.edges[state][*at].marks >> set & 1 == 1) {
            return;
        }
        let previous = self.edges[state].clone();
        unit.iter().for_each(|at| self.edges[state][*at].marks &= !(1 << set));
        let without = self.components_of_subgraph(sccs, |edge| edge.marks >> set & 1 == 0);
        let missed = |at: &usize| {
            let target = self.edges[state][*at].target as usize;
            sccs.of[state] == sccs.of[target] && without.of[state] == without.of[target]
        };
        if unit.iter().any(missed) {
            self.edges[state] = previous;
        }
    }

    /// Reduces the number of acceptance sets to the maximum that a component needs. If this renumbers sets, each component
    /// numbers its own.
    pub(super) fn with_fewer_sets(&self) -> Automaton {
        let sccs = self.components();
        let accepting = self.accepting_components(&sccs);
        let mut needed: Vec<Vec<u32>> = Vec::with_capacity(accepting.len());
        // A rejecting component with cycles needs a set that its edges are not in.
        let mut least = 0;
        for (number, accepting) in accepting.iter().enumerate() {
            if *accepting {
                needed.push(self.needed_sets(&sccs, number));
            } else {
                let mut out = sccs.members[number].iter().flat_map(|state| &self.edges[*state as usize]);
                if out.any(|edge| sccs.of[edge.target as usize] == Some(number)) {
                    least = 1;
                }
                needed.push(Vec::new());
            }
        }
        let mut used: Vec<u32> = needed.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let sets = needed.iter().map(Vec::len).max().unwrap_or(0).max(least);
        // Common numbers make states of different components comparable, so sets are renumbered only if it saves some.
        let rename = used.len() > sets;
        let mut result = self.clone();
        result.sets = sets as u32;
        for (state, edges) in result.edges.iter_mut().enumerate() {
            let Some(number) = sccs.of[state] else { continue };
            for edge in edges.iter_mut() {
                if sccs.of[edge.target as usize] != Some(number) || !accepting[number] {
                    edge.marks = 0;
                    continue;
                }
                let old = edge.marks;
                let own = if rename { &needed[number] } else { &used };
                edge.marks = (0..sets)
                    .filter(|set| match own.get(*set) {
                        Some(set) if needed[number].contains(set) => old >> set & 1 == 1,
                        _ => true,
                    })
                    .fold(0, |marks, set| marks | 1 << set);
            }
        }
        result
    }

    /// Returns sets of an accepting component such that every cycle that meets them meets all other sets as well.
    fn needed_sets(&self, sccs: &Components, number: usize) -> Vec<u32> {
        let mut needed: Vec<u32> = (0..self.sets).collect();
        for set in (0..self.sets).rev() {
            let others = needed.iter().filter(|other| **other != set).fold(0, |all, other| all | 1 << other);
            let without = self.components_of_subgraph(sccs, |edge| edge.marks >> set & 1 == 0);
            // For each component without the set: the marks on its cycles, if it has any.
            let mut seen: Vec<Option<Marks>> = vec![None; without.members.len()];
            for state in &sccs.members[number] {
                for edge in &self.edges[*state as usize] {
                    let (from, to) = (without.of[*state as usize], without.of[edge.target as usize]);
                    if let Some(from) = from.filter(|from| Some(*from) == to && edge.marks >> set & 1 == 0) {
                        seen[from] = Some(seen[from].unwrap_or(0) | edge.marks);
                    }
                }
            }
            if !seen.iter().flatten().any(|marks| others & !marks == 0) {
                needed.retain(|other| *other != set);
            }
        }
        needed
    }
}
