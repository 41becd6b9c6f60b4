//! A component that sends what can matter.

use super::kinds::{Kinds, Left};
use crate::system::PropositionId;
use invigil_ltl::moore::{Moore, Truth};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// More sets of possible states than this are not told apart: what is beyond counts as all.
const MANY: usize = 256;

/// How a component finds the kinds of its observations, and when they can matter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Watch {
    kinds: Kinds,
    /// Its first kind has this number.
    first: u32,
    /// How many bytes a number takes.
    bytes: usize,
    /// Sets of states in which the automaton can be, as far as the component can tell, by their places: whether one of
    /// them looks at the component, and the place that follows each kind, and an unknown one. Beyond, it always speaks.
    places: Vec<(bool, Vec<u32>)>,
}

impl Watch {
    pub(super) fn new(moore: &Moore<Truth>, kinds: Kinds, left: &Left, first: u32, bytes: usize) -> Watch {
        let places = if left.is_empty() { Vec::new() } else { Places::new(moore, left).all() };
        Watch { kinds, first, bytes, places }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Goes on with an observation. Gives the number of its kind, if it can matter and nothing of it is missing.
    pub(super) fn step(&self, place: &mut u32, seen: &[(PropositionId, bool)]) -> Option<u32> {
        let kind = self.kinds.kind(seen);
        let Some((matters, next)) = self.places.get(*place as usize) else { return Some(self.first + kind?) };
        let follows = kind.map_or_else(|| next.last(), |kind| next.get(kind as usize));
        *place = *follows?;
        kind.filter(|_| *matters).map(|kind| self.first + kind)
    }
}

/// Sets of possible states, while they are found.
struct Places<'a> {
    moore: &'a Moore<Truth>,
    left: &'a Left,
    /// For each state, where its edges begin among those of all states, and whether it looks at the component.
    begins: Vec<(usize, bool)>,
    /// The sets, sorted each; the first is of all states.
    sets: Vec<Vec<u32>>,
    known: FxHashMap<Vec<u32>, u32>,
}

impl<'a> Places<'a> {
    fn new(moore: &'a Moore<Truth>, left: &'a Left) -> Places<'a> {
        let mut begin = 0;
        let begins = moore.edges.iter().map(|edges| {
            let own = begin..begin + edges.len();
            begin = own.end;
            (own.start, left.iter().any(|kind| kind[own.clone()] != left[0][own.clone()]))
        });
        Places { moore, left, begins: begins.collect(), sets: Vec::new(), known: FxHashMap::default() }
    }

    /// All sets from the initial state on. What does not fit any more is the set of all states.
    fn all(mut self) -> Vec<(bool, Vec<u32>)> {
        self.place(vec![self.moore.initial]);
        let all = self.place((0..self.moore.states() as u32).collect());
        let mut places = Vec::new();
        while let Some(set) = self.sets.get(places.len()).cloned() {
            let matters = set.iter().any(|state| self.begins[*state as usize].1);
            let mut next = Vec::with_capacity(self.left.len() + 1);
            let mut any = Vec::new();
            for kind in 0..self.left.len() {
                let follow = self.follow(&set, kind);
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
        self.sets.len() >= MANY && !self.known.contains_key(set)
    }

    fn place(&mut self, set: Vec<u32>) -> u32 {
        let next = self.sets.len() as u32;
        *self.known.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        })
    }

    /// Where the automaton can be after a letter of a kind.
    fn follow(&self, set: &[u32], kind: usize) -> Vec<u32> {
        let mut follow = Vec::new();
        for state in set {
            let (begin, _) = self.begins[*state as usize];
            let edges = self.moore.edges[*state as usize].iter().zip(&self.left[kind][begin..]);
            follow.extend(edges.filter(|(_, left)| !left.is_false()).map(|((_, to), _)| *to));
        }
        follow.sort_unstable();
        follow.dedup();
        follow
    }
}
