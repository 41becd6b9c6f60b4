//! Degeneralisation: from several acceptance sets to one.
//!
//! States are paired with a level: the number of sets, in a certain order, that were seen since the last time that all
//! were.

use super::marks::MarkCarrier;
use super::scc::{Components, components};
use super::{Automaton, Edge, Marks, State};
use crate::label::Label;
use crate::{Budget, Logic, TooLarge};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Maximum number of sets for which all orders are tried; with more sets, only the rotations are.
const MAX_PERMUTED_SETS: u32 = 4;

/// Number of edges times levels above which only the first order is tried.
const MAX_ORDER_EFFORT: usize = 1 << 16;

/// Levels of one component.
#[derive(Clone, Debug)]
struct LevelScheme {
    /// Sets in the order in which they are expected.
    order: Vec<u32>,
    /// Whether entering a state already counts for a set that contains all its edges within the component.
    looks_ahead: bool,
    /// States with their levels in the terminal component, where runs stay.
    terminal: Vec<(State, usize)>,
}

/// Treatment of a component.
#[derive(Clone, Debug)]
enum ComponentPlan {
    /// No cycle is accepting.
    Rejecting,
    /// All cycles are accepting.
    Accepting,
    /// Some cycles are accepting.
    Levels(LevelScheme),
}

struct Degeneralisation<'a> {
    automaton: &'a Automaton,
    sccs: &'a Components,
    carrier: MarkCarrier,
    /// Marks that all edges of a state within its component have in common.
    common: Vec<Marks>,
}

impl Automaton {
    /// Converts the automaton to one acceptance set, on edges or on states.
    ///
    /// Choice 0 gives every component the levels that cost the fewest states, choice 1 the second best, and so on. `None`
    /// if there are fewer choices.
    pub(super) fn degeneralise(
        &self,
        carrier: MarkCarrier,
        choice: usize,
        logic: &Logic,
    ) -> Result<Option<Automaton>, TooLarge> {
        let sccs = self.components();
        let accepting = self.accepting_components(&sccs);
        let most = self.with_most_marks(MarkCarrier::Edges);
        let stays = |state: usize, edge: &&Edge| sccs.of[edge.target as usize] == sccs.of[state];
        let common = (0..self.states()).map(|state| {
            let inside = self.edges[state].iter().filter(|edge| stays(state, edge));
            inside.fold(self.all_marks(), |all, edge| all & edge.marks)
        });
        let degeneralisation =
            Degeneralisation { automaton: self, sccs: &sccs, carrier, common: common.collect() };
        let mut plans = Vec::with_capacity(accepting.len());
        let mut choices = 1;
        for (number, accepting) in accepting.iter().enumerate() {
            let inside = |state: &State| {
                most.edges[*state as usize]
                    .iter()
                    .filter(|edge| sccs.of[edge.target as usize] == Some(number))
            };
            let weak =
                sccs.members[number].iter().flat_map(inside).all(|edge| edge.marks == self.all_marks());
            plans.push(match (accepting, weak) {
                (false, _) => ComponentPlan::Rejecting,
                (true, true) => ComponentPlan::Accepting,
                (true, false) => {
                    let mut schemes = degeneralisation.level_schemes(number);
                    schemes.sort_by_key(|scheme| scheme.terminal.len());
                    choices = choices.max(schemes.len());
                    ComponentPlan::Levels(schemes.swap_remove(choice.min(schemes.len() - 1)))
                }
            });
        }
        if choice < choices { degeneralisation.build(&plans, logic).map(Some) } else { Ok(None) }
    }
}

