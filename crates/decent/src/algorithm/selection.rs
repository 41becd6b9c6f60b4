//! Selection of an algorithm by name.

use super::abridged::{self, AbridgedMonitor};
use super::broadcast::{self, BroadcastMonitor};
use super::choreography;
use super::hierarchy::{self, HierarchyMonitor};
use super::migration::{self, MigrationMonitor, Route};
use super::orchestration::{self, OrchestrationMonitor};
use super::{Monitor, Placed, SetupError, compile_formula};
use crate::encoding::Encoding;
use crate::metrics::{Metrics, MetricsCollector};
use crate::network::Network;
use crate::simulate::{Conditions, NoRouteError, Observations, SimulationResult, Simulator, Trace};
use crate::system::System;
use invigil_ltl::Logic;
use invigil_ltl::formula::Formula;
use std::fmt;
use std::str::FromStr;

/// Algorithm that monitors a formula.
///
/// ```
/// use invigil_decent::algorithm::Algorithm;
///
/// assert_eq!("round-robin".parse(), Ok(Algorithm::RoundRobin { active: 1 }));
/// assert!("telepathy".parse::<Algorithm>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// [`orchestration`]
    Orchestration,
    /// [`migration`] to the component with the earliest missing observation.
    Migration {
        /// Number of active monitors.
        active: usize,
    },
    /// [`migration`] from each component to the next.
    RoundRobin {
        /// Number of active monitors.
        active: usize,
    },
    /// [`choreography`]
    Choreography,
    /// [`broadcast`]
    Broadcast,
    /// [`abridged`]
    Abridged,
}

