//! Two automata side by side: the words that both accept, and the words that one of them does.

use super::{Automaton, Edge, MAX_SETS, Marks, State, all_marks};
use crate::label::Labels;
use crate::{Budget, Logic, TooLarge};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A product that is made while one looks at it. The states are numbered in the order in which they turn up.
pub(super) struct Product<'a> {
    left: &'a Automaton,
    right: &'a Automaton,
    labels: &'a Labels,
    budget: Budget,
    pairs: IndexSet<(State, State), FxBuildHasher>,
    edges: usize,
    sets: u32,
}

impl<'a> Product<'a> {
    pub(super) fn new(
        left: &'a Automaton,
        right: &'a Automaton,
        logic: &'a Logic,
    ) -> Result<Product<'a>, TooLarge> {
        let sets = left.sets + right.sets;
        Budget::allows("acceptance sets", sets as usize, MAX_SETS as usize)?;
        let pairs = [(left.initial, right.initial)].into_iter().collect();
        Ok(Product { left, right, labels: &logic.labels, budget: logic.budget, pairs, edges: 0, sets })
    }

    pub(super) fn all_marks(&self) -> Marks {
        all_marks(self.sets)
    }

    /// The edges of a state; each state may be asked for once.
    pub(super) fn edges(&mut self, state: State) -> Result<Vec<Edge>, TooLarge> {
        let Some((from_left, from_right)) = self.pairs.get_index(state as usize).copied() else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for left in &self.left.edges[from_left as usize] {
            for right in &self.right.edges[from_right as usize] {
                let label = self.labels.and(&left.label, &right.label)?;
                if label.is_false() {
                    continue;
                }
                let target = self.pairs.insert_full((left.target, right.target)).0 as State;
                Budget::allows("states", self.pairs.len(), self.budget.states)?;
                let marks = left.marks | right.marks.checked_shl(self.left.sets).unwrap_or(0);
                found.push(Edge { label, marks, target });
            }
        }
        self.edges += found.len();
        Budget::allows("edges", self.edges, self.budget.edges)?;
        Ok(found)
    }
}

impl Automaton {
    /// An automaton for the words that both accept.
    ///
    /// # Errors
    /// If it would be too large, or have too many acceptance sets.
    pub fn product(&self, other: &Automaton, logic: &Logic) -> Result<Automaton, TooLarge> {
        let mut product = Product::new(self, other, logic)?;
        let mut edges = Vec::new();
        while edges.len() < product.pairs.len() {
            edges.push(product.edges(edges.len() as State)?);
        }
        Ok(Automaton { initial: 0, edges, sets: product.sets })
    }

    /// An automaton for the words that at least one of them accepts.
    ///
    /// # Errors
    /// If it would be too large.
    pub fn union(&self, other: &Automaton, logic: &Logic) -> Result<Automaton, TooLarge> {
        let sets = self.sets.max(other.sets);
        let whole = all_marks(sets);
        let mut edges = vec![Vec::new()];
        for part in [self, other] {
            let first = edges.len() as State;
            // The sets that a part lacks ask nothing of its runs.
            let spare: Marks = whole & !part.all_marks();
            edges.extend(part.edges.iter().map(|from| {
                let moved = |edge: &Edge| Edge {
                    label: edge.label.clone(),
                    marks: edge.marks | spare,
                    target: edge.target + first,
                };
                from.iter().map(moved).collect::<Vec<Edge>>()
            }));
            let begins = edges[(first + part.initial) as usize].clone();
            edges[0].extend(begins);
        }
        Budget::allows("states", edges.len(), logic.budget.states)?;
        Budget::allows("edges", edges.iter().map(Vec::len).sum(), logic.budget.edges)?;
        Ok(Automaton { initial: 0, edges, sets }.only(|_| true))
    }
}
