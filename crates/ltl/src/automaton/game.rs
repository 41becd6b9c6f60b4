//! Simulation games on two automata: the first player moves in the left one, the second answers in the right one with the
//! same letter. A simulation is the set of pairs from which the second player can always answer.

use super::label_index::LabelIndex;
use super::{Automaton, Marks};
use crate::TooLarge;
use crate::label::Labels;
use std::cell::Cell;

/// Maximum number of comparisons of edges.
const MAX_EFFORT: usize = 1 << 26;

/// Relative cost of a comparison if labels are compared as decision diagrams.
const DIAGRAM_COST: usize = 1 << 6;

/// Maximum number of pairs of states.
const MAX_PAIRS: usize = 1 << 22;

/// Relation between the states of two automata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateRelation {
    width: usize,
    bits: Vec<bool>,
}

impl StateRelation {
    pub(super) fn new(left: usize, right: usize, all: bool) -> StateRelation {
        StateRelation { width: right, bits: vec![all; left * right] }
    }

    pub(super) fn has(&self, left: usize, right: usize) -> bool {
        self.bits[left * self.width + right]
    }

    pub(super) fn set(&mut self, left: usize, right: usize, value: bool) {
        self.bits[left * self.width + right] = value;
    }

    /// Adds the pairs of another relation.
    pub(super) fn union_with(&mut self, other: &StateRelation) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(bit, other)| *bit |= other);
    }

    /// Whether the pair is related in both directions.
    pub(super) fn is_mutual(&self, one: usize, other: usize) -> bool {
        self.has(one, other) && self.has(other, one)
    }
}

/// Edge of the game graph.
pub(super) struct Move {
    label: usize,
    pub(super) marks: Marks,
    pub(super) target: usize,
}

/// Arena of a simulation game.
pub(super) struct Arena<'a> {
    labels: LabelIndex<'a>,
    left: Vec<Vec<Move>>,
    right: Vec<Vec<Move>>,
    effort: Cell<usize>,
}

impl<'a> Arena<'a> {
    /// Builds the arena of two automata. `None` if they are too large.
    pub(super) fn new(
        labels: &'a Labels,
        left: &Automaton,
        right: &Automaton,
    ) -> Result<Option<Arena<'a>>, TooLarge> {
        // Most pairs are decided by a few of their edges, so the estimate is a fraction of all comparisons.
        let edges = left.edge_count().saturating_mul(right.edge_count()) / 16;
        if left.states().saturating_mul(right.states()) > MAX_PAIRS || edges > MAX_EFFORT {
            return Ok(None);
        }
        let index = LabelIndex::new(labels, &[left, right])?;
        let moves = |automaton: &Automaton| {
            let mut all: Vec<Vec<Move>> = Vec::with_capacity(automaton.states());
            for edges in &automaton.edges {
                let of = |edge: &super::Edge| Move {
                    label: index.number(&edge.label),
                    marks: edge.marks,
                    target: edge.target as usize,
                };
                all.push(edges.iter().map(of).collect());
            }
            all
        };
        let (left, right) = (moves(left), moves(right));
        let arena = Arena { labels: index, left, right, effort: Cell::new(0) };
        Ok(Some(arena.with_effort(MAX_EFFORT)))
    }

    /// Sets the maximum number of comparisons of edges.
    pub(super) fn with_effort(self, effort: usize) -> Arena<'a> {
        self.effort.set(if self.labels.has_bit_sets() { effort } else { effort / DIAGRAM_COST });
        self
    }

    /// Reverses all edges.
    pub(super) fn reversed(self) -> Arena<'a> {
        let reverse = |moves: Vec<Vec<Move>>| {
            let mut reversed: Vec<Vec<Move>> = moves.iter().map(|_| Vec::new()).collect();
            for (from, out) in moves.into_iter().enumerate() {
                for step in out {
                    reversed[step.target].push(Move { target: from, ..step });
                }
            }
            reversed
        };
        Arena { left: reverse(self.left), right: reverse(self.right), ..self }
    }

    /// Returns the relation of all pairs.
    pub(super) fn full_relation(&self) -> StateRelation {
        StateRelation::new(self.left.len(), self.right.len(), true)
    }

    /// Returns the relation without pairs.
    pub(super) fn empty_relation(&self) -> StateRelation {
        StateRelation::new(self.left.len(), self.right.len(), false)
    }

    /// Computes the greatest subrelation in which every move on the left has a good answer on the right. `None` if the
    /// effort is spent.
    ///
    /// `good` must be monotone in the relation.
    pub(super) fn greatest_fixpoint(
        &self,
        mut within: StateRelation,
        good: impl Fn(&Move, &Move, &StateRelation) -> bool,
    ) -> Result<Option<StateRelation>, TooLarge> {
        let (mut changed, mut forwards) = (true, false);
        while changed {
            changed = false;
            for step in 0..self.left.len() {
                // Dependencies run in either direction of the numbering, so passes alternate.
                let left = if forwards { step } else { self.left.len() - 1 - step };
                for right in 0..self.right.len() {
                    if !within.has(left, right) {
                        continue;
                    }
                    let cost = 1 + self.left[left].len() * self.right[right].len();
                    let Some(effort) = self.effort.get().checked_sub(cost) else { return Ok(None) };
                    self.effort.set(effort);
                    if !self.is_answered(left, right, |a, b| good(a, b, &within))? {
                        within.set(left, right, false);
                        changed = true;
                    }
                }
            }
            forwards = !forwards;
        }
        Ok(Some(within))
    }

    fn is_answered(
        &self,
        left: usize,
        right: usize,
        good: impl Fn(&Move, &Move) -> bool,
    ) -> Result<bool, TooLarge> {
        for step in &self.left[left] {
            let answers = self.right[right].iter().filter(|answer| good(step, answer));
            if !self.labels.is_covered(step.label, answers.map(|answer| answer.label))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
