//! Whether it matters how often a letter is repeated.
//!
//! It does if some word on which the formula holds, and some word on which it does not, become the same when
//! letters of both are repeated. Two automata that read such a word walk together; at a letter that is repeated
//! one of them may rest.

use crate::automaton::word::{Run, Step, letter};
use crate::automaton::{Automaton, Edge, MAX_SETS, State, all_marks};
use crate::formula::{Formula, Node};
use crate::label::Label;
use crate::word::{Lasso, Letter};
use crate::{Budget, Logic, TooLarge};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Whether a formula counts how often something is repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuttering {
    /// It does not: a letter may be repeated any number of times.
    Invariant,
    /// It does: these words differ only in how often letters are repeated.
    Sensitive {
        /// A word on which it holds.
        holds: Lasso,
        /// A word on which it does not.
        fails: Lasso,
    },
}

/// Who reads a letter at a step; the other one rests, because it is the same letter as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    Both,
    One,
    Other,
}

/// Two automata side by side.
struct Pair<'a> {
    one: &'a Automaton,
    other: &'a Automaton,
    /// Their states, and what the letter that may be repeated can be.
    states: IndexSet<(State, State, Label), FxBuildHasher>,
    reads: Vec<Vec<Reads>>,
}

impl Logic {
    /// Whether a formula counts how often something is repeated.
    ///
    /// # Errors
    /// If the automata would be too large.
    pub fn stuttering(&mut self, formula: Formula) -> Result<Stuttering, TooLarge> {
        let counts = |part: &Formula| {
            matches!(self.formulae.node(*part), Node::Next(_) | Node::Yesterday(_) | Node::WeakYesterday(_))
        };
        if !self.formulae.within(formula).iter().any(counts) {
            return Ok(Stuttering::Invariant);
        }
        let not = self.formulae.not(formula)?;
        let (one, other) = (moving(self.translate(formula)?), moving(self.translate(not)?));
        let mut pair = Pair { one: &one, other: &other, states: IndexSet::default(), reads: Vec::new() };
        let joint = pair.explore(self)?;
        let Some(run) = joint.run() else { return Ok(Stuttering::Invariant) };
        let (holds, fails) = pair.words(self, &joint, run);
        Ok(Stuttering::Sensitive { holds, fails })
    }
}

/// An automaton with at least one set, so that it cannot rest for ever.
fn moving(mut automaton: Automaton) -> Automaton {
    if automaton.sets == 0 {
        automaton.sets = 1;
        automaton.edges.iter_mut().flatten().for_each(|edge| edge.marks = 1);
    }
    automaton
}

impl Pair<'_> {
    /// Everything that the two can do. The label of an edge is what the letter can be, of which a later edge
    /// may leave less as long as it is repeated.
    fn explore(&mut self, logic: &Logic) -> Result<Automaton, TooLarge> {
        let (labels, sets) = (&logic.labels, self.one.sets + self.other.sets);
        Budget::allows("acceptance sets", sets as usize, MAX_SETS as usize)?;
        self.states.insert((self.one.initial, self.other.initial, labels.bottom()));
        let (mut edges, mut count): (Vec<Vec<Edge>>, usize) = (Vec::new(), 0);
        while let Some((one, other, before)) = self.states.get_index(edges.len()).cloned() {
            let mut ways = Vec::new();
            let (of_one, of_other) = (&self.one.edges[one as usize], &self.other.edges[other as usize]);
            for left in of_one {
                ways.push((Reads::One, labels.and(&before, &left.label)?, left.marks, left.target, other));
                for right in of_other {
                    let marks = left.marks | right.marks << self.one.sets;
                    let label = labels.and(&left.label, &right.label)?;
                    ways.push((Reads::Both, label, marks, left.target, right.target));
                }
            }
            for right in of_other {
                let marks = right.marks << self.one.sets;
                ways.push((Reads::Other, labels.and(&before, &right.label)?, marks, one, right.target));
            }
            ways.retain(|(_, label, ..)| !label.is_false());
            let (mut out, mut reads) = (Vec::new(), Vec::new());
            for (who, label, marks, one, other) in ways {
                let target = self.states.insert_full((one, other, label.clone())).0 as State;
                out.push(Edge { label, marks: marks & all_marks(sets), target });
                reads.push(who);
            }
            count += out.len();
            Budget::allows("states", self.states.len(), logic.budget.states)?;
            Budget::allows("edges", count, logic.budget.edges)?;
            edges.push(out);
            self.reads.push(reads);
        }
        Ok(Automaton { initial: 0, edges, sets })
    }

    fn reads(&self, step: &Step) -> Reads {
        self.reads[step.0 as usize][step.1]
    }

    /// What each of them has read on a run.
    fn words(&self, logic: &Logic, joint: &Automaton, mut run: Run) -> (Lasso, Lasso) {
        // If letters change on the cycle, it is made to begin where one does.
        if let Some(change) = run.cycle.iter().position(|step| self.reads(step) == Reads::Both) {
            run.prefix.extend_from_slice(&run.cycle[..change]);
            run.cycle.rotate_left(change);
        }
        // What is known of a letter when it is repeated for the last time holds from its first time on.
        let mut letters: Vec<(Reads, Letter)> = Vec::new();
        let mut last: Option<Letter> = None;
        for step in run.prefix.iter().chain(&run.cycle).rev() {
            let label = &joint.edges[step.0 as usize][step.1].label;
            let same = last.take().unwrap_or_else(|| letter(&logic.labels, label));
            letters.push((self.reads(step), same.clone()));
            last = (self.reads(step) != Reads::Both).then_some(same);
        }
        letters.reverse();
        let read_by = |who: Reads| {
            let of = |letters: &[(Reads, Letter)]| {
                let read = letters.iter().filter(|(reads, _)| *reads == who || *reads == Reads::Both);
                read.map(|(_, letter)| letter.clone()).collect::<Vec<Letter>>()
            };
            let (prefix, cycle) = letters.split_at(run.prefix.len());
            Lasso { prefix: of(prefix), cycle: of(cycle) }.shortest()
        };
        (read_by(Reads::One), read_by(Reads::Other))
    }
}
