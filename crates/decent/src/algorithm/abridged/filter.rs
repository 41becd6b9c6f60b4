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
    places: Vec<(bool, Vec<u32>)>,
}

impl ObservationFilter {
    pub(super) fn new(
        moore: &Moore<Truth>,
        classes: ObservationClasses,
        cofactors: &Cofactors,
        first: u32,
        bytes: usize,
    ) -> ObservationFilter {
        let places = if cofactors.is_empty() { Vec::new() } else { StateSets::new(moore, cofactors).all() };
        ObservationFilter { classes, first, bytes, places }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Processes an observation. Returns the number of its class if it can matter and is complete.
    pub(super) fn step(&self, place: &mut u32, seen: &[(PropositionId, bool)]) -> Option<u32> {
        let class = self.classes.class(seen);
        let Some((matters, next)) = self.places.get(*place as usize) else {
            return Some(self.first + class?);
        };
        let follows = class.map_or_else(|| next.last(), |class| next.get(class as usize));
        *place = *follows?;
        class.filter(|_| *matters).map(|class| self.first + class)
    }
}

/// Construction of the state sets.
struct StateSets<'a> {
    moore: &'a Moore<Truth>,
    cofactors: &'a Cofactors,
    /// For each state: index of its first edge among all edges, and whether it depends on the component.
    begins: Vec<(usize, bool)>,
    /// The sets, each sorted; the second is the set of all states.
    sets: Vec<Vec<u32>>,
    known: FxHashMap<Vec<u32>, u32>,
}

impl<'a> StateSets<'a> {
    fn new(moore: &'a Moore<Truth>, cofactors: &'a Cofactors) -> StateSets<'a> {
        let mut begin = 0;
        let begins = moore.edges.iter().map(|edges| {
            let own = begin..begin + edges.len();
            begin = own.end;
            (own.start, cofactors.iter().any(|class| class[own.clone()] != cofactors[0][own.clone()]))
        });
        StateSets {
            moore,
            cofactors,
            begins: begins.collect(),
            sets: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    /// Computes all sets that are reachable from the initial state. Sets beyond the limit are replaced by the set of
    /// all states.
    fn all(mut self) -> Vec<(bool, Vec<u32>)> {
        self.place(vec![self.moore.initial]);
        let all = self.place((0..self.moore.states() as u32).collect());
        let mut places = Vec::new();
        while let Some(set) = self.sets.get(places.len()).cloned() {
            let matters = set.iter().any(|state| self.begins[*state as usize].1);
            let mut next = Vec::with_capacity(self.cofactors.len() + 1);
            let mut any = Vec::new();
            for class in 0..self.cofactors.len() {
                let follow = self.follow(&set, class);
                any.extend_from_slice(&follow);
                next.push(follow);
            }
            any.sort_unstable();
            any.dedup();
            next.push(any);
            let next = next.into_iter().map(|set| if self.is_full(&set) { all } else { self.place(set) });
            places.push((matters, next.collect()));
        }
        places
    }

    fn is_full(&self, set: &[u32]) -> bool {
        self.sets.len() >= MAX_SETS && !self.known.contains_key(set)
    }

    fn place(&mut self, set: Vec<u32>) -> u32 {
        let next = self.sets.len() as u32;
        *self.known.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        })
    }

    /// Returns the possible states after a letter of a class.
    fn follow(&self, set: &[u32], class: usize) -> Vec<u32> {
        let mut follow = Vec::new();
        for state in set {
            let (begin, _) = self.begins[*state as usize];
            let edges = self.moore.edges[*state as usize].iter().zip(&self.cofactors[class][begin..]);
            follow.extend(edges.filter(|(_, cofactor)| !cofactor.is_false()).map(|((_, to), _)| *to));
        }
        follow.sort_unstable();
        follow.dedup();
        follow
    }
}
