//! Telling what was seen from what is new.

use crate::hash::hash;
use crate::report::Certainty;
use crate::store::{Full, Store};

/// The configurations that a search has seen.
pub(crate) trait Seen {
    /// What is computed of a configuration before it is looked for.
    type Key: Copy;

    fn key(&self, state: &[u64]) -> Self::Key;

    /// The configuration of this key will be looked for soon.
    fn soon(&self, key: Self::Key);

    /// Whether it was seen.
    fn contains(&self, state: &[u64], key: Self::Key) -> bool;

    /// Whether it is new. From now on it was seen.
    fn insert(&mut self, state: &[u64], key: Self::Key) -> Result<bool, Full>;

    /// Bytes.
    fn memory(&self) -> u64;

    /// How far its answers can be trusted.
    fn certainty(&self) -> Certainty;
}

impl Seen for Store {
    type Key = u64;

    fn key(&self, state: &[u64]) -> u64 {
        hash(state)
    }

    fn soon(&self, key: u64) {
        self.prefetch_slot(key);
    }

    fn contains(&self, state: &[u64], key: u64) -> bool {
        self.find_hashed(state, key).is_some()
    }

    fn insert(&mut self, state: &[u64], key: u64) -> Result<bool, Full> {
        self.insert_hashed(state, key).map(|(_, is_new)| is_new)
    }

    fn memory(&self) -> u64 {
        Store::memory(self)
    }

    fn certainty(&self) -> Certainty {
        Certainty::Exact
    }
}
