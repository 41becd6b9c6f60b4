//! Pruning: removal of edges that a better edge makes redundant.

use super::game::StateRelation;
use super::trim::MAX_PAIRWISE_EDGES;
use super::{Automaton, Edge, State};
use crate::TooLarge;
use crate::label::Labels;

impl Automaton {
    /// Removes from every edge the letters of better edges of the same state: edges with at least its marks, to a state that
    /// simulates its target.
    pub(super) fn prune_targets(
        &self,
        simulation: &StateRelation,
        labels: &Labels,
    ) -> Result<Automaton, TooLarge> {
        let groups =
            (0..self.states()).map(|from| (0..self.edges[from].len()).map(|at| (from, at)).collect());
        let state = |(from, at): (usize, usize)| self.edges[from][at].target as usize;
        self.prune(groups.collect(), labels, |one, other| {
            let (fewer, more) = (self.edges[one.0][one.1].marks, self.edges[other.0][other.1].marks);
            fewer & !more == 0 && simulation.has(state(one), state(other))
        })
    }

    /// Removes from every edge the letters of better edges to the same state: edges with at least its marks, from a state
    /// that simulates its source backwards.
    pub(super) fn prune_sources(
        &self,
        reverse: &StateRelation,
        labels: &Labels,
    ) -> Result<Automaton, TooLarge> {
        let mut groups = vec![Vec::new(); self.states()];
        for (from, edges) in self.edges.iter().enumerate() {
            for (at, edge) in edges.iter().enumerate() {
                groups[edge.target as usize].push((from, at));
            }
        }
        self.prune(groups, labels, |one, other| {
            let (fewer, more) = (self.edges[one.0][one.1].marks, self.edges[other.0][other.1].marks);
            fewer & !more == 0 && reverse.has(one.0, other.0)
        })
    }

    /// Removes from every edge the letters of better edges in its group. Of equally good edges the first stays.
    fn prune(
        &self,
        groups: Vec<Vec<(usize, usize)>>,
        labels: &Labels,
        better: impl Fn((usize, usize), (usize, usize)) -> bool,
    ) -> Result<Automaton, TooLarge> {
        let mut pruned = self.clone();
        for group in groups.into_iter().filter(|group| group.len() <= MAX_PAIRWISE_EDGES) {
            for (index, one) in group.iter().enumerate() {
                for (other_index, other) in group.iter().enumerate() {
                    let is_dominated = index != other_index
                        && better(*one, *other)
                        && (other_index < index || !better(*other, *one));
                    if is_dominated {
                        let edge = &mut pruned.edges[one.0][one.1];
                        edge.label = labels.minus(&edge.label, &self.edges[other.0][other.1].label)?;
                    }
                }
            }
        }
        Ok(pruned)
    }

    /// Redirects runs by language inclusion: the second state of a pair in `included` accepts all words of the first.
    ///
    /// An edge is redundant if another one leads to a larger language that cannot return. A state is redundant if some
    /// state with the same language does not reach it. Either way a run is redirected at most once per component, so its
    /// acceptance does not change.
    pub(super) fn redirect_by_inclusion(
        &self,
        included: &StateRelation,
        labels: &Labels,
    ) -> Result<Automaton, TooLarge> {
        let mut result = self.clone();
        let mut reaches = result.reachability();
        let mut removed = vec![false; self.states()];
        for state in 0..self.states() {
            let substitute = (0..self.states()).find(|other| {
                *other != state
                    && !removed[*other]
                    && included.is_mutual(state, *other)
                    && !reaches[*other][state]
            });
            if let Some(other) = substitute {
                removed[state] = true;
                result.redirect(state as State, other as State);
                reaches = result.reachability();
            }
        }
        let groups = (0..self.states())
            .map(|from| (0..result.edges[from].len()).map(|at| (from, at)).collect())
            .collect();
        let state = |(from, at): (usize, usize)| result.edges[from][at].target as usize;
        result.prune(groups, labels, |one, other| {
            included.has(state(one), state(other)) && !reaches[state(other)][other.0]
        })
    }

    /// Redirects all edges to a state, and the start of runs, to another state.
    pub(super) fn redirect(&mut self, from: State, to: State) {
        let moved = |state: &mut State| {
            if *state == from {
                *state = to;
            }
        };
        self.edges.iter_mut().flatten().for_each(|edge: &mut Edge| moved(&mut edge.target));
        moved(&mut self.initial);
    }

    /// Returns, for each state, the states that it reaches by at least one edge.
    fn reachability(&self) -> Vec<Vec<bool>> {
        let reach = |from: usize| {
            let (mut seen, mut open) = (vec![false; self.states()], vec![from]);
            while let Some(state) = open.pop() {
                for edge in &self.edges[state] {
                    if !std::mem::replace(&mut seen[edge.target as usize], true) {
                        open.push(edge.target as usize);
                    }
                }
            }
            seen
        };
        (0..self.states()).map(reach).collect()
    }
}
