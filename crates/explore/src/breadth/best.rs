//! The first of what is found at one level, whoever finds it when.

use crate::report::What;
use std::collections::BTreeMap;

/// What was found: by the length of its path, its kind, and the words of the configuration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) length: u64,
    pub(super) what: What,
    pub(super) state: Box<[u64]>,
}

/// How it was found: of several ways, the least is kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way {
    /// The words of the configuration before.
    pub(super) source: Box<[u64]>,
    pub(super) action: u32,
    /// Where the configuration before is stored.
    pub(super) from: u32,
}

/// The least few of what was found.
pub(super) struct Best {
    most: usize,
    least: BTreeMap<Key, Way>,
}

impl Best {
    pub(super) fn new(most: usize) -> Best {
        Best { most, least: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, length: u64, what: What, state: &[u64], way: (&[u64], u32, u32)) {
        // There may be very many: nothing is allocated for what is not kept.
        if self.least.len() >= self.most
            && self
                .least
                .last_key_value()
                .is_none_or(|(last, _)| (last.length, last.what, &*last.state) < (length, what, state))
        {
            return;
        }
        let (source, action, from) = way;
        self.insert(Key { length, what, state: state.into() }, Way { source: source.into(), action, from });
    }

    fn insert(&mut self, key: Key, way: Way) {
        self.least
            .entry(key)
            .and_modify(|known| {
                if way < *known {
                    known.clone_from(&way);
                }
            })
            .or_insert(way);
        if self.least.len() > self.most {
            self.least.pop_last();
        }
    }

    /// Takes what `other` has.
    pub(super) fn merge(&mut self, other: &mut Best) {
        for (key, way) in std::mem::take(&mut other.least) {
            self.insert(key, way);
        }
    }

    /// All of them, the least first.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = (Key, Way)> {
        self.least.into_iter()
    }
}
