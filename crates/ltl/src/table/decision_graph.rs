//! Decision graphs: decision diagrams as arrays of numbers.

use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels, Variable};
use crate::moore::Moore;
use crate::{Budget, TooLarge};
use rustc_hash::FxHashMap;

/// Flag of an outcome, in contrast to the index of a decision.
pub(super) const LEAF: u32 = 1 << 31;

/// Maximum number of decisions of a table.
const MAX_DECISIONS: usize = 1 << 20;

/// Outcomes, each with its letters.
type Cases = Vec<(u32, Label)>;

/// Classes of letters that no state distinguishes, each with the target from every state.
pub(super) type Classes = Vec<(Label, Vec<State>)>;

/// Decision on a bit, with the successors for 0 and 1.
#[derive(Clone, Copy, Debug)]
struct Decision {
    bit: u32,
    next: [u32; 2],
}

/// Graph of decisions. Successors are decisions or outcomes; bits increase along every path.
#[derive(Clone, Debug, Default)]
pub(super) struct DecisionGraph(Vec<Decision>);

impl DecisionGraph {
    /// Returns the outcome for a letter.
    #[inline]
    pub(super) fn evaluate(&self, mut at: u32, letter: u64) -> u32 {
        while at & LEAF == 0 {
            let decision = &self.0[at as usize];
            at = decision.next[(letter >> decision.bit & 1) as usize];
        }
        at & !LEAF
    }

    /// Evaluates the decisions on one byte of the letter. Returns the node that is reached.
    pub(super) fn evaluate_byte(&self, mut at: u32, shift: u32, byte: u64) -> u32 {
        while at & LEAF == 0 && self.0[at as usize].bit < shift + 8 {
            let decision = &self.0[at as usize];
            at = decision.next[(byte >> (decision.bit - shift) & 1) as usize];
        }
        at
    }
}

/// Builder of a decision graph without duplicate nodes.
pub(super) struct GraphBuilder<'a> {
    labels: &'a Labels,
    atoms: &'a [Atom],
    known: FxHashMap<Cases, u32>,
    pub(super) graph: DecisionGraph,
}

impl<'a> GraphBuilder<'a> {
    pub(super) fn new(labels: &'a Labels, atoms: &'a [Atom]) -> GraphBuilder<'a> {
        GraphBuilder { labels, atoms, known: FxHashMap::default(), graph: DecisionGraph::default() }
    }

    /// Adds the decisions for some cases, whose labels are disjoint and cover all letters. Returns the root.
    pub(super) fn add(&mut self, cases: Cases) -> Result<u32, TooLarge> {
        let mut cases = cases;
        // Atoms that are not part of a letter are false.
        for atom in self.labels.atoms_of(cases.iter().map(|(_, label)| label)) {
            if !self.atoms.contains(&atom) {
                cases = self.restrict(&cases, atom, false)?;
            }
        }
        self.add_from(0, cases)
    }

    /// Recursion is bounded by the number of atoms of a letter.
    fn add_from(&mut self, from: usize, cases: Cases) -> Result<u32, TooLarge> {
        if let [(outcome, _)] = cases[..] {
            return Ok(outcome | LEAF);
        }
        if let Some(known) = self.known.get(&cases) {
            return Ok(*known);
        }
        let support = self.labels.atoms_of(cases.iter().map(|(_, label)| label));
        let next = (from..self.atoms.len()).find(|bit| support.binary_search(&self.atoms[*bit]).is_ok());
        let Some(bit) = next else { return Ok(cases.first().map_or(0, |(outcome, _)| *outcome) | LEAF) };
        let mut successors = [0; 2];
        for (value, successors) in [false, true].into_iter().zip(&mut successors) {
            let rest = self.restrict(&cases, self.atoms[bit], value)?;
            *successors = self.add_from(bit + 1, rest)?;
        }
        Budget::check("decisions of a table", self.graph.0.len() + 1, MAX_DECISIONS)?;
        self.graph.0.push(Decision { bit: bit as u32, next: successors });
        let at = self.graph.0.len() as u32 - 1;
        self.known.insert(cases, at);
        Ok(at)
    }

    /// Restricts the cases to a value of an atom.
    fn restrict(&self, cases: &Cases, atom: Atom, value: bool) -> Result<Cases, TooLarge> {
        let Some(yes) = self.labels.known_variable(Variable::Atom(atom)) else { return Ok(cases.clone()) };
        let literal = if value { yes } else { self.labels.not(&yes)? };
        let mut rest = Cases::new();
        for (outcome, label) in cases {
            let label = self.labels.restrict(label, &literal)?;
            if !label.is_false() {
                rest.push((*outcome, label));
            }
        }
        Ok(rest)
    }

    /// Computes the letter classes of a machine. `None` if there are more than `limit`.
    pub(super) fn classes<Output>(
        &self,
        machine: &Moore<Output>,
        limit: usize,
    ) -> Result<Option<Classes>, TooLarge> {
        let mut all: Classes = vec![(self.labels.top(), Vec::new())];
        for edges in &machine.edges {
            let mut finer = Classes::with_capacity(all.len());
            for (class, targets) in &all {
                for (label, target) in edges {
                    let both = self.labels.and(class, label)?;
                    if !both.is_false() {
                        let mut targets = targets.clone();
                        targets.push(*target);
                        finer.push((both, targets));
                    }
                }
                if finer.len() > limit {
                    return Ok(None);
                }
            }
            all = finer;
        }
        Ok(Some(all))
    }
}
