//! The synthetic benchmark of the document (section 8.2.3): random formulae that mention every component, random traces, and all
//! algorithms; beside the figures that the document has.

pub mod document;
mod measured;
mod order;
mod pictures;
mod tables;

pub use measured::{MEASURES, Means, Measured, by_components, by_distribution, by_formula};
pub use order::{Comparison, Order, compare};
pub use pictures::pictures;
pub use tables::{components_table, distributions_table};

pub(crate) use tables::layout;

use crate::experiment::{Experiment, History, Subject, Trial, verify};
use crate::generate::{Distribution, Shape, formula, random, system, trace};
use invigil_decent::algorithm::Choice;
use invigil_decent::simulate::Trace;
use invigil_decent::system::{Clash, System};
use invigil_ltl::{Budget, Logic, TooLarge};
use std::fmt;
use std::ops::RangeInclusive;

/// The encodings that are compared: the document's, and ours.
pub const HISTORIES: [History; 2] = [History::Expressions, History::States];

/// How large the benchmark is.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// From how many components to how many.
    pub components: RangeInclusive<usize>,
    /// Formulae for each number of components.
    pub formulae: usize,
    /// Traces for each distribution.
    pub traces: usize,
    /// Rounds of a trace.
    pub length: usize,
    /// What formulae look like.
    pub shape: Shape,
    /// Where chance comes from.
    pub seed: u64,
    /// What a monitor may cost. A formula that costs more is left out.
    pub budget: Budget,
}

impl Default for Synthetic {
    /// As large as in the document.
    fn default() -> Synthetic {
        Synthetic {
            components: 3..=6,
            formulae: 100,
            traces: 50,
            length: 60,
            shape: Shape::default(),
            seed: 1,
            budget: Budget { states: 1 << 8, ..Budget::default() },
        }
    }
}

/// Why there is no benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoBenchmark {
    /// There are too many components.
    Clash(Clash),
    /// Random formulae of this size do not mention this many components, or cannot be monitored.
    NoFormulae(usize),
    /// A formula is too large.
    TooLarge(TooLarge),
}

impl fmt::Display for NoBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoBenchmark::Clash(clash) => clash.fmt(f),
            NoBenchmark::NoFormulae(components) => {
                write!(
                    f,
                    "too few random formulae mention all {components} components and can be monitored: take larger ones"
                )
            }
            NoBenchmark::TooLarge(too_large) => too_large.fmt(f),
        }
    }
}

impl std::error::Error for NoBenchmark {}

impl From<Clash> for NoBenchmark {
    fn from(clash: Clash) -> NoBenchmark {
        NoBenchmark::Clash(clash)
    }
}

impl From<TooLarge> for NoBenchmark {
    fn from(too_large: TooLarge) -> NoBenchmark {
        NoBenchmark::TooLarge(too_large)
    }
}

impl Synthetic {
    /// As large as is needed to see the order of the algorithms, in seconds.
    pub fn quick() -> Synthetic {
        Synthetic { formulae: 20, traces: 5, ..Synthetic::default() }
    }

    /// What the experiment is called in a store. What decides on its runs is in it.
    pub fn name(&self) -> String {
        format!("synthetic, seed {}, length {}, size {}", self.seed, self.length, self.shape.size)
    }

    /// Formulae and traces for all algorithms, with the document's encoding and with ours. Only broadcast is without the
    /// document's: expressions that are joined again and again grow without bound.
    ///
    /// # Errors
    /// If there are not enough formulae.
    pub fn experiment(&self) -> Result<Experiment, NoBenchmark> {
        let subjects = self.components.clone().map(|components| self.subject(components));
        let subjects = subjects.collect::<Result<_, _>>()?;
        let mut experiment =
            Experiment::new(&self.name(), Choice::ALL.to_vec(), HISTORIES.to_vec(), subjects);
        experiment.ways.retain(|way| *way != (Choice::Broadcast, History::Expressions));
        experiment.budget = self.budget;
        Ok(experiment)
    }

    fn subject(&self, components: usize) -> Result<Subject, NoBenchmark> {
        let system = system(components, 2)?;
        let formulae = self.draw(&system)?;
        let mut trials = Vec::with_capacity(4 * self.traces);
        for (place, (name, distribution)) in Distribution::ALL.iter().enumerate() {
            let Some(values) = distribution.values() else { continue };
            // A stream of its own for each distribution: more traces of one do not change those of another.
            let mut random = random(self.seed, stream(components, 1 + place));
            for _ in 0..self.traces {
                let run = trace(&system, self.length, &values, &mut random);
                let (distribution, number) = ((*name).to_owned(), trials.len());
                trials.push(Trial { distribution, number, trace: Trace::of(&run) });
            }
        }
        Ok(Subject { system, formulae, trials })
    }

    /// Formulae that are all different and can be monitored.
    fn draw(&self, system: &System) -> Result<Vec<String>, NoBenchmark> {
        let components = system.components().len();
        let mut random = random(self.seed, stream(components, 0));
        let mut kept: Vec<String> = Vec::with_capacity(self.formulae);
        // Of a hundred random formulae many can be monitored.
        for _ in 0..100 * self.formulae {
            if kept.len() == self.formulae {
                break;
            }
            let mut logic = Logic::new(self.budget);
            let Some(made) = formula(&mut logic.formulae, system, &self.shape, &mut random)? else { break };
            let text = logic.formulae.show(made).to_string();
            if !kept.contains(&text) && verify(&mut logic, &text).is_ok() {
                kept.push(text);
            }
        }
        match kept.len() == self.formulae {
            true => Ok(kept),
            false => Err(NoBenchmark::NoFormulae(components)),
        }
    }
}

fn stream(components: usize, purpose: usize) -> u64 {
    (components * 8 + purpose) as u64
}
