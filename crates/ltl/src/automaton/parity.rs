//! Determinisation to parity automata: Safra trees whose nodes are numbered by age (Piterman).
//!
//! A node of a tree is a set of states that runs can be in. Its children hold the runs that have taken an accepting edge
//! since the node was last *green*. A node turns green when its children hold all of its runs.

use super::marks::MarkCarrier;
use super::scc::components;
use super::{Automaton, Edge, State};
use crate::label::{Label, Labels, Variable};
use crate::word::{Lasso, Letter};
use crate::{Budget, Logic, TooLarge};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Edge of a parity automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParityEdge {
    /// Letters of the edge.
    pub label: Label,
    /// Priority of the edge.
    pub priority: u32,
    /// Target state.
    pub target: State,
}

/// Deterministic parity automaton: a word is accepted if its run is infinite and the least priority that occurs infinitely
/// often is even.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParityAutomaton {
    /// Edges of each state, with disjoint labels. The first state is initial.
    pub edges: Vec<Vec<ParityEdge>>,
}

/// Maximum number of letter classes at one state.
const MAX_LETTERS: usize = 1 << 12;

/// Priority of a step without a green or removed node.
const NEUTRAL: u32 = u32::MAX;

/// Set of states, as a bit set.
type StateSet = u128;

/// Parent and states of a node. The parent is older; the root is its own parent.
type Node = (usize, StateSet);

/// Safra tree: nodes, oldest first.
type Tree = Vec<Node>;

/// Successors of each state: all of them, and those by accepting edges.
type Moves = Vec<(StateSet, StateSet)>;

impl Automaton {
    /// Determinises the automaton.
    ///
    /// # Errors
    /// Fails if the result outgrows the budget.
    pub fn determinise(&self, logic: &Logic) -> Result<ParityAutomaton, TooLarge> {
        let single = match self.sets {
            1 => self.clone(),
            _ => self.degeneralise(MarkCarrier::Edges, 0, logic)?.unwrap_or_else(|| self.clone()),
        };
        // Redundant marks would only create nodes.
        let single = single.trim(&logic.labels)?.with_fewest_marks(MarkCarrier::Edges);
        Budget::check("states to determinise", single.states(), StateSet::BITS as usize)?;
        let first: Tree = vec![(0, 1 << single.initial)];
        let mut trees: IndexSet<Tree, FxBuildHasher> = [first].into_iter().collect();
        let (mut edges, mut steps): (Vec<Vec<ParityEdge>>, usize) = (Vec::new(), 0);
        while let Some(tree) = trees.get_index(edges.len()).cloned() {
            let mut out: Vec<ParityEdge> = Vec::new();
            let letters = single.letter_classes(tree[0].1, logic)?;
            // Edges are merged below, but each step costs time.
            steps += letters.len();
            Budget::check("edges", steps, logic.budget.edges)?;
            for (label, moves) in letters {
                let Some((next, priority)) = step(&tree, &moves) else { continue };
                let target = trees.insert_full(next).0 as State;
                let same = |edge: &&mut ParityEdge| edge.target == target && edge.priority == priority;
                match out.iter_mut().find(same) {
                    Some(known) => known.label = logic.labels.or(&known.label, &label)?,
                    None => out.push(ParityEdge { label, priority, target }),
                }
            }
            Budget::check("states", trees.len(), logic.budget.states)?;
            edges.push(out);
        }
        Ok(ParityAutomaton { edges })
    }

    /// Partitions the letters by the moves of these states. Letters without a move are omitted.
    fn letter_classes(&self, from: StateSet, logic: &Logic) -> Result<Vec<(Label, Moves)>, TooLarge> {
        let no_moves: Moves = vec![(0, 0); self.states()];
        let mut parts = vec![(logic.labels.top(), no_moves)];
        for state in members(from) {
            for edge in &self.edges[state] {
                for at in 0..parts.len() {
                    let inside = logic.labels.and(&parts[at].0, &edge.label)?;
                    if inside.is_false() {
                        continue;
                    }
                    let outside = logic.labels.minus(&parts[at].0, &edge.label)?;
                    let mut moves = parts[at].1.clone();
                    let target: StateSet = 1 << edge.target;
                    moves[state].0 |= target;
                    moves[state].1 |= if self.is_marked(edge) { target } else { 0 };
                    if outside.is_false() {
                        parts[at].1 = moves;
                    } else {
                        parts[at].0 = outside;
                        parts.push((inside, moves));
                    }
                }
                Budget::check("letters to tell apart", parts.len(), MAX_LETTERS)?;
            }
        }
        parts.retain(|(_, moves)| moves.iter().any(|(all, _)| *all != 0));
        Ok(parts)
    }

    fn is_marked(&self, edge: &Edge) -> bool {
        edge.marks & self.all_marks() == self.all_marks()
    }
}

fn members(mut set: StateSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (first < StateSet::BITS as usize).then_some(first)
    })
}

