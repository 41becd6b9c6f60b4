//! Verification tasks.

use invigil_explore::fairness::Strength;
use invigil_explore::scheduled::{Actor, SchedulerConfig};
use invigil_explore::{Bitstate, FindingKinds, Fingerprint, Limits, SearchOptions, Swarm, WalkOptions};
use invigil_model::{Expression, Model, OmegaAutomaton, Side};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use std::time::Instant;

/// A model, the claims about it, and the options of the search.
pub struct VerifyTask<'a> {
    /// The model.
    pub model: &'a Model,
    /// The claims.
    pub claims: Vec<Claim<'a>>,
    /// The event declarations that the monitors of claims use.
    pub catalog: &'a EventCatalog,
    /// Whether deadlocks are errors.
    pub deadlocks: bool,
    /// The scheduler and filters of the model.
    pub scheduling: SchedulerConfig,
    /// Fairness of infinite executions to each process.
    pub fairness: Option<Strength>,
    /// Whether to apply partial-order reduction where it is sound.
    pub reduce: bool,
    /// How configurations are searched.
    pub strategy: SearchStrategy,
    /// The number of threads.
    pub threads: usize,
    /// Resource limits.
    pub limits: Limits,
    /// Whether to explore everything even after a violation.
    pub exhaustive: bool,
}

/// A claim about a model.
pub struct Claim<'a> {
    /// The name.
    pub name: String,
    /// The content of the claim.
    pub kind: ClaimKind<'a>,
}

/// The kinds of claims.
pub enum ClaimKind<'a> {
    /// The expression holds in every configuration or step.
    Always(&'a Expression),
    /// The automaton accepts no execution.
    Never(&'a OmegaAutomaton),
    /// The events of no execution violate the monitor.
    Monitor(&'a Automaton),
}

/// A strategy for searching configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchStrategy {
    /// Breadth-first: exhaustive, with the shortest counterexamples.
    #[default]
    BreadthFirst,
    /// Depth-first: exhaustive, on one thread.
    DepthFirst,
    /// Random walks: only some executions.
    RandomWalk(WalkOptions),
    /// Hash compaction: configurations with equal fingerprints are identified, in less memory.
    HashCompaction {
        /// The size of a fingerprint.
        fingerprint: Fingerprint,
        /// The size of the table in bytes.
        bytes: u64,
    },
    /// Bitstate hashing, with one Bloom filter.
    Bitstate(Bitstate),
    /// Swarm: several bitstate searches with different hash functions.
    Swarm(Swarm),
}

impl<'a> VerifyTask<'a> {
    /// A task without claims, which only counts configurations and searches for deadlocks.
    pub fn new(model: &'a Model, catalog: &'a EventCatalog) -> VerifyTask<'a> {
        VerifyTask {
            model,
            claims: Vec::new(),
            catalog,
            deadlocks: true,
            scheduling: SchedulerConfig::default(),
            fairness: None,
            reduce: false,
            strategy: SearchStrategy::default(),
            threads: 1,
            limits: Limits::default(),
            exhaustive: false,
        }
    }

    /// The options of a search, if the first search started at `since`.
    pub(crate) fn search_options(&self, deadlocks: bool, faults: bool, since: Instant) -> SearchOptions {
        SearchOptions {
            threads: self.threads,
            limits: self.limits.remaining(since),
            kinds: FindingKinds { deadlocks, bad: true, faults },
            max_findings: 1,
            exhaustive: self.exhaustive,
        }
    }

    /// The process that performs each action.
    pub(crate) fn actors(&self) -> Vec<Actor> {
        let actor = |action: &invigil_model::Action| Actor {
            process: action.moves.first().map(|movement| movement.process),
            is_system: action.side == Side::System,
        };
        self.model.parts().actions.iter().map(actor).collect()
    }
}
