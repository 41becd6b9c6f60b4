//! From several acceptance sets to one: states get a level, which says how many of the sets, in a certain
//! order, were seen since the last time that all were.

use super::marks::Place;
use super::scc::{Components, components};
use super::{Automaton, Edge, Marks, State};
use crate::label::Label;
use crate::{Budget, Logic, TooLarge};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// So many sets are put into every order; of more, the orders that begin with another one.
const ALL_ORDERS: u32 = 4;

/// With more edges times levels than this, the first order will do.
const MANY: usize = 1 << 16;

/// A way to count the sets in one component.
#[derive(Clone, Debug)]
struct Count {
    /// The sets in the order in which they are waited for.
    order: Vec<u32>,
    /// Whether a set counts already where all ways on have it.
    early: bool,
    /// The states and levels between which runs stay.
    inside: Vec<(State, usize)>,
}

/// What is done with a component.
#[derive(Clone, Debug)]
enum Plan {
    /// No cycle is accepting, or there is none.
    Rejecting,
    /// Every cycle is accepting.
    Accepting,
    /// Levels.
    Levels(Count),
}

struct Degeneralisation<'a> {
    automaton: &'a Automaton,
    found: &'a Components,
    place: Place,
    /// The marks that all edges of a state have which stay in its component.
    common: Vec<Marks>,
}

impl Automaton {
    /// The same language with one set, its marks on edges or on states. Every component is given the levels
    /// that cost the fewest states; the number of a choice other than 0 asks for the next best. None if there
    /// are not so many choices.
    pub(super) fn degeneralise(
        &self,
        place: Place,
        choice: usize,
        logic: &Logic,
    ) -> Result<Option<Automaton>, TooLarge> {
        let found = self.components();
        let accepting = self.accepting(&found);
        let most = self.with_most_marks(Place::Edges);
        let stays = |state: usize, edge: &&Edge| found.of[edge.target as usize] == found.of[state];
        let common = (0..self.states()).map(|state| {
            let inside = self.edges[state].iter().filter(|edge| stays(state, edge));
            inside.fold(self.all_marks(), |all, edge| all & edge.marks)
        });
        let work = Degeneralisation { automaton: self, found: &found, place, common: common.collect() };
        let mut plans = Vec::with_capacity(accepting.len());
        let mut choices = 1;
        for (number, accepting) in accepting.iter().enumerate() {
            let inside = |state: &State| {
                most.edges[*state as usize]
                    .iter()
                    .filter(|edge| found.of[edge.target as usize] == Some(number))
            };
            let weak =
                found.members[number].iter().flat_map(inside).all(|edge| edge.marks == self.all_marks());
            plans.push(match (accepting, weak) {
                (false, _) => Plan::Rejecting,
                (true, true) => Plan::Accepting,
                (true, false) => {
                    let mut counts = work.counts(number);
                    counts.sort_by_key(|count| count.inside.len());
                    choices = choices.max(counts.len());
                    Plan::Levels(counts.swap_remove(choice.min(counts.len() - 1)))
                }
            });
        }
        if choice < choices { work.build(&plans, logic).map(Some) } else { Ok(None) }
    }
}

