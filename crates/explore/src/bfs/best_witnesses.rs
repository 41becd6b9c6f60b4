//! The least findings of one level, independent of the order in which threads report them.

use crate::result::FindingKind;
use std::collections::BTreeMap;

/// Sort key of a finding: path length, kind, and words of the configuration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WitnessKey {
    pub(super) length: u64,
    pub(super) kind: FindingKind,
    pub(super) state: Box<[u64]>,
}

/// How a finding was reached. Of several possibilities, the least is kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Predecessor {
    /// The words of the preceding configuration.
    pub(super) source: Box<[u64]>,
    pub(super) action: u32,
    /// The number of the preceding configuration.
    pub(super) from: u32,
}

/// The least findings, up to a maximum number.
pub(super) struct BestWitnesses {
    capacity: usize,
    least: BTreeMap<WitnessKey, Predecessor>,
}

impl BestWitnesses {
    pub(super) fn new(capacity: usize) -> BestWitnesses {
        BestWitnesses { capacity, least: BTreeMap::new() }
    }

    pub(super) fn add(
        &mut self,
        length: u64,
        kind: FindingKind,
        state: &[u64],
        predecessor: (&[u64], u32, u32),
    ) {
        // There may be very many findings, so nothing is allocated for one that is not kept.
        if self.least.len() >= self.capacity
            && self
                .least
                .last_key_value()
                .is_none_or(|(last, _)| (last.length, last.kind, &*last.state) < (length, kind, state))
        {
            return;
        }
        let (source, action, from) = predecessor;
        self.insert(
            WitnessKey { length, kind, state: state.into() },
            Predecessor { source: source.into(), action, from },
        );
    }

    fn insert(&mut self, key: WitnessKey, predecessor: Predecessor) {
        self.least
            .entry(key)
            .and_modify(|known| {
                if predecessor < *known {
                    known.clone_from(&predecessor);
                }
            })
            .or_insert(predecessor);
        if self.least.len() > self.capacity {
            self.least.pop_last();
        }
    }

    /// Moves the findings of `other` into this set.
    pub(super) fn merge(&mut self, other: &mut BestWitnesses) {
        for (key, predecessor) in std::mem::take(&mut other.least) {
            self.insert(key, predecessor);
        }
    }

    /// All findings in ascending order.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = (WitnessKey, Predecessor)> {
        self.least.into_iter()
    }
}
