//! Deterministic automata: whether one is, and the subset construction.

use super::game::Relation;
use super::{Automaton, Edge, State};
use crate::TooLarge;
use crate::label::{Label, Labels};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// Edges that the subset construction looks at.
const EFFORT: usize = 1 << 17;

impl Automaton {
    /// Whether no two edges of a state have a letter in common.
    ///
    /// # Errors
    /// If there is no room for labels, here as below.
    pub fn is_deterministic(&self, labels: &Labels) -> Result<bool, TooLarge> {
        for edges in &self.edges {
            let mut seen = labels.bottom();
            for edge in edges {
                if labels.meet(&seen, &edge.label)? {
                    return Ok(false);
                }
                seen = labels.or(&seen, &edge.label)?;
            }
        }
        Ok(true)
    }

    /// Whether each state has an edge for every letter.
    ///
    /// # Errors
    /// If there is no room for labels.
    pub fn is_complete(&self, labels: &Labels) -> Result<bool, TooLarge> {
        for edges in &self.edges {
            if !missing(edges, labels)?.is_false() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same language, with an edge for every letter: those that are missing lead to a state from which
    /// nothing is accepted.
    ///
    /// # Errors
    /// If there is no room for labels.
    pub fn complete(&self, labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut result = self.clone();
        // Without sets, the runs that stay in the new state would be accepting.
        if result.sets == 0 {
            result.sets = 1;
            result.edges.iter_mut().flatten().for_each(|edge| edge.marks = 1);
        }
        let sink = self.states() as State;
        let lost = |label: Label| Edge { label, marks: 0, target: sink };
        let mut needed = false;
        for edges in &mut result.edges {
            let missing = missing(edges, labels)?;
            if !missing.is_false() {
                // If marks belong to states, this edge has those of its state.
                let marks = edges.first().map_or(0, |first| first.marks);
                let same = edges.iter().all(|edge| edge.marks == marks);
                edges.push(Edge { marks: if same { marks } else { 0 }, ..lost(missing) });
                needed = true;
            }
        }
        if needed {
            result.edges.push(vec![lost(labels.top())]);
        }
        Ok(result)
    }

    /// The deterministic, complete automaton (without sets) that keeps track of all states in which a run can
    /// be. States that another one of the same set simulates are left out. None if there would be more than
    /// `limit` states, or too many edges to look at.
    pub(super) fn subsets(
        &self,
        simulation: Option<&Relation>,
        labels: &Labels,
        limit: usize,
    ) -> Result<Option<Automaton>, TooLarge> {
        let mut known: IndexSet<Vec<State>, FxBuildHasher> = [vec![self.initial]].into_iter().collect();
        let (mut edges, mut effort) = (Vec::new(), 0);
        while let Some(set) = known.get_index(edges.len()) {
            effort += set.iter().map(|state| self.edges[*state as usize].len()).sum::<usize>();
            if effort > EFFORT {
                return Ok(None);
            }
            let mut ways: IndexMap<State, Label, FxBuildHasher> = IndexMap::default();
            for edge in set.iter().flat_map(|state| &self.edges[*state as usize]) {
                let way = ways.entry(edge.target).or_insert_with(|| labels.bottom());
                *way = labels.or(way, &edge.label)?;
            }
            let mut parts = vec![(labels.top(), Vec::new())];
            for (target, label) in &ways {
                for at in 0..parts.len() {
                    let inside = labels.and(&parts[at].0, label)?;
                    if inside.is_false() {
                        continue;
                    }
                    let mut more = parts[at].1.clone();
                    more.push(*target);
                    let rest = labels.minus(&parts[at].0, label)?;
                    if rest.is_false() {
                        parts[at].1 = more;
                    } else {
                        parts[at].0 = rest;
                        parts.push((inside, more));
                    }
                }
                if parts.len() > limit {
                    return Ok(None);
                }
            }
            let mut out: IndexMap<State, Label, FxBuildHasher> = IndexMap::default();
            for (label, mut set) in parts {
                set.sort_unstable();
                if let Some(simulation) = simulation {
                    set = best(&set, simulation);
                }
                let target = known.insert_full(set).0 as State;
                let way = out.entry(target).or_insert_with(|| labels.bottom());
                *way = labels.or(way, &label)?;
            }
            edges.push(out.into_iter().map(|(target, label)| Edge { label, marks: 0, target }).collect());
            if known.len() > limit {
                return Ok(None);
            }
        }
        Ok(Some(Automaton { initial: 0, edges, sets: 0 }))
    }
}

/// The letters for which there is no edge.
fn missing(edges: &[Edge], labels: &Labels) -> Result<Label, TooLarge> {
    let mut rest = labels.top();
    for edge in edges {
        rest = labels.minus(&rest, &edge.label)?;
    }
    Ok(rest)
}

/// The states that no other one simulates; of those that simulate each other, the first.
fn best(set: &[State], simulation: &Relation) -> Vec<State> {
    let has = |one: State, other: State| simulation.has(one as usize, other as usize);
    let wins = |other: State, one: State| has(one, other) && (other < one || !has(other, one));
    set.iter().copied().filter(|one| !set.iter().any(|other| other != one && wins(*other, *one))).collect()
}
