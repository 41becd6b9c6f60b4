//! Which marks matter: only those on cycles, and only as far as they tell accepting cycles from others.

use super::scc::{Components, components};
use super::{Automaton, Edge, Marks, State};

/// What has marks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Every edge.
    Edges,
    /// Every state: its edges have the same marks.
    States,
}

/// The trouble of finding out which marks are needed, one by one, is taken up to so many edges.
const FEW_EDGES: usize = 500;

impl Automaton {
    /// The components of the graph that some of the edges inside components make.
    fn cores(&self, found: &Components, keep: impl Fn(&Edge) -> bool) -> Components {
        let mut graph: Vec<Vec<State>> = vec![Vec::new(); self.states() + 1];
        for (state, edges) in self.edges.iter().enumerate() {
            let inside = |edge: &&Edge| found.of[state] == found.of[edge.target as usize];
            graph[state]
                .extend(edges.iter().filter(inside).filter(|edge| keep(edge)).map(|edge| edge.target));
        }
        let all = self.states() as State;
        graph[all as usize].extend(0..all);
        components(graph.len(), all, |state| graph[state as usize].iter().copied())
    }

    /// For every edge, the sets that it could be added to: no cycle with it misses them.
    fn possible_marks(&self, found: &Components) -> Vec<Vec<Marks>> {
        let mut possible: Vec<Vec<Marks>> = self
            .edges
            .iter()
            .enumerate()
            .map(|(state, edges)| {
                let stays = |edge: &Edge| found.of[state] == found.of[edge.target as usize];
                edges.iter().map(|edge| if stays(edge) { edge.marks } else { self.all_marks() }).collect()
            })
            .collect();
        for set in 0..self.sets {
            let without = self.cores(found, |edge| edge.marks >> set & 1 == 0);
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

    /// All marks that can be added without a change of the language. Where nothing is accepted there are none.
    pub(super) fn with_most_marks(&self, place: Place) -> Automaton {
        let found = self.components();
        let accepting = self.accepting(&found);
        let possible = self.possible_marks(&found);
        let mut result = self.clone();
        for (state, edges) in result.edges.iter_mut().enumerate() {
            let Some(number) = found.of[state] else { continue };
            let common = possible[state].iter().fold(self.all_marks(), |all, marks| all & marks);
            let cycle = edges.iter().any(|edge| found.of[edge.target as usize] == Some(number));
            for (edge, possible) in edges.iter_mut().zip(&possible[state]) {
                let stays = found.of[edge.target as usize] == Some(number);
                edge.marks = match place {
                    Place::Edges if stays && !accepting[number] => 0,
                    Place::Edges => *possible,
                    Place::States if cycle && !accepting[number] => 0,
                    Place::States => common,
                };
            }
        }
        result
    }

    /// As few marks as one can do with: none is left that could be taken away alone.
    pub(super) fn with_fewest_marks(&self, place: Place) -> Automaton {
        let found = self.components();
        let accepting = self.accepting(&found);
        let mut result = self.clone();
        for state in 0..self.states() {
            let Some(number) = found.of[state] else { continue };
            let stays = |edge: &Edge| found.of[edge.target as usize] == Some(number);
            let cycle = result.edges[state].iter().any(stays);
            for edge in &mut result.edges[state] {
                let idle = match place {
                    Place::Edges => !stays(edge),
                    Place::States => !cycle,
                };
                if idle || !accepting[number] {
                    edge.marks = 0;
                }
            }
        }
        if self.edge_count() > FEW_EDGES {
            return result;
        }
        for set in 0..self.sets {
            for state in 0..self.states() {
                let units: Vec<Vec<usize>> = match place {
                    Place::Edges => (0..self.edges[state].len()).map(|at| vec![at]).collect(),
                    Place::States => vec![(0..self.edges[state].len()).collect()],
                };
                for unit in units {
                    result.unmark(&found, state, &unit, set);
                }
            }
        }
        result
    }

    /// Takes a set from some edges of a state, unless there is then a cycle with one of them that misses it.
    fn unmark(&mut self, found: &Components, state: usize, unit: &[usize], set: u32) {
        if !unit.iter().any(|at| self.edges[state][*at].marks >> set & 1 == 1) {
            return;
        }
        let before = self.edges[state].clone();
        unit.iter().for_each(|at| self.edges[state][*at].marks &= !(1 << set));
        let without = self.cores(found, |edge| edge.marks >> set & 1 == 0);
        let missed = |at: &usize| {
            let target = self.edges[state][*at].target as usize;
            found.of[state] == found.of[target] && without.of[state] == without.of[target]
        };
        if unit.iter().any(missed) {
            self.edges[state] = before;
        }
    }

    /// Fewer acceptance sets where each component can do with fewer; its sets are then numbered for itself.
    pub(super) fn with_few_sets(&self) -> Automaton {
        let found = self.components();
        let accepting = self.accepting(&found);
        let mut needed: Vec<Vec<u32>> = Vec::with_capacity(accepting.len());
        // A component with cycles of which none is accepting needs a set that it is not in.
        let mut least = 0;
        for (number, accepting) in accepting.iter().enumerate() {
            if *accepting {
                needed.push(self.needed_sets(&found, number));
            } else {
                let mut out = found.members[number].iter().flat_map(|state| &self.edges[*state as usize]);
                if out.any(|edge| found.of[edge.target as usize] == Some(number)) {
                    least = 1;
                }
                needed.push(Vec::new());
            }
        }
        let mut used: Vec<u32> = needed.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let sets = needed.iter().map(Vec::len).max().unwrap_or(0).max(least);
        // The same numbers everywhere are better for comparing states, if they cost nothing.
        let rename = used.len() > sets;
        let mut result = self.clone();
        result.sets = sets as u32;
        for (state, edges) in result.edges.iter_mut().enumerate() {
            let Some(number) = found.of[state] else { continue };
            for edge in edges.iter_mut() {
                if found.of[edge.target as usize] != Some(number) || !accepting[number] {
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

    /// Sets of an accepting component such that a cycle with all of them has all others, too.
    fn needed_sets(&self, found: &Components, number: usize) -> Vec<u32> {
        let mut needed: Vec<u32> = (0..self.sets).collect();
        for set in (0..self.sets).rev() {
            let others = needed.iter().filter(|other| **other != set).fold(0, |all, other| all | 1 << other);
            let without = self.cores(found, |edge| edge.marks >> set & 1 == 0);
            // Per component of what misses the set: whether it has a cycle, and the marks on its cycles.
            let mut seen: Vec<Option<Marks>> = vec![None; without.members.len()];
            for state in &found.members[number] {
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
