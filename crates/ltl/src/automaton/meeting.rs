//! Many automata that differ only in which states are one, each held against the same other automaton.

use super::empty::accepting_cycle;
use super::marks::Place;
use super::{Automaton, Edge, MAX_SETS, Marks, State, all_marks};
use crate::label::{Label, Labels};
use crate::{Budget, TooLarge};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::convert::Infallible;

/// Pairs of edges that may be kept.
const PAIRS: usize = 1 << 20;

/// Edges that all checks together may look at.
const EFFORT: usize = 1 << 24;

/// The edges that two automata can take together.
pub(super) struct Meeting<'a> {
    left: &'a Automaton,
    right: &'a Automaton,
    place: Place,
    /// For each pair of states.
    steps: Vec<Vec<(State, State, Marks)>>,
    effort: Cell<usize>,
    /// Which letters does not matter any more.
    label: Label,
}

impl<'a> Meeting<'a> {
    /// # Errors
    /// If there is too much to keep.
    pub(super) fn new(
        left: &'a Automaton,
        right: &'a Automaton,
        place: Place,
        labels: &Labels,
    ) -> Result<Meeting<'a>, TooLarge> {
        Budget::allows("acceptance sets", (left.sets + right.sets) as usize, MAX_SETS as usize)?;
        Budget::allows("pairs of edges", left.edge_count().saturating_mul(right.edge_count()), PAIRS)?;
        let mut known: FxHashMap<(Label, Label), bool> = FxHashMap::default();
        let mut steps = Vec::with_capacity(left.states() * right.states());
        for from_left in &left.edges {
            for from_right in &right.edges {
                let mut both = Vec::new();
                for one in from_left {
                    for other in from_right {
                        let key = (one.label.clone(), other.label.clone());
                        let meets = match known.get(&key) {
                            Some(meets) => *meets,
                            None => *known.entry(key).or_insert(labels.meet(&one.label, &other.label)?),
                        };
                        if meets {
                            let marks = one.marks | other.marks.checked_shl(left.sets).unwrap_or(0);
                            both.push((one.target, other.target, marks));
                        }
                    }
                }
                steps.push(both);
            }
        }
        Ok(Meeting { left, right, place, steps, effort: Cell::new(EFFORT), label: labels.top() })
    }

    /// Whether some word is accepted by both, when the states on the left are taken together in classes. Yes,
    /// too, if it takes too long to find out.
    pub(super) fn meets(&self, class: &[State]) -> bool {
        let mut members = vec![Vec::new(); class.len()];
        for (state, class) in class.iter().enumerate() {
            members[*class as usize].push(state);
        }
        let width = self.right.states();
        let node =
            |left: State, right: State| (class[left as usize] as usize * width + right as usize) as State;
        let edges = |at: State| {
            let (class, right) = (at as usize / width, at as usize % width);
            let steps = members[class].iter().flat_map(|left| &self.steps[left * width + right]);
            // Where marks belong to states, a class has the marks of its states.
            let own = match self.place {
                Place::Edges => 0,
                Place::States => members[class]
                    .iter()
                    .fold(0, |all, state| all | self.left.edges[*state].first().map_or(0, |edge| edge.marks)),
            };
            let out: Vec<Edge> = steps
                .map(|(left, right, marks)| Edge {
                    label: self.label.clone(),
                    marks: marks | own,
                    target: node(*left, *right),
                })
                .collect();
            self.effort.set(self.effort.get().saturating_sub(1 + out.len()));
            Ok::<_, Infallible>(if self.effort.get() == 0 { Vec::new() } else { out })
        };
        let sets = all_marks(self.left.sets + self.right.sets);
        let Ok(found) = accepting_cycle(node(self.left.initial, self.right.initial), sets, edges);
        found || self.effort.get() == 0
    }
}
