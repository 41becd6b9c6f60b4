//! Intersection and union of automata.

use super::{Automaton, Edge, MAX_SETS, Marks, State, all_marks};
use crate::label::Labels;
use crate::{Budget, Logic, TooLarge};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Synchronous product, built on demand. States are numbered in the order of discovery.
pub(super) struct LazyProduct<'a> {
    left: &'a Automaton,
    right: &'a Automaton,
    labels: &'a Labels,
    budget: Budget,
    pairs: IndexSet<(State, State), FxBuildHasher>,
    edges: usize,
    sets: u32,
}

impl<'a> LazyProduct<'a> {
    pub(super) fn new(
        left: &'a Automaton,
        right: &'a Automaton,
        logic: &'a Logic,
    ) -> Result<LazyProduct<'a>, TooLarge> {
        let sets = left.sets + right.sets;
        Budget::check("acceptance sets", sets as usize, MAX_SETS as usize)?;
        let pairs = [(left.initial, right.initial)].into_iter().collect();
        Ok(LazyProduct { left, right, labels: &logic.labels, budget: logic.budget, pairs, edges: 0, sets })
    }

    pub(super) fn all_marks(&self) -> Marks {
        all_marks(self.sets)
    }

    /// Computes the edges of a state. Called at most once for each state.
    pub(super) fn edges(&mut self, state: State) -> Result<Vec<Edge>, TooLarge> {
        let Some((from_left, from_right)) = self.pairs.get_index(state as usize).copied() else {
            return Ok(Vec::new());
        };
        let mut joint = Vec::new();
        for left in &self.left.edges[from_left as usize] {
            for right in &self.right.edges[from_right as usize] {
                let label = self.labels.and(&left.label, &right.label)?;
                if label.is_false() {
                    continue;
                }
                let target = self.pairs.insert_full((left.target, right.target)).0 as State;
                Budget::check("states", self.pairs.len(), self.budget.states)?;
                let marks = left.marks | right.marks.checked_shl(self.left.sets).unwrap_or(0);
                joint.push(Edge { label, marks, target });
            }
        }
        self.edges += joint.len();
        Budget::check("edges", self.edges, self.budget.edges)?;
        Ok(joint)
    }
}

impl Automaton {
    /// Returns an automaton of the intersection.
    ///
    /// # Errors
    /// Fails if the result outgrows the budget or has too many acceptance sets.
    pub fn product(&self, other: &Automaton, logic: &Logic) -> Result<Automaton, TooLarge> {
        let mut product = LazyProduct::new(self, other, logic)?;
        let mut edges = Vec::new();
        while edges.len() < product.pairs.len() {
            edges.push(product.edges(edges.len() as State)?);
        }
        Ok(Automaton { initial: 0, edges, sets: product.sets })
    }

    /// Returns an automaton of the union.
    ///
    /// # Errors
    /// Fails if the result outgrows the budget.
    pub fn union(&self, other: &Automaton, logic: &Logic) -> Result<Automaton, TooLarge> {
        let sets = self.sets.max(other.sets);
        let whole = all_marks(sets);
        let mut edges = vec![Vec::new()];
        for operand in [self, other] {
            let first = edges.len() as State;
            // Additional sets contain all edges of the operand, so that they do not restrict its runs.
            let missing: Marks = whole & !operand.all_marks();
            edges.extend(operand.edges.iter().map(|from| {
                let moved = |edge: &Edge| Edge {
                    label: edge.label.clone(),
                    marks: edge.marks | missing,
                    target: edge.target + first,
                };
                from.iter().map(moved).collect::<Vec<Edge>>()
            }));
            let initial = edges[(first + operand.initial) as usize].clone();
            edges[0].extend(initial);
        }
        Budget::check("states", edges.len(), logic.budget.states)?;
        Budget::check("edges", edges.iter().map(Vec::len).sum(), logic.budget.edges)?;
        Ok(Automaton { initial: 0, edges, sets }.restricted_to(|_| true))
    }
}
