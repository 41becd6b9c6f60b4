//! What a monitor knows of the run of an automaton of which it sees a part.

use crate::automaton::{Automaton, State};
use crate::memory::{Memory, Obligation};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    fn new(automaton: &Automaton, at: Instant) -> Self;

    /// The earliest instant that it has.
    fn start(&self) -> Instant;

    /// The latest.
    fn end(&self) -> Instant;

    /// Goes on to an instant: for each one on the way, in which states the automaton can be, and on what it depends.
    fn extend(&mut self, automaton: &Automaton, to: Instant);

    /// Takes in what was observed. Gives the last instant at which the state is known now, if there is one.
    fn learn(&mut self, automaton: &Automaton, memory: &Memory, work: &mut Work) -> Option<Resolved>;

    /// Takes in what another history of the same automaton knows.
    fn merge(&mut self, automaton: &Automaton, other: &Self, work: &mut Work);

    /// The last instant at which the state is known.
    fn resolved(&self) -> Option<Resolved>;

    /// The first final verdict, and when it was reached.
    fn verdict(&self, automaton: &Automaton) -> Option<(Truth, Instant)>;

    /// Forgets what is before the last known state. Gives how many instants that were.
    fn drop_resolved(&mut self) -> u32;

    /// What must be known to find out more, the earliest first.
    fn open(&self, automaton: &Automaton) -> Vec<Obligation>;

    /// Its size in the bytes of the document: one for a character, four for a number.
    fn size(&self, names: &dyn Fn(&Obligation) -> usize) -> usize;
}
