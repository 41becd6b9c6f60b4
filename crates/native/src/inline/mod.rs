//! Probes: the monitors inside the program.
//!
//! A trap costs a trip through the system to the tool and back, some ten microseconds; a probe is a jump to a few instructions
//! in the program itself, and costs nanoseconds. What it calls is `invigil-probe`, a library that the tool maps into the program
//! ([`room`]). Every place of an event keeps its trap, and has a jump besides where one fits ([`probes`]); while the program runs
//! freely and the monitors are inside, the jumps are there instead of the traps ([`jumps`]). A place where no jump fits keeps its
//! trap, and so does one that somebody else has a point at: the tool reads what the event carries, and has the monitors inside step.
//!
//! A function may end by a jump to another, which returns for it: there are probes at the jump and where that returns to ([`tails`]).
//!
//! Where events are only to be recorded, no monitor is inside, and probes hand them to the tool ([`recording`]).
//!
//! So wherever the program stands still, all is as if there were traps only: prompt, steps, checkpoints and points know nothing
//! of probes.

pub(crate) mod agent;
mod calls;
mod capture;
pub(crate) mod come_out;
mod entered;
mod image;
pub(crate) mod jumps;
mod listed;
mod probes;
mod recording;
mod room;
mod scripts;
mod shared;
mod surrogate;
mod tails;
pub(crate) mod trampoline;
mod vectors;

pub use recording::{Recorded, Recording, Sink};

use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Batch, EventSet};
use invigil_session::subject::CaughtUp;
use std::collections::BTreeMap;
use std::sync::Arc;
use trampoline::Unfit;

/// What the memory of the library is called in the table of mappings.
pub(crate) const MAPPED_AS: &str = "/memfd:invigil-probe";

/// How events are to be noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Probes {
    /// By probes, and by traps where no probe fits.
    #[default]
    Inline,
    /// By traps.
    Trap,
}

/// What the tool knows of the monitors inside the program.
#[derive(Default)]
pub(crate) struct Inline {
    pub(crate) probes: Probes,
    /// Why there are no probes, if there could be.
    pub(crate) trouble: Option<String>,
    /// The properties that the library has.
    automata: Vec<Arc<Automaton>>,
    scripts: scripts::Told,
    /// Whether they step inside now, or do so when the program goes on.
    pub(crate) used: bool,
    /// Events are recorded instead of being told.
    streaming: Option<recording::Streaming>,
    /// Whether the begin of some calls is noted there.
    begins: bool,
    /// Functions that end by a jump to another.
    tails: tails::Tails,
    /// How many places the library knows.
    told: u32,
    /// Events that someone is to react to, and that something else was told before: a thread waits to tell them.
    due: Option<Batch>,
    /// What they did, when the program has stopped for it.
    past: Option<Kept>,
    /// The words before the trampolines that hold the library's entry, and the free room behind each.
    regions: Vec<probes::Room>,
    /// Why places have no jump.
    pub(crate) unfit: BTreeMap<u32, Unfit>,
    /// How many reasons there were for traps at places of events when these were looked at last.
    looked_at: usize,
    /// Whether some of these had a jump then.
    fits: bool,
    /// What the session asked for, while the monitors inside are told everything.
    pub(crate) needs: Option<EventSet>,
}

/// What the monitors did, fetched before it is asked for.
struct Kept {
    caught_up: CaughtUp,
    /// The last so many events, left out there, are those that someone is to react to.
    due: u32,
}

impl Inline {
    /// Whether what someone is to react to has been fetched.
    pub(crate) fn is_told(&self) -> bool {
        self.past.as_ref().is_some_and(|past| past.due > 0)
    }
}
