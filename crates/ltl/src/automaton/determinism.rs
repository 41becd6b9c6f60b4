//! Determinism and completeness, and the subset construction.

use super::game::StateRelation;
use super::{Automaton, Edge, State};
use crate::TooLarge;
use crate::label::{Label, Labels};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// Maximum number of edges that the subset construction visits.
const MAX_EFFORT: usize = 1 << 17;

impl Automaton {
    /// Whether no two edges of a state have a letter in common.
    ///
    /// # Errors
    /// Fails if the labels outgrow the budget.
    pub fn is_deterministic(&self, labels: &Labels) -> Result<bool, TooLarge> {
        for edges in &self.edges {
            let mut seen = labels.bottom();
            for edge in edges {
                if labels.intersects(&seen, &edge.label)? {
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
    /// Fails if the labels outgrow the budget.
    pub fn is_complete(&self, labels: &Labels) -> Result<bool, TooLarge> {
        for edges in &self.edges {
            if !missing_letters(edges, labels)?.is_false() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Completes the automaton: missing edges lead to a rejecting sink.
    ///
    /// # Errors
    /// Fails if the labels outgrow the budget.
    pub fn complete(&self, labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut result = self.clone();
        // Without acceptance sets, runs that stay in the sink would be accepting.
        if result.sets == 0 {
            result.sets = 1;
            result.edges.iter_mut().flatten().for_each(|edge| edge.marks = 1);
        }
        let sink = self.states() as State;
        let into_sink = |label: Label| Edge { label, marks: 0, target: sink };
        let mut needed = false;
        for edges in &mut result.edges {
            let missing = missing_letters(edges, labels)?;
            if !missing.is_false() {
                // A state-based automaton stays state-based.
                let marks = edges.first().map_or(0, |first| first.marks);
                let same = edges.iter().all(|edge| edge.marks == marks);
                edges.push(Edge { marks: if same { marks } else { 0 }, ..into_sink(missing) });
                needed = true;
            }
        }
        if needed {
            result.edges.push(vec![into_sink(labels.top())]);
        }
        Ok(result)
    }

    /// Builds the deterministic, complete automaton, without acceptance sets, that tracks the set of states that runs can be
    /// in. States that another state of the set simulates are dropped. `None` if it has more than `limit` states or costs
    /// too much.
    pub(super) fn subset_construction(
        &self,
        simulation: Option<&StateRelation>,
        labels: &Labels,
        limit: usize,
    ) -> Result<Option<Automaton>, TooLarge> {
        let mut known: IndexSet<Vec<State>, FxBuildHasher> = [vec![self.initial]].into_iter().collect();
        let (mut edges, mut effort) = (Vec::new(), 0);
        while let Some(set) = known.get_index(edges.len()) {
            effort += set.iter().map(|state| self.edges[*state as usize].len()).sum::<usize>();
            if effort > MAX_EFFORT {
                return Ok(None);
            }
            let mut by_target: IndexMap<State, Label, FxBuildHasher> = IndexMap::default();
            for edge in set.iter().flat_map(|state| &self.edges[*state as usize]) {
                let letters = by_target.entry(edge.target).or_insert_with(|| labels.bottom());
                *letters = labels.or(letters, &edge.label)?;
            }
            let mut parts = vec![(labels.top(), Vec::new())];
            for (target, label) in &by_target {
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
                    set = maximal_states(&set, simulation);
                }
                let target = known.insert_full(set).0 as State;
                let letters = out.entry(target).or_insert_with(|| labels.bottom());
                *letters = labels.or(letters, &label)?;
            }
            edges.push(out.into_iter().map(|(target, label)| Edge { label, marks: 0, target }).collect());
            if known.len() > limit {
                return Ok(None);
            }
        }
        Ok(Some(Automaton { initial: 0, edges, sets: 0 }))
    }
}

/// Returns the letters without an edge.
fn missing_letters(edges: &[Edge], labels: &Labels) -> Result<Label, TooLarge> {
    let mut rest = labels.top();
    for edge in edges {
        rest = labels.minus(&rest, &edge.label)?;
    }
    Ok(rest)
}

/// Returns the states that no other state simulates; of equivalent states, the first.
fn maximal_states(set: &[State], simulation: &StateRelation) -> Vec<State> {
    let has = |one: State, other: State| simulation.has(one as usize, other as usize);
    let beats = |other: State, one: State| has(one, other) && (other < one || !has(other, one));
    set.iter().copied().filter(|one| !set.iter().any(|other| other != one && beats(*other, *one))).collect()
}