impl Degeneralisation<'_> {
    /// The number of levels. With marks on states, the last one is that of the marked states.
    fn levels(&self) -> usize {
        self.automaton.sets as usize + usize::from(self.place == Place::States)
    }

    /// The level after an edge, and whether all sets were seen with it.
    fn after(&self, count: &Count, level: usize, marks: Marks, common: Marks) -> (usize, bool) {
        let sets = count.order.len();
        let pass = |level: usize, marks: Marks| {
            (level..sets).find(|at| marks >> count.order[*at] & 1 == 0).unwrap_or(sets)
        };
        let seen = pass(pass(level % sets, marks), if count.early { common } else { 0 });
        match self.place {
            Place::States => (seen, false),
            // The same edge counts for the next round, but not for a whole one.
            Place::Edges if seen == sets => (pass(0, marks) % sets, true),
            Place::Edges => (seen, false),
        }
    }

    /// All ways to count in a component that we try.
    fn counts(&self, number: usize) -> Vec<Count> {
        let members = &self.found.members[number];
        let levels = self.levels();
        let places: IndexMap<State, usize, FxBuildHasher> =
            members.iter().enumerate().map(|(place, state)| (*state, place)).collect();
        let edges: usize = members.iter().map(|state| self.automaton.edges[*state as usize].len()).sum();
        let tried = if edges * levels > MANY { 1 } else { usize::MAX };
        let mut counts = Vec::new();
        for order in orders(self.automaton.sets).into_iter().take(tried) {
            for early in [false, true] {
                let mut count = Count { order: order.clone(), early, inside: Vec::new() };
                let mut graph: Vec<Vec<State>> = vec![Vec::new(); members.len() * levels + 1];
                for (place, state) in members.iter().enumerate() {
                    for edge in &self.automaton.edges[*state as usize] {
                        let Some(target) = places.get(&edge.target) else { continue };
                        let common = self.common[edge.target as usize];
                        for level in 0..levels {
                            let (next, _) = self.after(&count, level, edge.marks, common);
                            graph[place * levels + level].push((target * levels + next) as State);
                        }
                    }
                }
                let root = members.len() * levels;
                graph[root].extend(0..root as State);
                let parts =
                    components(graph.len(), root as State, |node| graph[node as usize].iter().copied());
                // What runs do not leave any more has every state of the component at some level.
                let closed = |part: &&Vec<State>| {
                    let of = parts.of[part[0] as usize];
                    part.iter()
                        .all(|node| graph[*node as usize].iter().all(|next| parts.of[*next as usize] == of))
                };
                let smallest = parts.members.iter().filter(closed).min_by_key(|part| part.len());
                for node in smallest.into_iter().flatten() {
                    let (place, level) = (*node as usize / levels, *node as usize % levels);
                    count.inside.push((members[place], level));
                }
                counts.push(count);
            }
        }
        counts
    }

    fn build(&self, plans: &[Plan], logic: &Logic) -> Result<Automaton, TooLarge> {
        let (labels, budget) = (&logic.labels, &logic.budget);
        let plan = |state: State| &plans[self.found.of[state as usize].unwrap_or_default()];
        // Where a component is entered, the highest level is the nearest to the end of a round.
        let enter = |state: State| match plan(state) {
            Plan::Rejecting | Plan::Accepting => (state, 0),
            Plan::Levels(count) => {
                let levels = count.inside.iter().filter(|(inside, _)| *inside == state);
                (state, levels.map(|(_, level)| *level).max().unwrap_or(0))
            }
        };
        let mut numbers: IndexMap<(State, usize), (), FxBuildHasher> = IndexMap::default();
        numbers.insert(enter(self.automaton.initial), ());
        let (mut edges, mut total): (Vec<Vec<Edge>>, usize) = (Vec::new(), 0);
        while let Some((&(state, level), ())) = numbers.get_index(edges.len()) {
            // Many edges become one: they are merged at once.
            let mut out: IndexMap<(State, bool), Label, FxBuildHasher> = IndexMap::default();
            for edge in &self.automaton.edges[state as usize] {
                let stays = self.found.of[edge.target as usize] == self.found.of[state as usize];
                let marked = match (plan(state), self.place) {
                    (Plan::Accepting, _) => true,
                    (Plan::Levels(count), Place::States) => level == count.order.len(),
                    _ => false,
                };
                let (target, marked) = match plan(state) {
                    Plan::Levels(count) if stays => {
                        let (next, round) =
                            self.after(count, level, edge.marks, self.common[edge.target as usize]);
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
            Budget::allows("states", numbers.len(), budget.states)?;
            Budget::allows("edges", total, budget.edges)?;
            edges.push(out.into_iter().map(merged).collect());
        }
        Ok(Automaton { initial: 0, edges, sets: 1 })
    }
}

/// The orders of sets that are tried.
fn orders(sets: u32) -> Vec<Vec<u32>> {
    if sets > ALL_ORDERS {
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
