//! Interface of visited sets.

use crate::hash::hash;
use crate::result::Certainty;
use crate::store::{Store, StoreFull};

/// The set of visited configurations of a depth-first search.
pub(crate) trait VisitedSet {
    /// The result of hashing a configuration, computed before the lookup.
    type Key: Copy;

    fn key(&self, state: &[u64]) -> Self::Key;

    /// Prefetches the entry for a key.
    fn prefetch(&self, key: Self::Key);

    /// Whether the configuration was visited.
    fn contains(&self, state: &[u64], key: Self::Key) -> bool;

    /// Marks the configuration as visited. Returns whether it is new.
    fn insert(&mut self, state: &[u64], key: Self::Key) -> Result<bool, StoreFull>;

    /// Memory in bytes.
    fn memory(&self) -> u64;

    /// How reliable the lookups are.
    fn certainty(&self) -> Certainty;
}

impl VisitedSet for Store {
    type Key = u64;

    fn key(&self, state: &[u64]) -> u64 {
        hash(state)
    }

    fn prefetch(&self, key: u64) {
        self.prefetch_slot(key);
    }

    fn contains(&self, state: &[u64], key: u64) -> bool {
        self.find_hashed(state, key).is_some()
    }

    fn insert(&mut self, state: &[u64], key: u64) -> Result<bool, StoreFull> {
        self.insert_hashed(state, key).map(|(_, is_new)| is_new)
    }

    fn memory(&self) -> u64 {
        Store::memory(self)
    }

    fn certainty(&self) -> Certainty {
        Certainty::Exact
    }
}
