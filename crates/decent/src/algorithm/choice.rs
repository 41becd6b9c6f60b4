//! Algorithms by their names.

use super::abridged::{self, Abridged};
use super::broadcast::{self, Peer};
use super::choreography;
use super::hierarchy::{self, Member};
use super::migration::{self, Migrant, Route};
use super::orchestration::{self, Orchestra};
use super::{Monitor, NoSetup, Placed, machine};
use crate::encoding::Encoding;
use crate::measure::{Figures, Measures};
use crate::network::Network;
use crate::simulate::{Conditions, Observations, Outcome, Simulator, Trace, Unlinked};
use crate::system::System;
use invigil_ltl::Logic;
use invigil_ltl::formula::Formula;
use std::fmt;
use std::str::FromStr;

/// An algorithm that monitors a formula.
///
/// ```
/// use invigil_decent::algorithm::Choice;
///
/// assert_eq!("round-robin".parse(), Ok(Choice::RoundRobin { active: 1 }));
/// assert!("telepathy".parse::<Choice>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// [`orchestration`]
    Orchestration,
    /// [`migration`] to where something has been missing for the longest time.
    Migration {
        /// How many monitors have a history.
        active: usize,
    },
    /// [`migration`] from each component to the next.
    RoundRobin {
        /// How many monitors have a history.
        active: usize,
    },
    /// [`choreography`]
    Choreography,
    /// [`broadcast`]
    Broadcast,
    /// [`abridged`]
    Abridged,
}

/// There is no algorithm of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(String);

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Choice::ALL.iter().map(Choice::name).collect();
        write!(f, "there is no algorithm `{}`: take one of {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl Choice {
    /// All of them, with one active monitor where there may be several.
    pub const ALL: [Choice; 6] = [
        Choice::Orchestration,
        Choice::Migration { active: 1 },
        Choice::RoundRobin { active: 1 },
        Choice::Choreography,
        Choice::Broadcast,
        Choice::Abridged,
    ];

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Choice::Orchestration => "orchestration",
            Choice::Migration { .. } => "migration",
            Choice::RoundRobin { .. } => "round-robin",
            Choice::Choreography => "choreography",
            Choice::Broadcast => "broadcast",
            Choice::Abridged => "abridged",
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Choice {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Choice, UnknownAlgorithm> {
        let known = Choice::ALL.into_iter().find(|choice| choice.name() == name);
        known.ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// Monitors of whichever algorithm, ready for any number of runs.
#[derive(Clone)]
pub enum Prepared<E> {
    /// [`orchestration`]
    Orchestration(Vec<Placed<Orchestra<E>>>),
    /// [`migration`]
    Migration(Vec<Placed<Migrant<E>>>),
    /// [`choreography`], or any other [`hierarchy`].
    Hierarchy(Vec<Placed<Member<E>>>),
    /// [`broadcast`]
    Broadcast(Vec<Placed<Peer<E>>>),
    /// [`abridged`]
    Abridged(Vec<Placed<Abridged<E>>>),
}

impl<E: Encoding> Prepared<E> {
    /// Monitors of a formula.
    ///
    /// # Errors
    /// If it names what nobody observes, or if it is too large.
    pub fn new(
        choice: Choice,
        logic: &mut Logic,
        formula: Formula,
        system: &System,
    ) -> Result<Prepared<E>, NoSetup> {
        Ok(match choice {
            Choice::Orchestration => {
                Prepared::Orchestration(orchestration::setup(&machine(logic, formula, system)?, system)?)
            }
            Choice::Migration { active } => {
                let machine = machine(logic, formula, system)?;
                Prepared::Migration(migration::setup(&machine, system, Route::Earliest, active)?)
            }
            Choice::RoundRobin { active } => {
                let machine = machine(logic, formula, system)?;
                Prepared::Migration(migration::setup(&machine, system, Route::RoundRobin, active)?)
            }
            Choice::Choreography => Prepared::Hierarchy(choreography::setup(logic, formula, system)?),
            Choice::Broadcast => {
                Prepared::Broadcast(broadcast::setup(&machine(logic, formula, system)?, system)?)
            }
            Choice::Abridged => Prepared::Abridged(abridged::setup(logic, formula, system)?),
        })
    }

    /// The monitors of a network.
    ///
    /// # Errors
    /// If an automaton cannot run.
    pub fn network(network: &Network) -> Result<Prepared<E>, NoSetup> {
        Ok(Prepared::Hierarchy(hierarchy::setup(network)?))
    }

    /// How many monitors there are.
    pub fn monitors(&self) -> usize {
        match self {
            Prepared::Orchestration(placed) => placed.len(),
            Prepared::Migration(placed) => placed.len(),
            Prepared::Hierarchy(placed) => placed.len(),
            Prepared::Broadcast(placed) => placed.len(),
            Prepared::Abridged(placed) => placed.len(),
        }
    }

    /// Runs it on one trace after the other. `each` is told how each run went; the seed of a run is its number, added to that of
    /// the conditions.
    ///
    /// # Errors
    /// If a message is for a component to which there is no way.
    pub fn run<'t>(
        &self,
        system: &System,
        conditions: Conditions,
        traces: impl IntoIterator<Item = &'t Trace>,
        each: impl FnMut(Outcome, Figures),
    ) -> Result<(), Unlinked> {
        match self {
            Prepared::Orchestration(placed) => runs(placed, system, conditions, traces, each),
            Prepared::Migration(placed) => runs(placed, system, conditions, traces, each),
            Prepared::Hierarchy(placed) => runs(placed, system, conditions, traces, each),
            Prepared::Broadcast(placed) => runs(placed, system, conditions, traces, each),
            Prepared::Abridged(placed) => runs(placed, system, conditions, traces, each),
        }
    }

    /// Runs it once on what is observed meanwhile.
    ///
    /// # Errors
    /// If a message is for a component to which there is no way.
    pub fn observe(
        &self,
        system: &System,
        conditions: Conditions,
        observations: &mut impl Observations,
    ) -> Result<(Outcome, Figures), Unlinked> {
        match self {
            Prepared::Orchestration(placed) => observe(placed, system, conditions, observations),
            Prepared::Migration(placed) => observe(placed, system, conditions, observations),
            Prepared::Hierarchy(placed) => observe(placed, system, conditions, observations),
            Prepared::Broadcast(placed) => observe(placed, system, conditions, observations),
            Prepared::Abridged(placed) => observe(placed, system, conditions, observations),
        }
    }
}

fn observe<M: Monitor>(
    placed: &[Placed<M>],
    system: &System,
    conditions: Conditions,
    observations: &mut impl Observations,
) -> Result<(Outcome, Figures), Unlinked> {
    let mut measures = Measures::new(system);
    let outcome = Simulator::new(system, placed, conditions).run(observations, &mut measures)?;
    Ok((outcome, measures.figures()))
}

fn runs<'t, M: Monitor>(
    placed: &[Placed<M>],
    system: &System,
    conditions: Conditions,
    traces: impl IntoIterator<Item = &'t Trace>,
    mut each: impl FnMut(Outcome, Figures),
) -> Result<(), Unlinked> {
    let mut simulator = Simulator::new(system, placed, conditions);
    let mut measures = Measures::new(system);
    for (number, trace) in traces.into_iter().enumerate() {
        simulator.reseed(conditions.seed.wrapping_add(number as u64));
        let outcome = simulator.run(&mut trace.replay(), &mut measures)?;
        each(outcome, measures.figures());
    }
    Ok(())
}
