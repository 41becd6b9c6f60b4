//! Short accepting runs and words.

use super::{Automaton, Edge, State};
use crate::label::{Label, Labels, Variable};
use crate::word::{Lasso, Letter};
use crate::{Logic, TooLarge};
use std::collections::VecDeque;

/// Step of a run: a state, and the index of the edge that is taken.
pub(crate) type Step = (State, usize);

/// Ultimately periodic run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Steps before the cycle.
    pub(crate) prefix: Vec<Step>,
    /// Repeated steps; at least one.
    pub(crate) cycle: Vec<Step>,
}

/// Maximum number of edges that are visited to find a shorter run.
const MAX_EFFORT: usize = 1 << 20;

/// Breadth-first tree of the states that are reachable from a state.
struct BreadthFirstTree {
    /// States by distance.
    order: Vec<State>,
    /// Step by which each state was reached.
    parent: Vec<Option<Step>>,
}

impl BreadthFirstTree {
    /// Returns a shortest path to a state.
    fn path(&self, to: State) -> Vec<Step> {
        let (mut steps, mut at) = (Vec::new(), to);
        while let Some(step) = self.parent[at as usize] {
            steps.push(step);
            at = step.0;
        }
        steps.reverse();
        steps
    }
}

impl Automaton {
    /// Returns an accepted word, if there is one. Irrelevant atoms are false in it.
    pub fn accepting_word(&self, labels: &Labels) -> Option<Lasso> {
        let run = self.accepting_run()?;
        let letter = |(state, edge): &Step| letter(labels, &self.edges[*state as usize][*edge].label);
        let letters = |steps: &[Step]| steps.iter().map(letter).collect();
        Some(Lasso { prefix: letters(&run.prefix), cycle: letters(&run.cycle) }.shortest())
    }

    /// Returns a word that both automata accept, if there is one.
    ///
    /// # Errors
    /// Fails if the product outgrows the budget.
    pub fn common_word(&self, other: &Automaton, logic: &Logic) -> Result<Option<Lasso>, TooLarge> {
        Ok(self.product(other, logic)?.accepting_word(&logic.labels))
    }

    /// Returns an accepting run. Tries the nearest states of accepting components as starts of the cycle.
    pub(crate) fn accepting_run(&self) -> Option<Run> {
        let sccs = self.components();
        let accepting = self.accepting_components(&sccs);
        let tree = self.breadth_first(self.initial, |_| true);
        let component = |state: State| sccs.of[state as usize];
        let near = tree.order.iter().filter(|state| component(**state).is_some_and(|at| accepting[at]));
        let attempts = (MAX_EFFORT / (1 + self.edge_count() * (1 + self.sets as usize))).max(1);
        let mut best: Option<Run> = None;
        for start in near.take(attempts) {
            let prefix = tree.path(*start);
            let shortest = best.as_ref().map_or(usize::MAX, |run| run.prefix.len() + run.cycle.len());
            if prefix.len() + 1 >= shortest {
                break;
            }
            let inside = |state: State| component(state) == component(*start);
            let Some(cycle) = self.cycle(*start, inside) else { continue };
            if prefix.len() + cycle.len() < shortest {
                best = Some(Run { prefix, cycle });
            }
        }
        best
    }

    /// Returns a cycle with all marks: repeatedly the nearest edge with a missing mark, then back to the start.
    fn cycle(&self, start: State, inside: impl Fn(State) -> bool) -> Option<Vec<Step>> {
        let (mut steps, mut at, mut missing) = (Vec::new(), start, self.all_marks());
        while missing != 0 || at != start || steps.is_empty() {
            let advances = |edge: &Edge| match missing {
                0 => edge.target == start,
                _ => edge.marks & missing != 0,
            };
            let tree = self.breadth_first(at, &inside);
            let step = tree.order.iter().find_map(|state| {
                let edges = &self.edges[*state as usize];
                let at = edges.iter().position(|edge| inside(edge.target) && advances(edge))?;
                Some((*state, at))
            })?;
            for (state, edge) in tree.path(step.0).into_iter().chain([step]) {
                let edge_taken = &self.edges[state as usize][edge];
                missing &= !edge_taken.marks;
                at = edge_taken.target;
                steps.push((state, edge));
            }
        }
        Some(steps)
    }

    /// Searches breadth-first.
    fn breadth_first(&self, from: State, inside: impl Fn(State) -> bool) -> BreadthFirstTree {
        let mut tree = BreadthFirstTree { order: Vec::new(), parent: vec![None; self.states()] };
        let mut seen = vec![false; self.states()];
        seen[from as usize] = true;
        let mut open = VecDeque::from([from]);
        while let Some(state) = open.pop_front() {
            tree.order.push(state);
            for (at, edge) in self.edges[state as usize].iter().enumerate() {
                let target = edge.target as usize;
                if !seen[target] && inside(edge.target) {
                    seen[target] = true;
                    tree.parent[target] = Some((state, at));
                    open.push_back(edge.target);
                }
            }
        }
        tree
    }
}

/// Returns a letter that satisfies a label, with atoms false where possible.
pub(crate) fn letter(labels: &Labels, label: &Label) -> Letter {
    let (mut at, mut holds) = (label.clone(), Vec::new());
    while let Some((variable, yes, no)) = labels.cofactors(&at) {
        if !no.is_false() {
            at = no;
            continue;
        }
        if let Variable::Atom(atom) = variable {
            holds.push(atom);
        }
        at = yes;
    }
    holds.into_iter().collect()
}
