//! Merging states.

use super::game::Relation;
use super::{Automaton, Edge, Marks, State};
use crate::TooLarge;
use crate::label::{Label, Labels};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Where an edge leads, and its marks.
type Way = (State, Marks);

/// All ways out of a state, with their letters.
type Signature = Vec<(Way, Label)>;

impl Automaton {
    /// The automaton in which each state stands for a class; it has the edges of all of them.
    pub(super) fn quotient(&self, class: &[State], labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut edges = vec![Vec::new(); class.iter().max().map_or(0, |last| *last as usize + 1)];
        for (state, out) in self.edges.iter().enumerate() {
            let here: &mut Vec<Edge> = &mut edges[class[state] as usize];
            here.extend(out.iter().map(|edge| Edge { target: class[edge.target as usize], ..edge.clone() }));
        }
        let merged = Automaton { initial: class[self.initial as usize], edges, sets: self.sets };
        merged.only(|_| true).merge_parallel(labels)
    }

    /// Merges states that are in the relation both ways.
    pub(super) fn merge_mutual(&self, relation: &Relation, labels: &Labels) -> Result<Automaton, TooLarge> {
        let class: Vec<State> = (0..self.states())
            .map(|state| (0..state).find(|other| relation.mutual(state, *other)).unwrap_or(state) as State)
            .collect();
        self.quotient(&class, labels)
    }

    /// Merges states with the same edges to the same classes of states: bisimulation.
    pub(super) fn merge_bisimilar(&self, labels: &Labels) -> Result<Automaton, TooLarge> {
        let mut before: Vec<Vec<State>> = vec![Vec::new(); self.states()];
        for (state, out) in self.edges.iter().enumerate() {
            for edge in out {
                before[edge.target as usize].push(state as State);
            }
        }
        let mut class: Vec<State> = vec![0; self.states()];
        let mut sizes = vec![self.states()];
        // States of which an edge may lead to another class than that of their like.
        let mut open: Vec<State> = (0..self.states() as State).collect();
        while !open.is_empty() {
            let mut parts: IndexMap<(State, Signature), Vec<State>, FxBuildHasher> = IndexMap::default();
            for state in open.drain(..) {
                let key = (class[state as usize], self.ways(state, &class, labels)?);
                parts.entry(key).or_default().push(state);
            }
            // A class whose states are all looked at keeps one of its parts: the largest.
            let mut looked_at: IndexMap<State, (usize, usize, usize), FxBuildHasher> = IndexMap::default();
            for (at, ((old, _), part)) in parts.iter().enumerate() {
                let (total, largest, place) = looked_at.entry(*old).or_insert((0, 0, 0));
                *total += part.len();
                if part.len() > *largest {
                    (*largest, *place) = (part.len(), at);
                }
            }
            for (at, ((old, _), part)) in parts.iter().enumerate() {
                let (total, _, place) = looked_at[old];
                if total == sizes[*old as usize] && place == at {
                    continue;
                }
                for state in part {
                    class[*state as usize] = sizes.len() as State;
                    open.extend(&before[*state as usize]);
                }
                sizes.push(part.len());
            }
            for (old, (total, largest, _)) in &looked_at {
                let old = *old as usize;
                sizes[old] = if *total == sizes[old] { *largest } else { sizes[old] - total };
            }
            open.sort_unstable();
            open.dedup();
        }
        self.quotient(&class, labels)
    }

    /// What a state can do, as far as classes tell.
    fn ways(&self, state: State, class: &[State], labels: &Labels) -> Result<Signature, TooLarge> {
        let mut ways: IndexMap<Way, Label, FxBuildHasher> = IndexMap::default();
        for edge in &self.edges[state as usize] {
            let way =
                ways.entry((class[edge.target as usize], edge.marks)).or_insert_with(|| labels.bottom());
            *way = labels.or(way, &edge.label)?;
        }
        ways.sort_unstable_keys();
        Ok(ways.into_iter().collect())
    }
}