/// No algorithm has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(String);

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Algorithm::ALL.iter().map(Algorithm::name).collect();
        write!(f, "unknown algorithm `{}`; use one of {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl Algorithm {
    /// All algorithms, with one active monitor where the number can be chosen.
    pub const ALL: [Algorithm; 6] = [
        Algorithm::Orchestration,
        Algorithm::Migration { active: 1 },
        Algorithm::RoundRobin { active: 1 },
        Algorithm::Choreography,
        Algorithm::Broadcast,
        Algorithm::Abridged,
    ];

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        match self {
            Algorithm::Orchestration => "orchestration",
            Algorithm::Migration { .. } => "migration",
            Algorithm::RoundRobin { .. } => "round-robin",
            Algorithm::Choreography => "choreography",
            Algorithm::Broadcast => "broadcast",
            Algorithm::Abridged => "abridged",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Algorithm, UnknownAlgorithm> {
        let known = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        known.ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// Monitors of any algorithm, for any number of runs.
#[derive(Clone)]
pub enum MonitorSet<E> {
    /// [`orchestration`]
    Orchestration(Vec<Placed<OrchestrationMonitor<E>>>),
    /// [`migration`]
    Migration(Vec<Placed<MigrationMonitor<E>>>),
    /// [`choreography`], or any other [`hierarchy`].
    Hierarchy(Vec<Placed<HierarchyMonitor<E>>>),
    /// [`broadcast`]
    Broadcast(Vec<Placed<BroadcastMonitor<E>>>),
    /// [`abridged`]
    Abridged(Vec<Placed<AbridgedMonitor<E>>>),
}

impl<E: Encoding> MonitorSet<E> {
    /// Creates the monitors of a formula.
    ///
    /// # Errors
    /// Fails if the formula contains a proposition that no component observes, or is too large.
    pub fn new(
        algorithm: Algorithm,
        logic: &mut Logic,
        formula: Formula,
        system: &System,
    ) -> Result<MonitorSet<E>, SetupError> {
        Ok(match algorithm {
            Algorithm::Orchestration => MonitorSet::Orchestration(orchestration::setup(
                &compile_formula(logic, formula, system)?,
                system,
            )?),
            Algorithm::Migration { active } => {
                let machine = compile_formula(logic, formula, system)?;
                MonitorSet::Migration(migration::setup(&machine, system, Route::Earliest, active)?)
            }
            Algorithm::RoundRobin { active } => {
                let machine = compile_formula(logic, formula, system)?;
                MonitorSet::Migration(migration::setup(&machine, system, Route::RoundRobin, active)?)
            }
            Algorithm::Choreography => MonitorSet::Hierarchy(choreography::setup(logic, formula, system)?),
            Algorithm::Broadcast => {
                MonitorSet::Broadcast(broadcast::setup(&compile_formula(logic, formula, system)?, system)?)
            }
            Algorithm::Abridged => MonitorSet::Abridged(abridged::setup(logic, formula, system)?),
        })
    }

    /// Creates the monitors of a network.
    ///
    /// # Errors
    /// Fails if an automaton is invalid.
    pub fn network(network: &Network) -> Result<MonitorSet<E>, SetupError> {
        Ok(MonitorSet::Hierarchy(hierarchy::setup(network)?))
    }

    /// Returns the number of monitors.
    pub fn monitor_count(&self) -> usize {
        match self {
            MonitorSet::Orchestration(placed) => placed.len(),
            MonitorSet::Migration(placed) => placed.len(),
            MonitorSet::Hierarchy(placed) => placed.len(),
            MonitorSet::Broadcast(placed) => placed.len(),
            MonitorSet::Abridged(placed) => placed.len(),
        }
    }

    /// Runs on one trace after the other and passes each result to `each`. The seed of a run is the seed of the
    /// conditions plus its index.
    ///
    /// # Errors
    /// Fails if a message cannot reach its component.
    pub fn run<'t>(
        &self,
        system: &System,
        conditions: Conditions,
        traces: impl IntoIterator<Item = &'t Trace>,
        each: impl FnMut(SimulationResult, Metrics),
    ) -> Result<(), NoRouteError> {
        match self {
            MonitorSet::Orchestration(placed) => runs(placed, system, conditions, traces, each),
            MonitorSet::Migration(placed) => runs(placed, system, conditions, traces, each),
            MonitorSet::Hierarchy(placed) => runs(placed, system, conditions, traces, each),
            MonitorSet::Broadcast(placed) => runs(placed, system, conditions, traces, each),
            MonitorSet::Abridged(placed) => runs(placed, system, conditions, traces, each),
        }
    }

    /// Runs once on observations as they arrive.
    ///
    /// # Errors
    /// Fails if a message cannot reach its component.
    pub fn observe(
        &self,
        system: &System,
        conditions: Conditions,
        observations: &mut impl Observations,
    ) -> Result<(SimulationResult, Metrics), NoRouteError> {
        match self {
            MonitorSet::Orchestration(placed) => observe(placed, system, conditions, observations),
            MonitorSet::Migration(placed) => observe(placed, system, conditions, observations),
            MonitorSet::Hierarchy(placed) => observe(placed, system, conditions, observations),
            MonitorSet::Broadcast(placed) => observe(placed, system, conditions, observations),
            MonitorSet::Abridged(placed) => observe(placed, system, conditions, observations),
        }
    }
}

fn observe<M: Monitor>(
    placed: &[Placed<M>],
    system: &System,
    conditions: Conditions,
    observations: &mut impl Observations,
) -> Result<(SimulationResult, Metrics), NoRouteError> {
    let mut measures = MetricsCollector::new(system);
    let outcome = Simulator::new(system, placed, conditions).run(observations, &mut measures)?;
    Ok((outcome, measures.metrics()))
}

fn runs<'t, M: Monitor>(
    placed: &[Placed<M>],
    system: &System,
    conditions: Conditions,
    traces: impl IntoIterator<Item = &'t Trace>,
    mut each: impl FnMut(SimulationResult, Metrics),
) -> Result<(), NoRouteError> {
    let mut simulator = Simulator::new(system, placed, conditions);
    let mut measures = MetricsCollector::new(system);
    for (number, trace) in traces.into_iter().enumerate() {
        simulator.reseed(conditions.seed.wrapping_add(number as u64));
        let outcome = simulator.run(&mut trace.replay(), &mut measures)?;
        each(outcome, measures.metrics());
    }
    Ok(())
}
