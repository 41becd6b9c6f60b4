//! Taking away edges beside which there is a better one.

use super::game::Relation;
use super::trim::FEW_EDGES;
use super::{Automaton, Edge, State};
use crate::TooLarge;
use crate::label::Labels;

impl Automaton {
    /// Takes from every edge the letters at which a better edge leaves the same state: with its marks at
    /// least, and to a state that simulates its target.
    pub(super) fn prune_targets(
        &self,
        simulation: &Relation,
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

    /// Takes from every edge the letters at which a better edge leads to the same state: with its marks at
    /// least, and from a state that simulates its source backwards.
    pub(super) fn prune_sources(&self, reverse: &Relation, labels: &Labels) -> Result<Automaton, TooLarge> {
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

    /// Takes from every edge the letters of those in its group that are better. Of two that are as good as
    /// each other the first stays.
    fn prune(
        &self,
        groups: Vec<Vec<(usize, usize)>>,
        labels: &Labels,
        better: impl Fn((usize, usize), (usize, usize)) -> bool,
    ) -> Result<Automaton, TooLarge> {
        let mut pruned = self.clone();
        for group in groups.into_iter().filter(|group| group.len() <= FEW_EDGES) {
            for (place, one) in group.iter().enumerate() {
                for (other_place, other) in group.iter().enumerate() {
                    let wins = place != other_place
                        && better(*one, *other)
                        && (other_place < place || !better(*other, *one));
                    if wins {
                        let edge = &mut pruned.edges[one.0][one.1];
                        edge.label = labels.minus(&edge.label, &self.edges[other.0][other.1].label)?;
                    }
                }
            }
        }
        Ok(pruned)
    }

    /// Uses what is known of the languages of states (the second of a pair accepts what the first accepts) to
    /// lead runs away for good: an edge is not needed where another one leads to a larger language from which
    /// there is no way back; and no state is needed for whose language there is another that does not lead to
    /// it.
    ///
    /// A run is led away at most as often as there are components, so what it does for ever is not touched.
    pub(super) fn lead_away(&self, included: &Relation, labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut result = self.clone();
        let mut reaches = result.reachability();
        let mut gone = vec![false; self.states()];
        for state in 0..self.states() {
            let stands_in = (0..self.states()).find(|other| {
                *other != state && !gone[*other] && included.mutual(state, *other) && !reaches[*other][state]
            });
            if let Some(other) = stands_in {
                gone[state] = true;
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

    /// Leads all edges, and the beginning, from one state to another.
    pub(super) fn redirect(&mut self, from: State, to: State) {
        let moved = |state: &mut State| {
            if *state == from {
                *state = to;
            }
        };
        self.edges.iter_mut().flatten().for_each(|edge: &mut Edge| moved(&mut edge.target));
        moved(&mut self.initial);
    }

    /// Which states each state reaches by one edge or more.
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
