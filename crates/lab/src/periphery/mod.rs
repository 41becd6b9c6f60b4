//! Where the observations of a component come from.

mod events;
mod file;
mod folder;
mod listed;
mod live;
mod polled;
mod sensor;
mod table;
mod text;

pub use events::{Gathering, Meaning, Rounds, events};
pub use file::Lines;
pub use folder::{Folder, Run, letter};
pub use invigil_decent::text::Trouble;
pub use listed::{Listed, listed};
pub use live::Live;
pub use polled::Polled;
pub use sensor::{Clock, Millis, Reading, Sensor, changes, moment};
pub use table::table;
pub use text::{Text, observations, write_observations};

use invigil_decent::system::{PropositionId, System};

/// A value that was observed.
pub type Observation = (PropositionId, bool);

/// A source of observations.
pub trait Periphery: Send {
    /// Adds what was observed since it was last asked. False when there will be no more.
    ///
    /// # Errors
    /// If what comes cannot be read.
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, Trouble>;

    /// How it ended, if it did and somebody should know: in words.
    fn ending(&self) -> Option<String> {
        None
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

    /// How those ended that did, if somebody should know.
    pub fn endings(&self) -> impl Iterator<Item = String> {
        self.peripheries.iter().filter_map(|periphery| periphery.ending())
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
