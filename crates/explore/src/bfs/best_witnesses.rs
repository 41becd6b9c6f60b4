//! The smallest findings of one level, independent of the order in which threads report them.

use crate::result::FindingKind;
use std::collections::BTreeMap;

/// Sort key of a finding: path length, kind, and words of the configuration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WitnessKey {
    pub(super) length: u64,
    pub(super) kind: FindingKind,
    pub(super) state: Box<[u64]>,
}

/// The last step to a finding. If there are several, the smallest is kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Predecessor {
    /// The words of the preceding configuration.
    pub(super) source: Box<[u64]>,
    pub(super) action: u32,
    /// The number of the preceding configuration.
    pub(super) number: u32,
}

/// The smallest findings, up to a maximum number.
pub(super) struct BestWitnesses {
    capacity: usize,
    smallest: BTreeMap<WitnessKey, Predecessor>,
}

impl BestWitnesses {
    pub(super) fn new(capacity: usize) -> BestWitnesses {
        BestWitnesses { capacity, smallest: BTreeMap::new() }
    }

    pub(super) fn add(
        &mut self,
        length: u64,
        kind: FindingKind,
        state: &[u64],
        predecessor: (&[u64], u32, u32),
    ) {
        // There may be very many findings, so nothing is allocated for one that is not kept.
        if self.smallest.len() >= self.capacity
            && self
                .smallest
                .last_key_value()
                .is_none_or(|(last, _)| (last.length, last.kind, &*last.state) < (length, kind, state))
        {
            return;
        }
        let (source, action, number) = predecessor;
        self.insert(
            WitnessKey { length, kind, state: state.into() },
            Predecessor { source: source.into(), action, number },
        );
    }

    fn insert(&mut self, key: WitnessKey, predecessor: Predecessor) {
        self.smallest
            .entry(key)
            .and_modify(|kept| {
                if predecessor < *kept {
                    kept.clone_from(&predecessor);
                }
            })
            .or_insert(predecessor);
        if self.smallest.len() > self.capacity {
            self.smallest.pop_last();
        }
    }

    /// Moves the findings of `other` into this set.
    pub(super) fn merge(&mut self, other: &mut BestWitnesses) {
        for (key, predecessor) in std::mem::take(&mut other.smallest) {
            self.insert(key, predecessor);
        }
    }

    /// All findings in ascending order.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = (WitnessKey, Predecessor)> {
        self.smallest.into_iter()
    }
}
