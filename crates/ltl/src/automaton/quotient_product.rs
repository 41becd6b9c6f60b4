//! Products of all quotients of one automaton with a fixed second automaton.

use super::emptiness::has_accepting_cycle;
use super::marks::MarkCarrier;
use super::{Automaton, Edge, MAX_SETS, Marks, State, all_marks};
use crate::label::{Label, Labels};
use crate::{Budget, TooLarge};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::convert::Infallible;

/// Maximum number of pairs of edges that are stored.
const MAX_PAIRS: usize = 1 << 20;

/// Maximum number of edges that all checks together visit.
const MAX_EFFORT: usize = 1 << 24;

/// Precomputed joint edges of two automata, to check the intersection for many partitions of the left states.
pub(super) struct QuotientProduct<'a> {
    left: &'a Automaton,
    right: &'a Automaton,
    carrier: MarkCarrier,
    /// Joint edges of each pair of states, as targets and marks.
    steps: Vec<Vec<(State, State, Marks)>>,
    effort: Cell<usize>,
    /// Placeholder label: the emptiness check ignores letters.
    label: Label,
}

impl<'a> QuotientProduct<'a> {
    /// Computes the joint edges.
    ///
    /// # Errors
    /// Fails if there are too many of them.
    pub(super) fn new(
        left: &'a Automaton,
        right: &'a Automaton,
        carrier: MarkCarrier,
        labels: &Labels,
    ) -> Result<QuotientProduct<'a>, TooLarge> {
        Budget::check("acceptance sets", (left.sets + right.sets) as usize, MAX_SETS as usize)?;
        Budget::check("pairs of edges", left.edge_count().saturating_mul(right.edge_count()), MAX_PAIRS)?;
        let mut known: FxHashMap<(Label, Label), bool> = FxHashMap::default();
        let mut steps = Vec::with_capacity(left.states() * right.states());
        for from_left in &left.edges {
            for from_right in &right.edges {
                let mut joint = Vec::new();
                for one in from_left {
                    for other in from_right {
                        let key = (one.label.clone(), other.label.clone());
                        let intersects = match known.get(&key) {
                            Some(intersects) => *intersects,
                            None => *known.entry(key).or_insert(labels.intersects(&one.label, &other.label)?),
                        };
                        if intersects {
                            let marks = one.marks | other.marks.checked_shl(left.sets).unwrap_or(0);
                            joint.push((one.target, other.target, marks));
                        }
                    }
                }
                steps.push(joint);
            }
        }
        let effort = Cell::new(MAX_EFFORT);
        Ok(QuotientProduct { left, right, carrier, steps, effort, label: labels.top() })
    }

    /// Whether the quotient of the left automaton and the right automaton accept a common word. Also `true` once the
    /// effort is spent, so that the caller rejects the partition.
    pub(super) fn intersects(&self, class: &[State]) -> bool {
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
            // If states carry the marks, a class has the marks of all its states.
            let own = match self.carrier {
                MarkCarrier::Edges => 0,
                MarkCarrier::States => members[class]
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
        let Ok(found) = has_accepting_cycle(node(self.left.initial, self.right.initial), sets, edges);
        found || self.effort.get() == 0
    }
}
