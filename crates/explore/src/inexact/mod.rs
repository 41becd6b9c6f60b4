//! Searches that keep less of each configuration than it takes to tell it from all others, so that more of them can be
//! seen with the same memory. Some may be taken for others and never be looked at; how many is estimated and told.
//! What is found is exact all the same: the way to it is at hand when it is found.

mod bits;
mod fingerprints;
mod sketch;
mod swarm;

pub use fingerprints::Fingerprint;
pub use swarm::{Swarm, swarm};

use crate::depth::descend;
use crate::limits::{Incomplete, Pulse};
use crate::report::{Certainty, Report};
use crate::search::Search;
use crate::space::Space;
use bits::Bits;
use fingerprints::Fingerprints;

/// A memory of which only bits are set.
///
/// ```
/// let bitstate = invigil_explore::Bitstate { bytes: 1 << 20, ..Default::default() };
/// assert_eq!(bitstate.hashes, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitstate {
    /// The size of the memory.
    pub bytes: u64,
    /// The bits that are set for a configuration.
    pub hashes: u32,
    /// Chooses the hash functions.
    pub seed: u64,
}

impl Default for Bitstate {
    /// 64 MiB, three bits for each configuration.
    fn default() -> Bitstate {
        Bitstate { bytes: 64 << 20, hashes: 3, seed: 0 }
    }
}

/// Searches in depth, keeping a fingerprint of each configuration in a table of so many bytes.
///
/// ```
/// # use invigil_explore::{Space, Successors, Taken};
/// # struct Ring;
/// # impl Space for Ring {
/// #     fn width(&self) -> usize { 1 }
/// #     fn initial(&self, out: &mut Successors) { out.push(&[0], Taken::default()); }
/// #     fn successors(&self, state: &[u64], out: &mut Successors) {
/// #         out.push(&[(state[0] + 1) % 5000], Taken::default());
/// #     }
/// # }
/// use invigil_explore::{Certainty, Fingerprint, Search, compacted};
/// // `Ring` goes round in 5000 steps.
/// let report = compacted(&Ring, Fingerprint::Bits40, 1 << 16, &Search::default(), &());
/// assert_eq!(report.totals.states, 5000);
/// assert!(matches!(report.certainty, Certainty::Estimated { missed, .. } if missed > 0.0 && missed < 1e-6));
/// ```
pub fn compacted<S: Space, P: Pulse>(
    space: &S,
    fingerprint: Fingerprint,
    bytes: u64,
    search: &Search,
    pulse: &P,
) -> Report {
    match Fingerprints::new(fingerprint, bytes) {
        Some(seen) => descend(space, search, pulse, seen, None).0,
        None => no_memory(),
    }
}

/// Searches in depth, setting a few bits for each configuration.
///
/// ```
/// # use invigil_explore::{Space, Successors, Taken};
/// # struct Ring;
/// # impl Space for Ring {
/// #     fn width(&self) -> usize { 1 }
/// #     fn initial(&self, out: &mut Successors) { out.push(&[0], Taken::default()); }
/// #     fn successors(&self, state: &[u64], out: &mut Successors) {
/// #         out.push(&[(state[0] + 1) % 5000], Taken::default());
/// #     }
/// # }
/// use invigil_explore::{Bitstate, Certainty, Search, bitstate};
/// // `Ring` goes round in 5000 steps: the first one that is taken for seen ends it.
/// let report = bitstate(&Ring, &Bitstate { bytes: 1 << 20, ..Bitstate::default() }, &Search::default(), &());
/// assert!(report.totals.states <= 5000 && !report.is_whole());
/// ```
pub fn bitstate<S: Space, P: Pulse>(space: &S, bits: &Bitstate, search: &Search, pulse: &P) -> Report {
    match Bits::new(bits, false) {
        Some(seen) => descend(space, search, pulse, seen, None).0,
        None => no_memory(),
    }
}

/// What came of a search for which there was no memory.
fn no_memory() -> Report {
    let certainty = Certainty::Estimated { missed: 0.0, coverage: 0.0 };
    let incomplete = Some(Incomplete::Memory);
    Report { totals: Default::default(), bad: 0, incomplete, found: Vec::new(), certainty }
}
