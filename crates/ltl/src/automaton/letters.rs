//! The labels of automata in a form in which they are compared quickly.

use super::Automaton;
use crate::TooLarge;
use crate::label::{Label, Labels, Variable};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Kinds of letters that fit into one machine word.
const FEW: usize = u128::BITS as usize;

/// The labels of some automata, by numbers.
pub(super) struct Letters<'a> {
    labels: &'a Labels,
    all: IndexSet<Label, FxBuildHasher>,
    /// The kinds of letters of each label, one bit for each kind, if there are few kinds. Letters are of the
    /// same kind if no label tells them apart.
    few: Option<Vec<u128>>,
}

impl<'a> Letters<'a> {
    pub(super) fn new(labels: &'a Labels, automata: &[&Automaton]) -> Result<Letters<'a>, TooLarge> {
        let edges = automata.iter().flat_map(|automaton| automaton.edges.iter().flatten());
        let all: IndexSet<Label, FxBuildHasher> = edges.map(|edge| edge.label.clone()).collect();
        let few = match truths(labels, &all) {
            Some(truths) => Some(truths),
            None => kinds(labels, &all)?,
        };
        Ok(Letters { labels, all, few })
    }

    /// Whether comparisons are cheap.
    pub(super) fn are_few(&self) -> bool {
        self.few.is_some()
    }

    /// The number of a label. It must be one of the automata's.
    pub(super) fn number(&self, label: &Label) -> usize {
        self.all.get_index_of(label).unwrap_or_default()
    }

    /// Whether each letter of a label is one of the others'.
    pub(super) fn covered(
        &self,
        label: usize,
        mut others: impl Iterator<Item = usize>,
    ) -> Result<bool, TooLarge> {
        match &self.few {
            Some(kinds) => {
                let mut rest = kinds[label];
                Ok(others.any(|other| {
                    rest &= !kinds[other];
                    rest == 0
                }))
            }
            None => {
                let mut rest = self.all[label].clone();
                for other in others {
                    rest = self.labels.minus(&rest, &self.all[other])?;
                    if rest.is_false() {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

/// Where the atoms of a letter that stand for a bit are true: bit `i` of a mask is letter number `i`.
const MASKS: [u128; 7] = [
    0xAAAA_AAAA_AAAA_AAAA_AAAA_AAAA_AAAA_AAAA,
    0xCCCC_CCCC_CCCC_CCCC_CCCC_CCCC_CCCC_CCCC,
    0xF0F0_F0F0_F0F0_F0F0_F0F0_F0F0_F0F0_F0F0,
    0xFF00_FF00_FF00_FF00_FF00_FF00_FF00_FF00,
    0xFFFF_0000_FFFF_0000_FFFF_0000_FFFF_0000,
    0xFFFF_FFFF_0000_0000_FFFF_FFFF_0000_0000,
    0xFFFF_FFFF_FFFF_FFFF_0000_0000_0000_0000,
];

/// The truth table of each label, if there are few atoms: every letter is a kind of its own.
fn truths(labels: &Labels, all: &IndexSet<Label, FxBuildHasher>) -> Option<Vec<u128>> {
    let mut tables = Tables { labels, atoms: Vec::new(), known: FxHashMap::default() };
    all.iter().map(|label| tables.of(label)).collect()
}

struct Tables<'a> {
    labels: &'a Labels,
    atoms: Vec<Variable>,
    known: FxHashMap<Label, u128>,
}

impl Tables<'_> {
    /// None if there are more atoms than masks. So it does not go deep.
    fn of(&mut self, label: &Label) -> Option<u128> {
        if let Some(known) = self.known.get(label) {
            return Some(*known);
        }
        let table = match self.labels.decide(label) {
            None if label.is_true() => u128::MAX,
            None => 0,
            Some((variable, yes, no)) => {
                let at = match self.atoms.iter().position(|atom| *atom == variable) {
                    Some(at) => at,
                    None => {
                        self.atoms.push(variable);
                        self.atoms.len() - 1
                    }
                };
                let mask = MASKS.get(at)?;
                self.of(&yes)? & mask | self.of(&no)? & !mask
            }
        };
        self.known.insert(label.clone(), table);
        Some(table)
    }
}

/// The kinds of letters of each label, if there are few.
fn kinds(labels: &Labels, all: &IndexSet<Label, FxBuildHasher>) -> Result<Option<Vec<u128>>, TooLarge> {
    let mut kinds = vec![labels.top()];
    for label in all {
        for at in 0..kinds.len() {
            let rest = labels.minus(&kinds[at], label)?;
            if rest.is_false() {
                continue;
            }
            let inside = labels.and(&kinds[at], label)?;
            if !inside.is_false() {
                kinds[at] = inside;
                kinds.push(rest);
            }
        }
        if kinds.len() > FEW {
            return Ok(None);
        }
    }
    let mut sets = Vec::with_capacity(all.len());
    for label in all {
        let mut set = 0;
        for (at, kind) in kinds.iter().enumerate() {
            if labels.meet(kind, label)? {
                set |= 1 << at;
            }
        }
        sets.push(set);
    }
    Ok(Some(sets))
}
