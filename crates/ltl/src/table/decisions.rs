//! Decision diagrams laid out as numbers: which bit to look at, and where to go.

use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels, Variable};
use crate::moore::Moore;
use crate::{Budget, TooLarge};
use rustc_hash::FxHashMap;

/// Marks what is no decision but an answer.
pub(super) const LEAF: u32 = 1 << 31;

/// The most decisions of a table.
const MOST: usize = 1 << 20;

/// Answers, each with the letters for which it is the right one.
type Leaves = Vec<(u32, Label)>;

/// Letters that no state tells apart, and where they lead from each state.
pub(super) type Classes = Vec<(Label, Vec<State>)>;

/// A decision: the bit, and what follows if it is not set, and if it is.
#[derive(Clone, Copy, Debug)]
struct Decision {
    bit: u32,
    next: [u32; 2],
}

/// Decisions. What follows is another one, or an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions(Vec<Decision>);

impl Decisions {
    /// The answer for a letter.
    #[inline]
    pub(super) fn walk(&self, mut at: u32, letter: u64) -> u32 {
        while at & LEAF == 0 {
            let decision = &self.0[at as usize];
            at = decision.next[(letter >> decision.bit & 1) as usize];
        }
        at & !LEAF
    }

    /// Where the decisions on one byte of the letter lead. All decisions are in the order of bits.
    pub(super) fn walk_byte(&self, mut at: u32, shift: u32, byte: u64) -> u32 {
        while at & LEAF == 0 && self.0[at as usize].bit < shift + 8 {
            let decision = &self.0[at as usize];
            at = decision.next[(byte >> (decision.bit - shift) & 1) as usize];
        }
        at
    }
}

/// Makes decisions of labels, each once.
pub(super) struct Builder<'a> {
    labels: &'a Labels,
    atoms: &'a [Atom],
    known: FxHashMap<Leaves, u32>,
    pub(super) made: Decisions,
}

impl<'a> Builder<'a> {
    pub(super) fn new(labels: &'a Labels, atoms: &'a [Atom]) -> Builder<'a> {
        Builder { labels, atoms, known: FxHashMap::default(), made: Decisions::default() }
    }

    /// Where to begin to find the answer. The labels exclude each other, and one of them is true.
    pub(super) fn add(&mut self, leaves: Leaves) -> Result<u32, TooLarge> {
        let mut leaves = leaves;
        // Atoms that no letter can have.
        for atom in self.labels.atoms_of(leaves.iter().map(|(_, label)| label)) {
            if !self.atoms.contains(&atom) {
                leaves = self.given(&leaves, atom, false)?;
            }
        }
        self.decide(0, leaves)
    }

    /// The depth of this is the number of atoms of a letter.
    fn decide(&mut self, from: usize, leaves: Leaves) -> Result<u32, TooLarge> {
        if let [(leaf, _)] = leaves[..] {
            return Ok(leaf | LEAF);
        }
        if let Some(known) = self.known.get(&leaves) {
            return Ok(*known);
        }
        let wanted = self.labels.atoms_of(leaves.iter().map(|(_, label)| label));
        let next = (from..self.atoms.len()).find(|bit| wanted.binary_search(&self.atoms[*bit]).is_ok());
        let Some(bit) = next else { return Ok(leaves.first().map_or(0, |(leaf, _)| *leaf) | LEAF) };
        let mut then = [0; 2];
        for (value, then) in [false, true].into_iter().zip(&mut then) {
            let rest = self.given(&leaves, self.atoms[bit], value)?;
            *then = self.decide(bit + 1, rest)?;
        }
        Budget::allows("decisions of a table", self.made.0.len() + 1, MOST)?;
        self.made.0.push(Decision { bit: bit as u32, next: then });
        let at = self.made.0.len() as u32 - 1;
        self.known.insert(leaves, at);
        Ok(at)
    }

    /// What is left when an atom has a value.
    fn given(&self, leaves: &Leaves, atom: Atom, value: bool) -> Result<Leaves, TooLarge> {
        let Some(yes) = self.labels.known(Variable::Atom(atom)) else { return Ok(leaves.clone()) };
        let literal = if value { yes } else { self.labels.not(&yes)? };
        let mut rest = Leaves::new();
        for (leaf, label) in leaves {
            let label = self.labels.restrict(label, &literal)?;
            if !label.is_false() {
                rest.push((*leaf, label));
            }
        }
        Ok(rest)
    }

    /// The classes of letters of a machine; none if there are more than `most`.
    pub(super) fn classes<Output>(
        &self,
        machine: &Moore<Output>,
        most: usize,
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
                if finer.len() > most {
                    return Ok(None);
                }
            }
            all = finer;
        }
        Ok(Some(all))
    }
}
