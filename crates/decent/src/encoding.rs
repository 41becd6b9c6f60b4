//! Encodings of a monitor's knowledge about the run of an automaton of which it observes a part.

pub mod expressions;
pub mod states;

pub use expressions::{Aggressive, Expressions, Quick};
pub use states::States;

use crate::automaton::{Machine, State};
use crate::memory::{Atom, Memory, Obligation};
use crate::system::Instant;
use invigil_ltl::moore::Truth;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Work counters of [EH18 §8.2.2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounters {
    /// Number of calls of the simplifier.
    pub simplifications: u64,
    /// Number of evaluated expressions.
    pub evaluations: u64,
}

/// State of the automaton at an instant, as far as observations determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KnownState {
    /// The instant.
    pub at: Instant,
    /// The state.
    pub state: State,
}

/// History of a run: the states in which the automaton can be at each instant, and what decides between them.
///
/// Histories of the same automaton are replicas (a state-based CRDT, [EH18 §5]): [`merge`](Encoding::merge) joins two
/// of them and is commutative, associative and idempotent. The automaton is not part of a history, since all replicas
/// have the same one.
pub trait Encoding: Clone + Send + Serialize + DeserializeOwned {
    /// Creates a history in which the automaton is in its initial state at an instant.
    fn new(machine: &Machine, at: Instant) -> Self;

    /// Resets the history to that of [`new`](Encoding::new) and keeps its allocations.
    fn reset(&mut self, machine: &Machine, at: Instant);

    /// Returns whether this is a valid history of the automaton. Histories from the network are checked with this
    /// first.
    fn fits(&self, machine: &Machine) -> bool;

    /// Returns the earliest instant of the history.
    fn start(&self) -> Instant;

    /// Returns the latest instant of the history.
    fn end(&self) -> Instant;

    /// Extends the history to an instant.
    fn extend(&mut self, machine: &Machine, to: Instant);

    /// Extends the history like [`extend`](Encoding::extend), but may stop where all possible states are final, since
    /// later instants do not change the verdict.
    fn extend_as_needed(&mut self, machine: &Machine, to: Instant) {
        self.extend(machine, to);
    }

    /// Incorporates observations up to [`end`](Encoding::end). Returns the last known state, if there is one.
    fn learn(&mut self, machine: &Machine, memory: &Memory, work: &mut WorkCounters) -> Option<KnownState>;

    /// Merges another history of the same automaton, from the own [`start`](Encoding::start) on. A history that does
    /// not [fit](Encoding::fits) is ignored.
    fn merge(&mut self, machine: &Machine, other: &Self, work: &mut WorkCounters);

    /// Returns the last known state.
    fn resolved(&self) -> Option<KnownState>;

    /// Returns the first final verdict and its instant.
    fn verdict(&self) -> Option<(Truth, Instant)>;

    /// Returns the state at an instant, if it is known.
    fn state(&self, at: Instant) -> Option<State>;

    /// Drops all instants before the given one. Returns how many were dropped.
    fn drop_before(&mut self, at: Instant) -> u32;

    /// Drops all instants before the last known state. Returns how many were dropped.
    fn drop_resolved(&mut self) -> u32 {
        self.resolved().map_or(0, |resolved| self.drop_before(resolved.at))
    }

    /// Returns the missing observations that can determine further states, the earliest first.
    fn open_obligations(&self, machine: &Machine) -> impl Iterator<Item = Obligation>;

    /// Returns the size in the normalised bytes of [EH18 §8.2.3]: one per character, four per number. `name` gives the
    /// size of an atom.
    fn size(&self, machine: &Machine, name: &dyn Fn(Atom) -> usize) -> usize;
}
