//! What is asked about a model, and how to look for the answer.

use invigil_explore::fair::Strength;
use invigil_explore::scheduled::{Performer, Setup};
use invigil_explore::{Bitstate, Fingerprint, Limits, Search, Swarm, Walks, Wanted};
use invigil_model::{Expression, Model, Omega, Unit};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use std::time::Instant;

/// A model, what is claimed about it, and how to find out.
pub struct Task<'a> {
    /// The model.
    pub model: &'a Model,
    /// What is claimed.
    pub claims: Vec<Claim<'a>>,
    /// The events that the monitors of claims know.
    pub catalog: &'a Catalog,
    /// Whether it is wrong that nothing can happen any more.
    pub deadlocks: bool,
    /// The scheduler and the filters under which the model runs.
    pub setup: Setup,
    /// How fair infinite executions must be to each process.
    pub fairness: Option<Strength>,
    /// Whether orders of independent actions are left out where that is sound.
    pub reduces: bool,
    /// The way to look for configurations.
    pub manner: Manner,
    /// On how many threads.
    pub threads: usize,
    /// How much it may take.
    pub limits: Limits,
    /// Whether everything is looked at even if something wrong is found.
    pub whole: bool,
}

/// Something claimed about a model.
pub struct Claim<'a> {
    /// Its name.
    pub name: String,
    /// What is claimed.
    pub what: Claimed<'a>,
}

/// What is claimed.
pub enum Claimed<'a> {
    /// This holds in every configuration, or in every step.
    Always(&'a Expression),
    /// No execution is accepted by this automaton.
    Never(&'a Omega),
    /// This monitor is not violated by the events of any execution.
    Monitor(&'a Automaton),
}

/// The way to look for configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// All, nearest first: counterexamples are as short as can be.
    #[default]
    Breadth,
    /// All, farthest first, on one thread.
    Depth,
    /// Some executions, drawn at random.
    Walk(Walks),
    /// All that differ in a part of their hashes: a little is missed, for less memory.
    Compact {
        /// What is kept of each.
        kept: Fingerprint,
        /// The size of the table.
        bytes: u64,
    },
    /// As many as a table of bits tells apart.
    Bitstate(Bitstate),
    /// Several tables of bits, one after the other, each telling others apart.
    Swarm(Swarm),
}

impl<'a> Task<'a> {
    /// Nothing is claimed yet: how many configurations are there, and does it get stuck?
    pub fn new(model: &'a Model, catalog: &'a Catalog) -> Task<'a> {
        Task {
            model,
            claims: Vec::new(),
            catalog,
            deadlocks: true,
            setup: Setup::default(),
            fairness: None,
            reduces: false,
            manner: Manner::default(),
            threads: 1,
            limits: Limits::default(),
            whole: false,
        }
    }

    /// What a search for configurations is to do, if the first search began at `since`.
    pub(crate) fn search(&self, deadlocks: bool, faults: bool, since: Instant) -> Search {
        Search {
            threads: self.threads,
            limits: self.limits.left(since),
            wanted: Wanted { deadlocks, bad: true, faults },
            most: 1,
            whole: self.whole,
        }
    }

    /// Who performs each action.
    pub(crate) fn performers(&self) -> Vec<Performer> {
        let performer = |action: &invigil_model::Action| Performer {
            process: action.moves.first().map(|by| by.process),
            is_system: action.unit == Unit::System,
        };
        self.model.parts().actions.iter().map(performer).collect()
    }
}
