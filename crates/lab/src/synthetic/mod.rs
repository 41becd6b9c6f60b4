//! Synthetic benchmark of [EH18 §8.2.3]: random formulae over all components, random traces and all algorithms,
//! compared with the published results.

mod means;
mod order;
mod plots;
mod tables;
pub mod thesis;

pub use means::{MEASURES, Means, MeasuredMeans, by_components, by_distribution, by_formula};
pub use order::{AlgorithmOrder, PairComparison, compare};
pub use plots::plots;
pub use tables::{components_table, distributions_table};

pub(crate) use tables::layout;

use crate::experiment::{EncodingKind, Experiment, Trial, Workload, check_monitorable};
use crate::generate::{Distribution, FormulaShape, formula, random, system, trace};
use invigil_decent::algorithm::Algorithm;
use invigil_decent::simulate::Trace;
use invigil_decent::system::{System, SystemError};
use invigil_ltl::{Budget, Logic, TooLarge};
use std::fmt;
use std::ops::RangeInclusive;

/// Compared encodings: that of EH18 and possible states.
pub const ENCODINGS: [EncodingKind; 2] = [EncodingKind::Expressions, EncodingKind::States];

/// Size of the benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticBenchmark {
    /// Range of the number of components.
    pub components: RangeInclusive<usize>,
    /// Formulae per number of components.
    pub formulae: usize,
    /// Traces per distribution.
    pub traces: usize,
    /// Rounds of a trace.
    pub length: usize,
    /// Shape of the formulae.
    pub shape: FormulaShape,
    /// Random seed.
    pub seed: u64,
    /// Budget for a monitor. A formula that exceeds it is skipped.
    pub budget: Budget,
}

impl Default for SyntheticBenchmark {
    /// The size of [EH18 §8.2.3].
    fn default() -> SyntheticBenchmark {
        SyntheticBenchmark {
            components: 3..=6,
            formulae: 100,
            traces: 50,
            length: 60,
            shape: FormulaShape::default(),
            seed: 1,
            budget: Budget { states: 1 << 8, ..Budget::default() },
        }
    }
}

/// Reason why a benchmark cannot be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BenchmarkError {
    /// Too many components.
    System(SystemError),
    /// Too few random formulae of this size cover this many components and are monitorable.
    NoFormulae(usize),
    /// A formula is too large.
    TooLarge(TooLarge),
}

impl fmt::Display for BenchmarkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchmarkError::System(error) => error.fmt(f),
            BenchmarkError::NoFormulae(components) => {
                write!(
                    f,
                    "too few random formulae cover all {components} components and are monitorable: use a larger size"
                )
            }
            BenchmarkError::TooLarge(too_large) => too_large.fmt(f),
        }
    }
}

impl std::error::Error for BenchmarkError {}

impl From<SystemError> for BenchmarkError {
    fn from(error: SystemError) -> BenchmarkError {
        BenchmarkError::System(error)
    }
}

impl From<TooLarge> for BenchmarkError {
    fn from(too_large: TooLarge) -> BenchmarkError {
        BenchmarkError::TooLarge(too_large)
    }
}

impl SyntheticBenchmark {
    /// Returns a benchmark that takes seconds and still shows the order of the algorithms.
    pub fn quick() -> SyntheticBenchmark {
        SyntheticBenchmark { formulae: 20, traces: 5, ..SyntheticBenchmark::default() }
    }

    /// Returns the name of the experiment in a store. It contains everything that affects the runs.
    pub fn name(&self) -> String {
        format!("synthetic, seed {}, length {}, size {}", self.seed, self.length, self.shape.size)
    }

    /// Creates formulae and traces for all algorithms with both encodings. Broadcast is not run with expressions:
    /// merged again and again, they grow without bound.
    ///
    /// # Errors
    /// Fails if there are not enough formulae.
    pub fn experiment(&self) -> Result<Experiment, BenchmarkError> {
        let workloads = self.components.clone().map(|components| self.workload(components));
        let workloads = workloads.collect::<Result<_, _>>()?;
        let mut experiment =
            Experiment::new(&self.name(), Algorithm::ALL.to_vec(), ENCODINGS.to_vec(), workloads);
        experiment.variants.retain(|variant| *variant != (Algorithm::Broadcast, EncodingKind::Expressions));
        experiment.budget = self.budget;
        Ok(experiment)
    }

    fn workload(&self, components: usize) -> Result<Workload, BenchmarkError> {
        let system = system(components, 2)?;
        let formulae = self.draw(&system)?;
        let mut trials = Vec::with_capacity(4 * self.traces);
        for (index, (name, distribution)) in Distribution::ALL.iter().enumerate() {
            let Ok(sampler) = distribution.sampler() else { continue };
            // Each distribution has its own stream: more traces of one do not change those of another.
            let mut random = random(self.seed, stream(components, 1 + index));
            for _ in 0..self.traces {
                let run = trace(&system, self.length, &sampler, &mut random);
                let (distribution, number) = ((*name).to_owned(), trials.len());
                trials.push(Trial { distribution, number, trace: Trace::from_run(&run) });
            }
        }
        Ok(Workload { system, formulae, trials })
    }

    /// Draws distinct monitorable formulae.
    fn draw(&self, system: &System) -> Result<Vec<String>, BenchmarkError> {
        let components = system.components().len();
        let mut random = random(self.seed, stream(components, 0));
        let mut kept: Vec<String> = Vec::with_capacity(self.formulae);
        // A hundred attempts for each formula suffice, because many random formulae are monitorable.
        for _ in 0..100 * self.formulae {
            if kept.len() == self.formulae {
                break;
            }
            let mut logic = Logic::new(self.budget);
            let Some(made) = formula(&mut logic.formulae, system, &self.shape, &mut random)? else { break };
            let text = logic.formulae.show(made).to_string();
            if !kept.contains(&text) && check_monitorable(&mut logic, &text).is_ok() {
                kept.push(text);
            }
        }
        match kept.len() == self.formulae {
            true => Ok(kept),
            false => Err(BenchmarkError::NoFormulae(components)),
        }
    }
}

fn stream(components: usize, purpose: usize) -> u64 {
    (components * 8 + purpose) as u64
}
