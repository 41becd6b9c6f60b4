//! What a monitor knows of the run of an automaton of which it sees a part.

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

/// The work that was done, as it is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How often an expression was given to a simplifier.
    pub simplifications: u64,
    /// How many expressions were evaluated.
    pub evaluations: u64,
}

/// Something that was found out: in which state the automaton is at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Resolved {
    /// When.
    pub at: Instant,
    /// Where.
    pub state: State,
}

/// A history of a run: in which state the automaton is at which instant, as far as it is known, and what that depends on.
///
/// Histories of the same automaton are replicas: what two of them know is joined by [`merge`](Encoding::merge), which may
/// be done in any order and as often as one likes. The automaton itself is not part of a history, since all have the same.
pub trait Encoding: Clone + Send + Serialize + DeserializeOwned {
    /// Knows that the automaton is in its initial state at an instant.
    fn new(machine: &Machine, at: Instant) -> Self;

    /// Forgets everything, and begins again as if it were new.
    fn reset(&mut self, machine: &Machine, at: Instant);

    /// Whether it can be a history of this automaton. What came from elsewhere is asked this first.
    fn fits(&self, machine: &Machine) -> bool;

    /// The earliest instant that it has.
    fn start(&self) -> Instant;

    /// The latest.
    fn end(&self) -> Instant;

    /// Goes on to an instant: for each one on the way, in which states the automaton can be, and on what it depends.
    fn extend(&mut self, machine: &Machine, to: Instant);

    /// Goes on to an instant as [`extend`](Encoding::extend) does, but may stop where all that is possible is final, since what
    /// comes later makes no difference to the verdict.
    fn extend_as_needed(&mut self, machine: &Machine, to: Instant) {
        self.extend(machine, to);
    }

    /// Takes in what was observed up to its [`end`](Encoding::end). Gives the last instant at which the state is known
    /// now, if there is one.
    fn learn(&mut self, machine: &Machine, memory: &Memory, work: &mut Work) -> Option<Resolved>;

    /// Takes in what another history of the same automaton knows of instants that are not before the own
    /// [`start`](Encoding::start). One that does not [fit](Encoding::fits) is left alone.
    fn merge(&mut self, machine: &Machine, other: &Self, work: &mut Work);

    /// The last instant at which the state is known.
    fn resolved(&self) -> Option<Resolved>;

    /// The first final verdict, and when it was reached.
    fn verdict(&self) -> Option<(Truth, Instant)>;

    /// The state at an instant, if it is known.
    fn state(&self, at: Instant) -> Option<State>;

    /// Forgets what is before an instant. Gives how many instants that were.
    fn drop_before(&mut self, at: Instant) -> u32;

    /// Forgets what is before the last known state. Gives how many instants that were.
    fn drop_resolved(&mut self) -> u32 {
        self.resolved().map_or(0, |resolved| self.drop_before(resolved.at))
    }

    /// What must be known to find out more, the earliest first.
    fn open(&self, machine: &Machine) -> impl Iterator<Item = Obligation>;

    /// Its size in the bytes of the document: one for a character, four for a number. `name` gives the size of an atom.
    fn size(&self, machine: &Machine, name: &dyn Fn(Atom) -> usize) -> usize;
}
