//! Games on two automata: one player moves in the left one, the other answers in the right one with the same
//! letter. Simulations are the positions from which the answers never end.

use super::letters::Letters;
use super::{Automaton, Marks};
use crate::TooLarge;
use crate::label::Labels;
use std::cell::Cell;

/// Comparisons of edges that a game may cost; when labels are diagrams, so many times fewer.
const EFFORT: usize = 1 << 26;
const DIAGRAMS: usize = 1 << 6;

/// Pairs of states of a game.
const PAIRS: usize = 1 << 22;

/// A set of pairs of states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    width: usize,
    bits: Vec<bool>,
}

impl Relation {
    pub(super) fn new(left: usize, right: usize, all: bool) -> Relation {
        Relation { width: right, bits: vec![all; left * right] }
    }

    pub(super) fn has(&self, left: usize, right: usize) -> bool {
        self.bits[left * self.width + right]
    }

    pub(super) fn set(&mut self, left: usize, right: usize, value: bool) {
        self.bits[left * self.width + right] = value;
    }

    /// Adds the pairs of another.
    pub(super) fn join(&mut self, other: &Relation) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(bit, other)| *bit |= other);
    }

    /// Whether both pairs are in it.
    pub(super) fn mutual(&self, one: usize, other: usize) -> bool {
        self.has(one, other) && self.has(other, one)
    }
}

/// An edge as the players see it.
pub(super) struct Move {
    letters: usize,
    pub(super) marks: Marks,
    pub(super) target: usize,
}

/// Two automata.
pub(super) struct Arena<'a> {
    letters: Letters<'a>,
    left: Vec<Vec<Move>>,
    right: Vec<Vec<Move>>,
    effort: Cell<usize>,
}

impl<'a> Arena<'a> {
    /// None if the automata are too large to try.
    pub(super) fn new(
        labels: &'a Labels,
        left: &Automaton,
        right: &Automaton,
    ) -> Result<Option<Arena<'a>>, TooLarge> {
        // Most pairs are told apart by few of their edges.
        let edges = left.edge_count().saturating_mul(right.edge_count()) / 16;
        if left.states().saturating_mul(right.states()) > PAIRS || edges > EFFORT {
            return Ok(None);
        }
        let letters = Letters::new(labels, &[left, right])?;
        let moves = |automaton: &Automaton| {
            let mut all: Vec<Vec<Move>> = Vec::with_capacity(automaton.states());
            for edges in &automaton.edges {
                let of = |edge: &super::Edge| Move {
                    letters: letters.number(&edge.label),
                    marks: edge.marks,
                    target: edge.target as usize,
                };
                all.push(edges.iter().map(of).collect());
            }
            all
        };
        let (left, right) = (moves(left), moves(right));
        let arena = Arena { letters, left, right, effort: Cell::new(0) };
        Ok(Some(arena.with_effort(EFFORT)))
    }

    /// The same with another limit on comparisons of edges.
    pub(super) fn with_effort(self, effort: usize) -> Arena<'a> {
        self.effort.set(if self.letters.are_few() { effort } else { effort / DIAGRAMS });
        self
    }

    /// The same with every edge turned round.
    pub(super) fn reversed(self) -> Arena<'a> {
        let turn = |moves: Vec<Vec<Move>>| {
            let mut turned: Vec<Vec<Move>> = moves.iter().map(|_| Vec::new()).collect();
            for (from, out) in moves.into_iter().enumerate() {
                for step in out {
                    turned[step.target].push(Move { target: from, ..step });
                }
            }
            turned
        };
        Arena { left: turn(self.left), right: turn(self.right), ..self }
    }

    /// All pairs.
    pub(super) fn everything(&self) -> Relation {
        Relation::new(self.left.len(), self.right.len(), true)
    }

    /// No pair.
    pub(super) fn nothing(&self) -> Relation {
        Relation::new(self.left.len(), self.right.len(), false)
    }

    /// The largest part of a relation in which every move on the left has an answer on the right that is good
    /// within that part. None if it takes too long.
    pub(super) fn greatest(
        &self,
        mut within: Relation,
        good: impl Fn(&Move, &Move, &Relation) -> bool,
    ) -> Result<Option<Relation>, TooLarge> {
        let (mut changed, mut forwards) = (true, false);
        while changed {
            changed = false;
            for step in 0..self.left.len() {
                // Later states depend on earlier ones or the other way round: try both.
                let left = if forwards { step } else { self.left.len() - 1 - step };
                for right in 0..self.right.len() {
                    if !within.has(left, right) {
                        continue;
                    }
                    let cost = 1 + self.left[left].len() * self.right[right].len();
                    let Some(effort) = self.effort.get().checked_sub(cost) else { return Ok(None) };
                    self.effort.set(effort);
                    if !self.answered(left, right, |a, b| good(a, b, &within))? {
                        within.set(left, right, false);
                        changed = true;
                    }
                }
            }
            forwards = !forwards;
        }
        Ok(Some(within))
    }

    fn answered(
        &self,
        left: usize,
        right: usize,
        good: impl Fn(&Move, &Move) -> bool,
    ) -> Result<bool, TooLarge> {
        for step in &self.left[left] {
            let answers = self.right[right].iter().filter(|answer| good(step, answer));
            if !self.letters.covered(step.letters, answers.map(|answer| answer.letters))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