impl Degeneralisation<'_> {
    /// Returns the number of levels. If states carry the marks, the last level is that of the marked states.
    fn levels(&self) -> usize {
        self.automaton.sets as usize + usize::from(self.carrier == MarkCarrier::States)
    }

    /// Returns the level after an edge, and whether the edge completes a round.
    fn next_level(&self, scheme: &LevelScheme, level: usize, marks: Marks, common: Marks) -> (usize, bool) {
        let sets = scheme.order.len();
        let pass = |level: usize, marks: Marks| {
            (level..sets).find(|at| marks >> scheme.order[*at] & 1 == 0).unwrap_or(sets)
        };
        let seen = pass(pass(level % sets, marks), if scheme.looks_ahead { common } else { 0 });
        match self.carrier {
            MarkCarrier::States => (seen, false),
            // An edge that completes a round also counts for the next one, but cannot complete that as well.
            MarkCarrier::Edges if seen == sets => (pass(0, marks) % sets, true),
            MarkCarrier::Edges => (seen, false),
        }
    }

    /// Returns all level schemes of a component that are tried.
    fn level_schemes(&self, number: usize) -> Vec<LevelScheme> {
        let members = &self.sccs.members[number];
        let levels = self.levels();
        let index_of: IndexMap<State, usize, FxBuildHasher> =
            members.iter().enumerate().map(|(index, state)| (*state, index)).collect();
        let edges: usize = members.iter().map(|state| self.automaton.edges[*state as usize].len()).sum();
        let tried = if edges * levels > MAX_ORDER_EFFORT { 1 } else { usize::MAX };
        let mut schemes = Vec::new();
        for order in orders(self.automaton.sets).into_iter().take(tried) {
            for looks_ahead in [false, true] {
                let mut scheme = LevelScheme { order: order.clone(), looks_ahead, terminal: Vec::new() };
                let mut graph: Vec<Vec<State>> = vec![Vec::new(); members.len() * levels + 1];
                for (index, state) in members.iter().enumerate() {
                    for edge in &self.automaton.edges[*state as usize] {
                        let Some(target) = index_of.get(&edge.target) else { continue };
                        let common = self.common[edge.target as usize];
                        for level in 0..levels {
                            let (next, _) = self.next_level(&scheme, level, edge.marks, common);
                            graph[index * levels + level].push((target * levels + next) as State);
                        }
                    }
                }
                let root = members.len() * levels;
                graph[root].extend(0..root as State);
                let parts =
                    components(graph.len(), root as State, |node| graph[node as usize].iter().copied());
                // A terminal component contains every state of the original component at some level.
                let is_terminal = |part: &&Vec<State>| {
                    let of = parts.of[part[0] as usize];
                    part.iter()
                        .all(|node| graph[*node as usize].iter().all(|next| parts.of[*next as usize] == of))
                };
                let smallest = parts.members.iter().filter(is_terminal).min_by_key(|part| part.len());
                for node in smallest.into_iter().flatten() {
                    let (index, level) = (*node as usize / levels, *node as usize % levels);
                    scheme.terminal.push((members[index], level));
                }
                schemes.push(scheme);
            }
        }
        schemes
    }

    fn build(&self, plans: &[ComponentPlan], logic: &Logic) -> Result<Automaton, TooLarge> {
        let (labels, budget) = (&logic.labels, &logic.budget);
        let plan = |state: State| &plans[self.sccs.of[state as usize].unwrap_or_default()];
        // On entry to a component, the highest level is the closest to the end of a round.
        let enter = |state: State| match plan(state) {
            ComponentPlan::Rejecting | ComponentPlan::Accepting => (state, 0),
            ComponentPlan::Levels(scheme) => {
                let levels = scheme.terminal.iter().filter(|(inside, _)| *inside == state);
                (state, levels.map(|(_, level)| *level).max().unwrap_or(0))
            }
        };
        let mut numbers: IndexMap<(State, usize), (), FxBuildHasher> = IndexMap::default();
        numbers.insert(enter(self.automaton.initial), ());
        let (mut edges, mut total): (Vec<Vec<Edge>>, usize) = (Vec::new(), 0);
        while let Some((&(state, level), ())) = numbers.get_index(edges.len()) {
            // Many edges become parallel and are merged here.
            let mut out: IndexMap<(State, bool), Label, FxBuildHasher> = IndexMap::default();
            for edge in &self.automaton.edges[state as usize] {
                let stays = self.sccs.of[edge.target as usize] == self.sccs.of[state as usize];
                let marked = match (plan(state), self.carrier) {
                    (ComponentPlan::Accepting, _) => true,
                    (ComponentPlan::Levels(scheme), MarkCarrier::States) => level == scheme.order.len(),
                    _ => false,
                };
                let (target, marked) = match plan(state) {
                    ComponentPlan::Levels(scheme) if stays => {
                        let (next, round) =
                            self.next_level(scheme, level, edge.marks, self.common[edge.target as usize]);
                        ((edge.target, next), marked || round)
                    }
                    _ if stays => ((edge.target, 0), marked),
                    _ => (enter(edge.target), marked),
                };
                let target = numbers.insert_full(target, ()).0 as State;
                let label = out.entry((target, marked)).or_insert_with(|| labels.bottom());
                *label = labels.or(label, &edge.label)?;
            }
            let merged = |((target, marked), label)| Edge { label, marks: Marks::from(marked), target };
            total += out.len();
            Budget::check("states", numbers.len(), budget.states)?;
            Budget::check("edges", total, budget.edges)?;
            edges.push(out.into_iter().map(merged).collect());
        }
        Ok(Automaton { initial: 0, edges, sets: 1 })
    }
}

/// Returns the orders of sets that are tried.
fn orders(sets: u32) -> Vec<Vec<u32>> {
    if sets > MAX_PERMUTED_SETS {
        return (0..sets).map(|first| (0..sets).map(|at| (first + at) % sets).collect()).collect();
    }
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for set in 0..sets {
        let longer = |order: &Vec<u32>| {
            let order = order.clone();
            (0..=order.len()).rev().map(move |at| {
                let mut order = order.clone();
                order.insert(at, set);
                order
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}
