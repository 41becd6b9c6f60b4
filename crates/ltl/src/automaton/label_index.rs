//! Labels of automata as bit sets of letter classes, for fast comparison.

use super::Automaton;
use crate::TooLarge;
use crate::label::{Label, Labels, Variable};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Maximum number of letter classes of a bit set.
const MAX_CLASSES: usize = u128::BITS as usize;

/// Numbered labels of some automata.
pub(super) struct LabelIndex<'a> {
    labels: &'a Labels,
    numbered: IndexSet<Label, FxBuildHasher>,
    /// Letter classes of each label, if there are few. Letters are in the same class if no label separates them.
    bit_sets: Option<Vec<u128>>,
}

impl<'a> LabelIndex<'a> {
    pub(super) fn new(labels: &'a Labels, automata: &[&Automaton]) -> Result<LabelIndex<'a>, TooLarge> {
        let edges = automata.iter().flat_map(|automaton| automaton.edges.iter().flatten());
        let all: IndexSet<Label, FxBuildHasher> = edges.map(|edge| edge.label.clone()).collect();
        let bit_sets = match truth_tables(labels, &all) {
            Some(tables) => Some(tables),
            None => letter_classes(labels, &all)?,
        };
        Ok(LabelIndex { labels, numbered: all, bit_sets })
    }

    /// Whether labels are compared as bit sets, which is cheap.
    pub(super) fn has_bit_sets(&self) -> bool {
        self.bit_sets.is_some()
    }

    /// Returns the number of a label, which must occur in one of the automata.
    pub(super) fn number(&self, label: &Label) -> usize {
        self.numbered.get_index_of(label).unwrap_or_default()
    }

    /// Whether a label implies the disjunction of others.
    pub(super) fn is_covered(
        &self,
        label: usize,
        mut others: impl Iterator<Item = usize>,
    ) -> Result<bool, TooLarge> {
        match &self.bit_sets {
            Some(classes) => {
                let mut rest = classes[label];
                Ok(others.any(|other| {
                    rest &= !classes[other];
                    rest == 0
                }))
            }
            None => {
                let mut rest = self.numbered[label].clone();
                for other in others {
                    rest = self.labels.minus(&rest, &self.numbered[other])?;
                    if rest.is_false() {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

/// Truth tables of the atoms: bit `i` of mask `n` is the value of atom `n` in letter `i`.
const MASKS: [u128; 7] = [
    0xAAAA_AAAA_AAAA_AAAA_AAAA_AAAA_AAAA_AAAA,
    0xCCCC_CCCC_CCCC_CCCC_CCCC_CCCC_CCCC_CCCC,
    0xF0F0_F0F0_F0F0_F0F0_F0F0_F0F0_F0F0_F0F0,
    0xFF00_FF00_FF00_FF00_FF00_FF00_FF00_FF00,
    0xFFFF_0000_FFFF_0000_FFFF_0000_FFFF_0000,
    0xFFFF_FFFF_0000_0000_FFFF_FFFF_0000_0000,
    0xFFFF_FFFF_FFFF_FFFF_0000_0000_0000_0000,
];

/// Returns the truth table of each label, if there are few atoms: every letter is its own class.
fn truth_tables(labels: &Labels, all: &IndexSet<Label, FxBuildHasher>) -> Option<Vec<u128>> {
    let mut tables = TruthTables { labels, atoms: Vec::new(), known: FxHashMap::default() };
    all.iter().map(|label| tables.of(label)).collect()
}

struct TruthTables<'a> {
    labels: &'a Labels,
    atoms: Vec<Variable>,
    known: FxHashMap<Label, u128>,
}

impl TruthTables<'_> {
    /// Computes the truth table of a label. `None` if there are more atoms than masks, which also bounds the recursion.
    fn of(&mut self, label: &Label) -> Option<u128> {
        if let Some(known) = self.known.get(label) {
            return Some(*known);
        }
        let table = match self.labels.cofactors(label) {
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

/// Partitions the letters by the labels. Returns the classes of each label, if there are few.
fn letter_classes(
    labels: &Labels,
    all: &IndexSet<Label, FxBuildHasher>,
) -> Result<Option<Vec<u128>>, TooLarge> {
    let mut classes = vec![labels.top()];
    for label in all {
        for at in 0..classes.len() {
            let rest = labels.minus(&classes[at], label)?;
            if rest.is_false() {
                continue;
            }
            let inside = labels.and(&classes[at], label)?;
            if !inside.is_false() {
                classes[at] = inside;
                classes.push(rest);
            }
        }
        if classes.len() > MAX_CLASSES {
            return Ok(None);
        }
    }
    let mut sets = Vec::with_capacity(all.len());
    for label in all {
        let mut set = 0;
        for (at, class) in classes.iter().enumerate() {
            if labels.intersects(class, label)? {
                set |= 1 << at;
            }
        }
        sets.push(set);
    }
    Ok(Some(sets))
}
