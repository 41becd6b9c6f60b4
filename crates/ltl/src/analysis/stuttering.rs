//! Stutter invariance: whether repeating letters changes the value of a formula.
//!
//! A formula is stutter-sensitive if it holds on a word, fails on another one, and repeating letters makes the two words
//! equal. The automata of the formula and of its negation read such a pair of words in a product in which, at a repeated
//! letter, one of them may stay where it is.

use crate::automaton::accepting_run::{Run, Step, letter};
use crate::automaton::{Automaton, Edge, MAX_SETS, State, all_marks};
use crate::formula::{Formula, Node};
use crate::label::Label;
use crate::word::{Lasso, Letter};
use crate::{Budget, Logic, TooLarge};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Result of the analysis of stutter invariance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuttering {
    /// Repeating letters never changes the value.
    Invariant,
    /// Two words that differ only by repeated letters have different values.
    Sensitive {
        /// A word on which the formula holds.
        holds: Lasso,
        /// A word on which the formula does not hold.
        fails: Lasso,
    },
}

/// The automata that read a letter on an edge of the product. The other one stays, because the letter repeats the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Movers {
    Both,
    First,
    Second,
}

/// Product of two automata modulo repeated letters.
struct StutterProduct<'a> {
    first: &'a Automaton,
    second: &'a Automaton,
    /// States of both automata, with the possible values of the last letter.
    states: IndexSet<(State, State, Label), FxBuildHasher>,
    /// The automata that move, for each edge of each state.
    movers: Vec<Vec<Movers>>,
}

impl Logic {
    /// Decides whether the formula is stutter-invariant.
    ///
    /// # Errors
    /// Fails if an automaton exceeds the budget.
    pub fn stuttering(&mut self, formula: Formula) -> Result<Stuttering, TooLarge> {
        let is_step = |part: &Formula| {
            matches!(self.formulae.node(*part), Node::Next(_) | Node::Yesterday(_) | Node::WeakYesterday(_))
        };
        if !self.formulae.subformulae(formula).iter().any(is_step) {
            return Ok(Stuttering::Invariant);
        }
        let not = self.formulae.not(formula)?;
        let (first, second) =
            (with_acceptance(self.translate(formula)?), with_acceptance(self.translate(not)?));
        let mut product = StutterProduct {
            first: &first,
            second: &second,
            states: IndexSet::default(),
            movers: Vec::new(),
        };
        let joint = product.explore(self)?;
        let Some(run) = joint.accepting_run() else { return Ok(Stuttering::Invariant) };
        let (holds, fails) = product.words(self, &joint, run);
        Ok(Stuttering::Sensitive { holds, fails })
    }
}

/// Ensures that there is an acceptance set, so that an accepting run of the product moves the automaton infinitely often.
fn with_acceptance(mut automaton: Automaton) -> Automaton {
    if automaton.sets == 0 {
        automaton.sets = 1;
        automaton.edges.iter_mut().flatten().for_each(|edge| edge.marks = 1);
    }
    automaton
}

impl StutterProduct<'_> {
    /// Builds the product as an automaton. The label of an edge has the possible values of its letter; while the letter is
    /// repeated, later edges restrict it further.
    fn explore(&mut self, logic: &Logic) -> Result<Automaton, TooLarge> {
        let (labels, sets) = (&logic.labels, self.first.sets + self.second.sets);
        Budget::check("acceptance sets", sets as usize, MAX_SETS as usize)?;
        self.states.insert((self.first.initial, self.second.initial, labels.bottom()));
        let (mut edges, mut count): (Vec<Vec<Edge>>, usize) = (Vec::new(), 0);
        while let Some((first, second, before)) = self.states.get_index(edges.len()).cloned() {
            let mut candidates = Vec::new();
            let (first_edges, second_edges) =
                (&self.first.edges[first as usize], &self.second.edges[second as usize]);
            for left in first_edges {
                candidates.push((
                    Movers::First,
                    labels.and(&before, &left.label)?,
                    left.marks,
                    left.target,
                    second,
                ));
                for right in second_edges {
                    let marks = left.marks | right.marks << self.first.sets;
                    let label = labels.and(&left.label, &right.label)?;
                    candidates.push((Movers::Both, label, marks, left.target, right.target));
                }
            }
            for right in second_edges {
                let marks = right.marks << self.first.sets;
                candidates.push((
                    Movers::Second,
                    labels.and(&before, &right.label)?,
                    marks,
                    first,
                    right.target,
                ));
            }
            candidates.retain(|(_, label, ..)| !label.is_false());
            let (mut out, mut movers) = (Vec::new(), Vec::new());
            for (mover, label, marks, first, second) in candidates {
                let target = self.states.insert_full((first, second, label.clone())).0 as State;
                out.push(Edge { label, marks: marks & all_marks(sets), target });
                movers.push(mover);
            }
            count += out.len();
            Budget::check("states", self.states.len(), logic.budget.states)?;
            Budget::check("edges", count, logic.budget.edges)?;
            edges.push(out);
            self.movers.push(movers);
        }
        Ok(Automaton { initial: 0, edges, sets })
    }

    /// Returns the automata that move on a step of a run.
    fn movers(&self, step: &Step) -> Movers {
        self.movers[step.0 as usize][step.1]
    }

    /// Returns the words that the two automata read on a run.
    fn words(&self, logic: &Logic, joint: &Automaton, mut run: Run) -> (Lasso, Lasso) {
        // If the letter changes on the cycle, rotate it to start at a change.
        if let Some(change) = run.cycle.iter().position(|step| self.movers(step) == Movers::Both) {
            run.prefix.extend_from_slice(&run.cycle[..change]);
            run.cycle.rotate_left(change);
        }
        // The last repetition of a letter has the strongest label, so letters are chosen backwards.
        let mut letters: Vec<(Movers, Letter)> = Vec::new();
        let mut last: Option<Letter> = None;
        for step in run.prefix.iter().chain(&run.cycle).rev() {
            let label = &joint.edges[step.0 as usize][step.1].label;
            let same = last.take().unwrap_or_else(|| letter(&logic.labels, label));
            letters.push((self.movers(step), same.clone()));
            last = (self.movers(step) != Movers::Both).then_some(same);
        }
        letters.reverse();
        let read_by = |mover: Movers| {
            let of = |letters: &[(Movers, Letter)]| {
                let read = letters.iter().filter(|(movers, _)| *movers == mover || *movers == Movers::Both);
                read.map(|(_, letter)| letter.clone()).collect::<Vec<Letter>>()
            };
            let (prefix, cycle) = letters.split_at(run.prefix.len());
            Lasso { prefix: of(prefix), cycle: of(cycle) }.shortest()
        };
        (read_by(Movers::First), read_by(Movers::Second))
    }
}
