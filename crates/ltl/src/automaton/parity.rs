//! Deterministic automata for every language: Safra's trees, with the names of their nodes in the order of
//! their age (Piterman), so that the acceptance condition is one of parity.
//!
//! A node of a tree is a set of states in which runs can be. Its children hold the runs that have taken an
//! accepting edge since the node was last *green*, which it is when they hold all of its runs.

use super::marks::Place;
use super::scc::components;
use super::{Automaton, Edge, State};
use crate::label::{Label, Labels, Variable};
use crate::word::{Lasso, Letter};
use crate::{Budget, Logic, TooLarge};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// An edge with a priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// The letters.
    pub label: Label,
    /// Its priority.
    pub priority: u32,
    /// Where it leads.
    pub target: State,
}

/// A deterministic parity automaton: a word is accepted if its run does not end, and the least of the
/// priorities that recur is even.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parity {
    /// The edges of each state, which have no letters in common. Runs begin in the first state.
    pub edges: Vec<Vec<Ranked>>,
}

/// The most letters that are told apart at one state.
const LETTERS: usize = 1 << 12;

/// The priority of a step at which nothing happens.
const NOTHING: u32 = u32::MAX;

/// A set of states, one bit for each.
type Set = u128;

/// A node: its parent, which is older, and its states. The root is its own parent.
type Node = (usize, Set);

/// Nodes, the older ones first.
type Tree = Vec<Node>;

/// For each state where it can go, and where by an accepting edge.
type Moves = Vec<(Set, Set)>;

impl Automaton {
    /// A deterministic automaton for the same language.
    ///
    /// # Errors
    /// If it would be too large.
    pub fn parity(&self, logic: &Logic) -> Result<Parity, TooLarge> {
        let single = match self.sets {
            1 => self.clone(),
            _ => self.degeneralise(Place::Edges, 0, logic)?.unwrap_or_else(|| self.clone()),
        };
        // Marks that no accepting run needs would only make nodes.
        let single = single.trim(&logic.labels)?.with_fewest_marks(Place::Edges);
        Budget::allows("states to determinise", single.states(), Set::BITS as usize)?;
        let first: Tree = vec![(0, 1 << single.initial)];
        let mut trees: IndexSet<Tree, FxBuildHasher> = [first].into_iter().collect();
        let (mut edges, mut steps): (Vec<Vec<Ranked>>, usize) = (Vec::new(), 0);
        while let Some(tree) = trees.get_index(edges.len()).cloned() {
            let mut out: Vec<Ranked> = Vec::new();
            let letters = single.letters(tree[0].1, logic)?;
            // Edges are joined below, but each step is work.
            steps += letters.len();
            Budget::allows("edges", steps, logic.budget.edges)?;
            for (label, moves) in letters {
                let Some((next, priority)) = step(&tree, &moves) else { continue };
                let target = trees.insert_full(next).0 as State;
                let same = |edge: &&mut Ranked| edge.target == target && edge.priority == priority;
                match out.iter_mut().find(same) {
                    Some(known) => known.label = logic.labels.or(&known.label, &label)?,
                    None => out.push(Ranked { label, priority, target }),
                }
            }
            Budget::allows("states", trees.len(), logic.budget.states)?;
            edges.push(out);
        }
        Ok(Parity { edges })
    }

    /// The letters that differ for some of these states, and where each leads. Letters at which no state can go
    /// on are left out.
    fn letters(&self, from: Set, logic: &Logic) -> Result<Vec<(Label, Moves)>, TooLarge> {
        let nowhere: Moves = vec![(0, 0); self.states()];
        let mut parts = vec![(logic.labels.top(), nowhere)];
        for state in members(from) {
            for edge in &self.edges[state] {
                for at in 0..parts.len() {
                    let inside = logic.labels.and(&parts[at].0, &edge.label)?;
                    if inside.is_false() {
                        continue;
                    }
                    let outside = logic.labels.minus(&parts[at].0, &edge.label)?;
                    let mut moves = parts[at].1.clone();
                    let target: Set = 1 << edge.target;
                    moves[state].0 |= target;
                    moves[state].1 |= if self.is_marked(edge) { target } else { 0 };
                    if outside.is_false() {
                        parts[at].1 = moves;
                    } else {
                        parts[at].0 = outside;
                        parts.push((inside, moves));
                    }
                }
                Budget::allows("letters to tell apart", parts.len(), LETTERS)?;
            }
        }
        parts.retain(|(_, moves)| moves.iter().any(|(all, _)| *all != 0));
        Ok(parts)
    }

    fn is_marked(&self, edge: &Edge) -> bool {
        edge.marks & self.all_marks() == self.all_marks()
    }
}

fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (first < Set::BITS as usize).then_some(first)
    })
}

/// The tree after a letter, and the priority of the step. None if no run is left.
fn step(tree: &Tree, moves: &Moves) -> Option<(Tree, u32)> {
    let old = tree.len();
    let all = |set: Set| members(set).fold(0, |sum, state| sum | moves[state].0);
    let marked = |set: Set| members(set).fold(0, |sum, state| sum | moves[state].1);
    // All runs go on; those that take an accepting edge are also put into a new child.
    let mut next: Tree = tree.iter().map(|(parent, set)| (*parent, all(*set))).collect();
    next.extend(tree.iter().enumerate().map(|(parent, (_, set))| (parent, marked(*set))));
    // A run that is in several children stays in the oldest. What a parent has lost, its children lose.
    let mut below: Vec<Set> = vec![0; next.len()];
    for at in 1..next.len() {
        let parent = next[at].0;
        next[at].1 &= next[parent].1 & !below[parent];
        below[parent] |= next[at].1;
    }
    let (mut kept, mut green) = (vec![false; next.len()], vec![false; next.len()]);
    let mut priority = NOTHING;
    for at in 0..next.len() {
        let (parent, set) = next[at];
        kept[at] = set != 0 && (at == 0 || kept[parent] && !green[parent]);
        green[at] = kept[at] && below[at] == set;
        // Being taken away is bad, being green is good, and what happens to older nodes decides.
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
    let mut left = Tree::new();
    for (at, (parent, set)) in next.into_iter().enumerate().filter(|(at, _)| kept[*at]) {
        numbers[at] = left.len();
        left.push((numbers[parent], set));
    }
    Some((left, priority))
}

impl Parity {
    /// The number of states.
    pub fn states(&self) -> usize {
        self.edges.len()
    }

    /// Whether a word is accepted.
    pub fn accepts(&self, labels: &Labels, word: &Lasso) -> bool {
        let next = |state: State, letter: &Letter| {
            let holds = |variable| matches!(variable, Variable::Atom(atom) if letter.has(atom));
            self.edges[state as usize].iter().find(|edge| labels.value(&edge.label, holds))
        };
        let mut state = 0;
        for letter in &word.prefix {
            let Some(edge) = next(state, letter) else { return false };
            state = edge.target;
        }
        // The state at the beginning of each turn of the cycle, and the least priority of that turn.
        let mut turns: Vec<(State, u32)> = Vec::new();
        loop {
            if let Some(first) = turns.iter().position(|(before, _)| *before == state) {
                let least = turns[first..].iter().map(|(_, priority)| *priority).min();
                return least.is_some_and(|least| least.is_multiple_of(2));
            }
            let (begin, mut least) = (state, NOTHING);
            for letter in &word.cycle {
                let Some(edge) = next(state, letter) else { return false };
                (state, least) = (edge.target, least.min(edge.priority));
            }
            turns.push((begin, least));
        }
    }

    /// Whether some deterministic Büchi automaton has the same language: if no accepting cycle is part of a
    /// larger one that is rejecting (Landweber).
    pub fn is_recurrence(&self) -> bool {
        !self.has_cycle_within(1)
    }

    /// Whether some deterministic co-Büchi automaton has the same language.
    pub fn is_persistence(&self) -> bool {
        !self.has_cycle_within(0)
    }

    /// Whether there is a cycle whose least priority has this parity, with one of the other parity within it.
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

    /// For each state the number of the largest cycle through it whose least priority is the given one, by
    /// edges that may be used.
    fn cycles(&self, least: u32, may_use: impl Fn(State, State) -> bool) -> Vec<Option<usize>> {
        let allowed = |from: State| {
            let may_use = &may_use;
            self.edges[from as usize]
                .iter()
                .filter(move |edge| edge.priority >= least && may_use(from, edge.target))
        };
        // Every state must be looked at, so there is one more that leads to all.
        let count = self.states() as State;
        let next = |state: State| -> Box<dyn Iterator<Item = State>> {
            if state == count { Box::new(0..count) } else { Box::new(allowed(state).map(|edge| edge.target)) }
        };
        let found = components(self.states() + 1, count, next);
        let mut component = found.of.clone();
        for (number, members) in found.members.iter().enumerate() {
            let inside = |state: &State| {
                *state < count
                    && allowed(*state)
                        .any(|edge| edge.priority == least && found.of[edge.target as usize] == Some(number))
            };
            if !members.iter().any(inside) {
                members.iter().for_each(|state| component[*state as usize] = None);
            }
        }
        component
    }
}
