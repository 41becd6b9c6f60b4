//! Filter on a sending component: which observations can matter.

use super::classes::{Cofactors, ObservationClasses};
use crate::system::PropositionId;
use invigil_ltl::moore::{Moore, Truth};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Maximum number of distinguished state sets; further sets count as the set of all states.
const MAX_SETS: usize = 256;

/// Classifies the observations of a component and drops those that cannot matter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ObservationFilter {
    classes: ObservationClasses,
    /// Number of its first class.
    first: u32,
    /// Bytes of a class number.
    bytes: usize,
    /// Sets of states in which the automaton can be, as far as the component can know, by index: whether one of them
    /// depends on the component, and the set that follows each class and an unknown one. Empty if the component always
    /// sends.
    state_sets: Vec<(bool, Vec<u32>)>,
}

impl ObservationFilter {
    pub(super) fn new(
        moore: &Moore<Truth>,
        classes: ObservationClasses,
        cofactors: &Cofactors,
        first: u32,
        bytes: usize,
    ) -> ObservationFilter {
        let state_sets =
            if cofactors.is_empty() { Vec::new() } else { StateSets::new(moore, cofactors).all() };
        ObservationFilter { classes, first, bytes, state_sets }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Processes an observation. Returns the number of its class if it can matter and is complete.
    pub(super) fn step(&self, state_set: &mut u32, seen: &[(PropositionId, bool)]) -> Option<u32> {
        let class = self.classes.class(seen);
        let Some((is_relevant, next)) = self.state_sets.get(*state_set as usize) else {
            return Some(self.first + class?);
        };
        let next_set = class.map_or_else(|| next.last(), |class| next.get(class as usize));
        *state_set = *next_set?;
        class.filter(|_| *is_relevant).map(|class| self.first + class)
    }
}

/// Construction of the state sets.
struct StateSets<'a> {
    moore: &'a Moore<Truth>,
    cofactors: &'a Cofactors,
    /// For each state: index of its first edge among all edges, and whether it depends on the component.
    first_edges: Vec<(usize, bool)>,
    /// The sets, each sorted; the second is the set of all states.
    sets: Vec<Vec<u32>>,
    known: FxHashMap<Vec<u32>, u32>,
}

impl<'a> StateSets<'a> {
    fn new(moore: &'a Moore<Truth>, cofactors: &'a Cofactors) -> StateSets<'a> {
        let mut start = 0;
        let first_edges = moore.edges.iter().map(|edges| {
            let own = start..start + edges.len();
            start = own.end;
            (own.start, cofactors.iter().any(|class| class[own.clone()] != cofactors[0][own.clone()]))
        });
        StateSets {
            moore,
            cofactors,
            first_edges: first_edges.collect(),
            sets: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    /// Computes all sets that are reachable from the initial state. Sets beyond the limit are replaced by the set of
    /// all states.
    fn all(mut self) -> Vec<(bool, Vec<u32>)> {
        self.intern(vec![self.moore.initial]);
        let all = self.intern((0..self.moore.states() as u32).collect());
        let mut state_sets = Vec::new();
        while let Some(set) = self.sets.get(state_sets.len()).cloned() {
            let is_relevant = set.iter().any(|state| self.first_edges[*state as usize].1);
            let mut next = Vec::with_capacity(self.cofactors.len() + 1);
            let mut any = Vec::new();
            for class in 0..self.cofactors.len() {
                let successors = self.successors(&set, class);
                any.extend_from_slice(&successors);
                next.push(successors);
            }
            any.sort_unstable();
            any.dedup();
            next.push(any);
            let next = next.into_iter().map(|set| if self.is_full(&set) { all } else { self.intern(set) });
            state_sets.push((is_relevant, next.collect()));
        }
        state_sets
    }

    fn is_full(&self, set: &[u32]) -> bool {
        self.sets.len() >= MAX_SETS && !self.known.contains_key(set)
    }

    fn intern(&mut self, set: Vec<u32>) -> u32 {
        let next = self.sets.len() as u32;
        *self.known.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        })
    }

    /// Returns the possible states after a letter of a class.
    fn successors(&self, set: &[u32], class: usize) -> Vec<u32> {
        let mut successors = Vec::new();
        for state in set {
            let (start, _) = self.first_edges[*state as usize];
            let edges = self.moore.edges[*state as usize].iter().zip(&self.cofactors[class][start..]);
            successors.extend(edges.filter(|(_, cofactor)| !cofactor.is_false()).map(|((_, to), _)| *to));
        }
        successors.sort_unstable();
        successors.dedup();
        successors
    }
}
