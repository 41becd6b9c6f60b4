//! A word that an automaton accepts, as short as we can find one.

use super::{Automaton, Edge, State};
use crate::label::{Label, Labels, Variable};
use crate::word::{Lasso, Letter};
use crate::{Logic, TooLarge};
use std::collections::VecDeque;

/// A step of a run: a state, and which of its edges is taken.
pub(crate) type Step = (State, usize);

/// A run that repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The beginning.
    pub(crate) prefix: Vec<Step>,
    /// What is repeated; at least one step.
    pub(crate) cycle: Vec<Step>,
}

/// How many edges may be looked at to find a shorter run.
const PATIENCE: usize = 1 << 20;

/// The states that can be reached from one, the near ones first, and the steps by which they are reached.
struct Reached {
    order: Vec<State>,
    by: Vec<Option<Step>>,
}

impl Reached {
    /// The shortest way to a state.
    fn way(&self, to: State) -> Vec<Step> {
        let (mut steps, mut at) = (Vec::new(), to);
        while let Some(step) = self.by[at as usize] {
            steps.push(step);
            at = step.0;
        }
        steps.reverse();
        steps
    }
}

impl Automaton {
    /// A word that is accepted, if there is one. Atoms that do not matter are false in it.
    pub fn word(&self, labels: &Labels) -> Option<Lasso> {
        let run = self.run()?;
        let letter = |(state, edge): &Step| letter(labels, &self.edges[*state as usize][*edge].label);
        let letters = |steps: &[Step]| steps.iter().map(letter).collect();
        Some(Lasso { prefix: letters(&run.prefix), cycle: letters(&run.cycle) }.shortest())
    }

    /// A word that both accept, if there is one.
    ///
    /// # Errors
    /// If their product would be too large.
    pub fn common_word(&self, other: &Automaton, logic: &Logic) -> Result<Option<Lasso>, TooLarge> {
        Ok(self.product(other, logic)?.word(&logic.labels))
    }

    /// A run that accepts: of the states on accepting cycles we try those that are near.
    pub(crate) fn run(&self) -> Option<Run> {
        let found = self.components();
        let accepting = self.accepting(&found);
        let reached = self.reach(self.initial, |_| true);
        let component = |state: State| found.of[state as usize];
        let near = reached.order.iter().filter(|state| component(**state).is_some_and(|at| accepting[at]));
        let tries = (PATIENCE / (1 + self.edge_count() * (1 + self.sets as usize))).max(1);
        let mut best: Option<Run> = None;
        for start in near.take(tries) {
            let prefix = reached.way(*start);
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

    /// A cycle with all marks: from one edge that adds marks to the nearest that adds more, and back.
    fn cycle(&self, start: State, inside: impl Fn(State) -> bool) -> Option<Vec<Step>> {
        let (mut steps, mut at, mut missing) = (Vec::new(), start, self.all_marks());
        while missing != 0 || at != start || steps.is_empty() {
            let wanted = |edge: &Edge| match missing {
                0 => edge.target == start,
                _ => edge.marks & missing != 0,
            };
            let reached = self.reach(at, &inside);
            let step = reached.order.iter().find_map(|state| {
                let edges = &self.edges[*state as usize];
                let at = edges.iter().position(|edge| inside(edge.target) && wanted(edge))?;
                Some((*state, at))
            })?;
            for (state, edge) in reached.way(step.0).into_iter().chain([step]) {
                let edge_taken = &self.edges[state as usize][edge];
                missing &= !edge_taken.marks;
                at = edge_taken.target;
                steps.push((state, edge));
            }
        }
        Some(steps)
    }

    /// A search in breadth.
    fn reach(&self, from: State, inside: impl Fn(State) -> bool) -> Reached {
        let mut reached = Reached { order: Vec::new(), by: vec![None; self.states()] };
        let mut seen = vec![false; self.states()];
        seen[from as usize] = true;
        let mut open = VecDeque::from([from]);
        while let Some(state) = open.pop_front() {
            reached.order.push(state);
            for (at, edge) in self.edges[state as usize].iter().enumerate() {
                let target = edge.target as usize;
                if !seen[target] && inside(edge.target) {
                    seen[target] = true;
                    reached.by[target] = Some((state, at));
                    open.push_back(edge.target);
                }
            }
        }
        reached
    }
}

/// A letter at which a label is true: what can be false is.
pub(crate) fn letter(labels: &Labels, label: &Label) -> Letter {
    let (mut at, mut holds) = (label.clone(), Vec::new());
    while let Some((variable, yes, no)) = labels.decide(&at) {
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
