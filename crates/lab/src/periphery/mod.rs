//! Where the observations of a component come from.

mod file;
mod folder;
mod listed;
mod polled;
mod sensor;
mod table;
mod text;

pub use file::Lines;
pub use folder::{Folder, Run, letter};
pub use listed::{Listed, listed};
pub use polled::Polled;
pub use sensor::{Clock, Millis, Reading, Sensor, changes, moment};
pub use table::table;
pub use text::{Text, observations, write_observations};

use invigil_decent::system::{PropositionId, System};
use std::fmt;

/// A value that was observed.
pub type Observation = (PropositionId, bool);

/// A source of observations.
pub trait Periphery: Send {
    /// Adds what was observed since it was last asked. False when there will be no more.
    ///
    /// # Errors
    /// If what comes cannot be read.
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, Trouble>;
}

/// Observations that cannot be read: where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The file or peer, and the line.
    pub place: String,
    /// What is wrong, and what would be right.
    pub words: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.words)
    }
}

impl std::error::Error for Trouble {}

impl Trouble {
    pub(crate) fn new(place: impl fmt::Display, words: impl fmt::Display) -> Trouble {
        Trouble { place: place.to_string(), words: words.to_string() }
    }
}

/// The peripheries of one component. It observes what all of them do.
#[derive(Default)]
pub struct Inputs {
    peripheries: Vec<Box<dyn Periphery>>,
}

impl Inputs {
    /// Adds a periphery.
    pub fn add(&mut self, periphery: impl Periphery + 'static) {
        self.peripheries.push(Box::new(periphery));
    }

    /// What all of them observed since the last time: one round. None when all are at their ends.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn observe(&mut self) -> Result<Option<Vec<Observation>>, Trouble> {
        let (mut seen, mut has_more) = (Vec::new(), false);
        for periphery in &mut self.peripheries {
            has_more |= periphery.next(&mut seen)?;
        }
        Ok(has_more.then_some(seen))
    }
}

/// A run of which is known what was observed in each round, by whomever: each observation goes to its component.
pub fn spread(rounds: &[Vec<Observation>], system: &System) -> Run {
    let mut run = vec![vec![Vec::new(); rounds.len()]; system.components().len()];
    for (round, seen) in rounds.iter().enumerate() {
        for observation in seen {
            run[system.owner(observation.0).index()][round].push(*observation);
        }
    }
    run
}