/// Returns the tree after a letter, and the priority of the step. `None` if no run is left.
fn step(tree: &Tree, moves: &Moves) -> Option<(Tree, u32)> {
    let old = tree.len();
    let all = |set: StateSet| members(set).fold(0, |sum, state| sum | moves[state].0);
    let marked = |set: StateSet| members(set).fold(0, |sum, state| sum | moves[state].1);
    // Every node moves; runs that take an accepting edge also enter a new child.
    let mut next: Tree = tree.iter().map(|(parent, set)| (*parent, all(*set))).collect();
    next.extend(tree.iter().enumerate().map(|(parent, (_, set))| (parent, marked(*set))));
    // A run in several children stays in the oldest. Runs that a parent has lost are removed from its children.
    let mut below: Vec<StateSet> = vec![0; next.len()];
    for at in 1..next.len() {
        let parent = next[at].0;
        next[at].1 &= next[parent].1 & !below[parent];
        below[parent] |= next[at].1;
    }
    let (mut kept, mut green) = (vec![false; next.len()], vec![false; next.len()]);
    let mut priority = NEUTRAL;
    for at in 0..next.len() {
        let (parent, set) = next[at];
        kept[at] = set != 0 && (at == 0 || kept[parent] && !green[parent]);
        green[at] = kept[at] && below[at] == set;
        // Removal is odd, green is even, and older nodes have smaller priorities.
        let event = 2 * at as u32;
        match (kept[at], green[at]) {
            (false, _) if at < old => priority = priority.min(event + 1),
            (true, true) => priority = priority.min(event + 2),
            _ => {}
        }
    }
    if !kept[0] {
        return None;
    }
    let mut numbers = vec![0; next.len()];
    let mut remaining = Tree::new();
    for (at, (parent, set)) in next.into_iter().enumerate().filter(|(at, _)| kept[*at]) {
        numbers[at] = remaining.len();
        remaining.push((numbers[parent], set));
    }
    Some((remaining, priority))
}

impl ParityAutomaton {
    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.edges.len()
    }

    /// Whether the automaton accepts the word.
    pub fn accepts(&self, labels: &Labels, word: &Lasso) -> bool {
        let next = |state: State, letter: &Letter| {
            let holds = |variable| matches!(variable, Variable::Atom(atom) if letter.has(atom));
            self.edges[state as usize].iter().find(|edge| labels.evaluate(&edge.label, holds))
        };
        let mut state = 0;
        for letter in &word.prefix {
            let Some(edge) = next(state, letter) else { return false };
            state = edge.target;
        }
        // State before each iteration of the cycle, and the least priority of the iteration.
        let mut iterations: Vec<(State, u32)> = Vec::new();
        loop {
            if let Some(first) = iterations.iter().position(|(before, _)| *before == state) {
                let least = iterations[first..].iter().map(|(_, priority)| *priority).min();
                return least.is_some_and(|least| least.is_multiple_of(2));
            }
            let (start, mut least) = (state, NEUTRAL);
            for letter in &word.cycle {
                let Some(edge) = next(state, letter) else { return false };
                (state, least) = (edge.target, least.min(edge.priority));
            }
            iterations.push((start, least));
        }
    }

    /// Whether some deterministic Büchi automaton has the same language: no accepting cycle is part of a larger rejecting one
    /// (Landweber).
    pub fn is_recurrence(&self) -> bool {
        !self.has_cycle_within(1)
    }

    /// Whether some deterministic co-Büchi automaton has the same language.
    pub fn is_persistence(&self) -> bool {
        !self.has_cycle_within(0)
    }

    /// Whether some cycle whose least priority has this parity contains a cycle of the other parity.
    fn has_cycle_within(&self, parity: u32) -> bool {
        let mut priorities: Vec<u32> = self.edges.iter().flatten().map(|edge| edge.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let outer = priorities.iter().copied().filter(|priority| priority % 2 == parity);
        outer.into_iter().any(|outer| {
            let around = self.cycles(outer, |_, _| true);
            let mut inner = priorities.iter().copied().filter(|inner| *inner > outer && inner % 2 != parity);
            inner.any(|inner| {
                let same = |from: State, to: State| {
                    around[from as usize].is_some() && around[from as usize] == around[to as usize]
                };
                self.cycles(inner, same).iter().any(Option::is_some)
            })
        })
    }

    /// Returns, for each state, the number of the largest cycle through it over usable edges with the given least priority.
    fn cycles(&self, least: u32, is_usable: impl Fn(State, State) -> bool) -> Vec<Option<usize>> {
        let allowed = |from: State| {
            let is_usable = &is_usable;
            self.edges[from as usize]
                .iter()
                .filter(move |edge| edge.priority >= least && is_usable(from, edge.target))
        };
        // An additional state leads to all others, so that no component is missed.
        let count = self.states() as State;
        let next = |state: State| -> Box<dyn Iterator<Item = State>> {
            if state == count { Box::new(0..count) } else { Box::new(allowed(state).map(|edge| edge.target)) }
        };
        let sccs = components(self.states() + 1, count, next);
        let mut component = sccs.of.clone();
        for (number, members) in sccs.members.iter().enumerate() {
            let inside = |state: &State| {
                *state < count
                    && allowed(*state)
                        .any(|edge| edge.priority == least && sccs.of[edge.target as usize] == Some(number))
            };
            if !members.iter().any(inside) {
                members.iter().for_each(|state| component[*state as usize] = None);
            }
        }
        component
    }
}
