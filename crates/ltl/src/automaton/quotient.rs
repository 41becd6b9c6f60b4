//! Quotients: merging of states.

use super::game::StateRelation;
use super::{Automaton, Edge, Marks, State};
use crate::TooLarge;
use crate::label::{Label, Labels};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Target class and marks of an edge.
type Step = (State, Marks);

/// All steps of a state, with their letters.
type Signature = Vec<(Step, Label)>;

impl Automaton {
    /// Returns the automaton whose states are the classes, with the edges of all their members.
    pub(super) fn quotient(&self, class: &[State], labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut edges = vec![Vec::new(); class.iter().max().map_or(0, |last| *last as usize + 1)];
        for (state, out) in self.edges.iter().enumerate() {
            let class_edges: &mut Vec<Edge> = &mut edges[class[state] as usize];
            class_edges
                .extend(out.iter().map(|edge| Edge { target: class[edge.target as usize], ..edge.clone() }));
        }
        let merged = Automaton { initial: class[self.initial as usize], edges, sets: self.sets };
        merged.restricted_to(|_| true).merge_parallel(labels)
    }

    /// Merges states that are related in both directions.
    pub(super) fn merge_equivalent(
        &self,
        relation: &StateRelation,
        labels: &Labels,
    ) -> Result<Automaton, TooLarge> {
        let class: Vec<State> = (0..self.states())
            .map(|state| (0..state).find(|other| relation.is_mutual(state, *other)).unwrap_or(state) as State)
            .collect();
        self.quotient(&class, labels)
    }

    /// Merges bisimilar states, by partition refinement.
    pub(super) fn merge_bisimilar(&self, labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut predecessors: Vec<Vec<State>> = vec![Vec::new(); self.states()];
        for (state, out) in self.edges.iter().enumerate() {
            for edge in out {
                predecessors[edge.target as usize].push(state as State);
            }
        }
        let mut class: Vec<State> = vec![0; self.states()];
        let mut sizes = vec![self.states()];
        // States whose signature may differ from that of others in their class.
        let mut open: Vec<State> = (0..self.states() as State).collect();
        while !open.is_empty() {
            let mut parts: IndexMap<(State, Signature), Vec<State>, FxBuildHasher> = IndexMap::default();
            for state in open.drain(..) {
                let key = (class[state as usize], self.signature(state, &class, labels)?);
                parts.entry(key).or_default().push(state);
            }
            // A class whose states are all open keeps its number for the largest part.
            let mut open_parts: IndexMap<State, (usize, usize, usize), FxBuildHasher> = IndexMap::default();
            for (at, ((old, _), part)) in parts.iter().enumerate() {
                let (total, largest, index) = open_parts.entry(*old).or_insert((0, 0, 0));
                *total += part.len();
                if part.len() > *largest {
                    (*largest, *index) = (part.len(), at);
                }
            }
            for (at, ((old, _), part)) in parts.iter().enumerate() {
                let (total, _, index) = open_parts[old];
                if total == sizes[*old as usize] && index == at {
                    continue;
                }
                for state in part {
                    class[*state as usize] = sizes.len() as State;
                    open.extend(&predecessors[*state as usize]);
                }
                sizes.push(part.len());
            }
            for (old, (total, largest, _)) in &open_parts {
                let old = *old as usize;
                sizes[old] = if *total == sizes[old] { *largest } else { sizes[old] - total };
            }
            open.sort_unstable();
            open.dedup();
        }
        self.quotient(&class, labels)
    }

    /// Returns the signature of a state.
    fn signature(&self, state: State, class: &[State], labels: &Labels) -> Result<Signature, TooLarge> {
        let mut steps: IndexMap<Step, Label, FxBuildHasher> = IndexMap::default();
        for edge in &self.edges[state as usize] {
            let letters =
                steps.entry((class[edge.target as usize], edge.marks)).or_insert_with(|| labels.bottom());
            *letters = labels.or(letters, &edge.label)?;
        }
        steps.sort_unstable_keys();
        Ok(steps.into_iter().collect())
    }
}
