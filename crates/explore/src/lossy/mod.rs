//! Searches with lossy storage: they explore more configurations in the same memory, but may miss some. The result
//! estimates how many. Findings are nevertheless exact, because the path to a finding is on the stack of the search.
//!
//! Hand-written because the filters share one hash of the state, and `fastbloom` or `hyperloglogplus` would hash again.

mod bloom_filter;
mod fingerprint_table;
mod hyperloglog;
mod swarm;

pub use fingerprint_table::Fingerprint;
pub use swarm::{Swarm, swarm};

use crate::dfs::dfs_with;
use crate::limits::{Incomplete, ProgressListener};
use crate::options::SearchOptions;
use crate::result::{Certainty, SearchResult};
use crate::state_space::StateSpace;
use bloom_filter::BloomFilter;
use fingerprint_table::FingerprintTable;

/// Parameters of bitstate hashing.
///
/// ```
/// let bitstate = invigil_explore::Bitstate { bytes: 1 << 20, ..Default::default() };
/// assert_eq!(bitstate.hashes, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitstate {
    /// Size of the bit array in bytes.
    pub bytes: u64,
    /// Number of bits set per configuration.
    pub hashes: u32,
    /// Selects the hash functions.
    pub seed: u64,
}

impl Default for Bitstate {
    /// 64 MiB and three bits per configuration.
    fn default() -> Bitstate {
        Bitstate { bytes: 64 << 20, hashes: 3, seed: 0 }
    }
}

/// Depth-first search with hash compaction: stores a fingerprint of each configuration in a table of `bytes` bytes.
///
/// ```
/// # use invigil_explore::{StateSpace, Successors, TransitionInfo};
/// # struct Ring;
/// # impl StateSpace for Ring {
/// #     fn width(&self) -> usize { 1 }
/// #     fn initial(&self, out: &mut Successors) { out.push(&[0], TransitionInfo::default()); }
/// #     fn successors(&self, state: &[u64], out: &mut Successors) {
/// #         out.push(&[(state[0] + 1) % 5000], TransitionInfo::default());
/// #     }
/// # }
/// use invigil_explore::{Certainty, Fingerprint, SearchOptions, hash_compaction};
/// // `Ring` goes round in 5000 steps.
/// let result = hash_compaction(&Ring, Fingerprint::Bits40, 1 << 16, &SearchOptions::default(), &());
/// assert_eq!(result.totals.states, 5000);
/// assert!(matches!(result.certainty, Certainty::Estimated { missed, .. } if missed > 0.0 && missed < 1e-6));
/// ```
pub fn hash_compaction<S: StateSpace, P: ProgressListener>(
    space: &S,
    fingerprint: Fingerprint,
    bytes: u64,
    options: &SearchOptions,
    listener: &P,
) -> SearchResult {
    match FingerprintTable::new(fingerprint, bytes) {
        Some(visited) => dfs_with(space, options, listener, visited, None).0,
        None => no_memory(),
    }
}

/// Depth-first search with bitstate hashing: sets a few bits for each configuration.
///
/// ```
/// # use invigil_explore::{StateSpace, Successors, TransitionInfo};
/// # struct Ring;
/// # impl StateSpace for Ring {
/// #     fn width(&self) -> usize { 1 }
/// #     fn initial(&self, out: &mut Successors) { out.push(&[0], TransitionInfo::default()); }
/// #     fn successors(&self, state: &[u64], out: &mut Successors) {
/// #         out.push(&[(state[0] + 1) % 5000], TransitionInfo::default());
/// #     }
/// # }
/// use invigil_explore::{Bitstate, Certainty, SearchOptions, bitstate};
/// // `Ring` goes round in 5000 steps: the first one that is wrongly taken as visited ends it.
/// let result = bitstate(&Ring, &Bitstate { bytes: 1 << 20, ..Bitstate::default() }, &SearchOptions::default(), &());
/// assert!(result.totals.states <= 5000 && !result.is_exhaustive());
/// ```
pub fn bitstate<S: StateSpace, P: ProgressListener>(
    space: &S,
    bits: &Bitstate,
    options: &SearchOptions,
    listener: &P,
) -> SearchResult {
    match BloomFilter::new(bits, false) {
        Some(visited) => dfs_with(space, options, listener, visited, None).0,
        None => no_memory(),
    }
}

/// The result of a search for which there was not enough memory.
fn no_memory() -> SearchResult {
    let certainty = Certainty::Estimated { missed: 0.0, coverage: 0.0 };
    let incomplete = Some(Incomplete::Memory);
    SearchResult { totals: Default::default(), bad: 0, incomplete, findings: Vec::new(), certainty }
}
