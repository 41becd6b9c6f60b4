//! What was observed, and when.

use crate::system::{Instant, MonitorId, PropositionId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a label can speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Atom {
    /// Something that a component observes.
    Observed(PropositionId),
    /// What another monitor says of the run from that instant on.
    Verdict(MonitorId),
}

/// An atom at an instant: what must be known to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Obligation {
    /// When.
    pub at: Instant,
    /// What.
    pub atom: Atom,
}

/// Values of atoms at instants. Two memories are joined by taking what either has, in any order and as often as one
/// likes, so messages may come late, twice, and in another order.
///
/// ```
/// use invigil_decent::memory::{Atom, Memory};
/// use invigil_decent::system::PropositionId;
///
/// let on = Atom::Observed(PropositionId(0));
/// let (mut here, mut there) = (Memory::default(), Memory::default());
/// here.learn(1, on, true);
/// there.learn(2, on, false);
/// here.merge(&there);
/// here.merge(&there);
/// assert_eq!((here.get(1, on), here.get(2, on), here.get(3, on)), (Some(true), Some(false), None));
/// here.forget_before(2);
/// assert_eq!(here.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    known: BTreeMap<Obligation, bool>,
}

impl Memory {
    /// Notes a value. If there is one already, true is kept: what is joined must not depend on the order.
    pub fn learn(&mut self, at: Instant, atom: Atom, value: bool) {
        *self.known.entry(Obligation { at, atom }).or_insert(value) |= value;
    }

    /// The value of an atom at an instant, if it is known.
    pub fn get(&self, at: Instant, atom: Atom) -> Option<bool> {
        self.known.get(&Obligation { at, atom }).copied()
    }

    /// Takes all that another memory has.
    pub fn merge(&mut self, other: &Memory) {
        for (obligation, value) in &other.known {
            self.learn(obligation.at, obligation.atom, *value);
        }
    }

    /// Forgets what is before an instant.
    pub fn forget_before(&mut self, at: Instant) {
        self.known = self.known.split_off(&Obligation { at, atom: Atom::Observed(PropositionId(0)) });
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// All values, the earliest first.
    pub fn iter(&self) -> impl Iterator<Item = (Obligation, bool)> {
        self.known.iter().map(|(obligation, value)| (*obligation, *value))
    }
}
