//! From the labels of a state's edges to the questions that decide between them.

use invigil_ltl::formula::Atom;
use invigil_ltl::label::{Labels, Variable};
use invigil_ltl::{Label, TooLarge};
use invigil_monitor::decision::{Fork, Next};
use std::collections::HashMap;

/// The most questions that all decisions of a property may take together.
const MAX_FORKS: usize = 1 << 20;
/// The most questions on one way.
const MAX_DEPTH: usize = 1 << 10;

/// Edges that exclude each other, each with what taking it means.
pub(super) type Edges = Vec<(Label, Next)>;

/// Makes decision diagrams that share what they have in common.
#[derive(Default)]
pub(super) struct Diagrams {
    pub(super) forks: Vec<Fork>,
    shared: HashMap<Fork, u32>,
    /// Decisions that were made already on the event at hand.
    known: HashMap<Edges, Next>,
}

impl Diagrams {
    /// Goes over to another event: there the questions are others.
    pub(super) fn next_event(&mut self) {
        self.known.clear();
    }

    /// The diagram that leads to the edge whose label is true; to [`Next::Stay`] where there is none.
    /// `test` gives the question for an atom.
    pub(super) fn decide(
        &mut self,
        labels: &mut Labels,
        edges: &Edges,
        test: &mut dyn FnMut(Atom) -> u32,
    ) -> Result<Next, TooLarge> {
        self.below(labels, edges, test, 0)
    }

    fn below(
        &mut self,
        labels: &mut Labels,
        edges: &Edges,
        test: &mut dyn FnMut(Atom) -> u32,
        depth: usize,
    ) -> Result<Next, TooLarge> {
        if depth > MAX_DEPTH {
            return Err(TooLarge { what: "atoms that one decision looks at", limit: MAX_DEPTH });
        }
        let decided = edges.iter().find_map(|(label, _)| labels.decide(label)).map(|(variable, ..)| variable);
        let Some(variable) = decided else {
            return Ok(edges.first().map_or(Next::Stay, |(_, next)| *next));
        };
        if let Some(known) = self.known.get(edges) {
            return Ok(*known);
        }
        let mut side = |value: bool| -> Result<Edges, TooLarge> {
            let cube = labels.cube(&[(variable, value)])?;
            let mut rest = Vec::new();
            for (label, next) in edges {
                let label = labels.restrict(label, &cube)?;
                if !label.is_false() {
                    rest.push((label, *next));
                }
            }
            Ok(rest)
        };
        let (yes, no) = (side(true)?, side(false)?);
        let yes = self.below(labels, &yes, test, depth + 1)?;
        let no = self.below(labels, &no, test, depth + 1)?;
        let next = match variable {
            _ if yes == no => yes,
            Variable::Atom(atom) => self.fork(Fork { test: test(atom), yes, no })?,
            // Machines for people's formulae speak of atoms only.
            Variable::Helper(_) => no,
        };
        self.known.insert(edges.clone(), next);
        Ok(next)
    }

    fn fork(&mut self, fork: Fork) -> Result<Next, TooLarge> {
        if self.forks.len() == MAX_FORKS {
            return Err(TooLarge { what: "questions in the decisions of a monitor", limit: MAX_FORKS });
        }
        let number = *self.shared.entry(fork).or_insert_with(|| {
            self.forks.push(fork);
            self.forks.len() as u32 - 1
        });
        Ok(Next::Ask(number))
    }
}
