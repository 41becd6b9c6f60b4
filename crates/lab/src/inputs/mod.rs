//! Inputs: sources of a component's observations.

mod events;
mod folder;
mod lines;
mod live;
mod polled;
mod sensor;
mod sensor_list;
mod table;
mod text;

pub use events::{EventMapping, RoundCollector, Rounds, read_events};
pub use folder::{RecordedRun, TraceFolder, component_letter};
pub use invigil_decent::text::ObservationError;
pub use lines::LineInput;
pub use live::LiveInputs;
pub use polled::PolledSensors;
pub use sensor::{Clock, Millis, SensorInput, SensorReading, parse_timestamp, read_changes};
pub use sensor_list::{ListedSensor, read_sensor_list};
pub use table::read_table;
pub use text::{TextInput, parse_observations, write_observations};

use invigil_decent::system::{PropositionId, System};

/// Observed value.
pub type Observation = (PropositionId, bool);

/// Source of observations.
pub trait ObservationInput: Send {
    /// Appends the observations since the last call. Returns false at the end.
    ///
    /// # Errors
    /// Fails if the input is malformed.
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, ObservationError>;

    /// Returns how the input ended, if that should be reported.
    fn ending(&self) -> Option<String> {
        None
    }
}

/// Inputs of one component, which observes the union of them.
#[derive(Default)]
pub struct ComponentInputs {
    inputs: Vec<Box<dyn ObservationInput>>,
}

impl ComponentInputs {
    /// Adds an input.
    pub fn add(&mut self, input: impl ObservationInput + 'static) {
        self.inputs.push(Box::new(input));
    }

    /// Returns the observations of one round, or `None` when all inputs have ended.
    ///
    /// # Errors
    /// Fails if an input is malformed.
    pub fn observe(&mut self) -> Result<Option<Vec<Observation>>, ObservationError> {
        let (mut seen, mut has_more) = (Vec::new(), false);
        for input in &mut self.inputs {
            has_more |= input.next(&mut seen)?;
        }
        Ok(has_more.then_some(seen))
    }

    /// Returns how those inputs ended for which that should be reported.
    pub fn endings(&self) -> impl Iterator<Item = String> {
        self.inputs.iter().filter_map(|input| input.ending())
    }
}

/// Assigns the observations of each round to the components that make them.
pub fn split_by_component(rounds: &[Vec<Observation>], system: &System) -> RecordedRun {
    let mut run = vec![vec![Vec::new(); rounds.len()]; system.components().len()];
    for (round, seen) in rounds.iter().enumerate() {
        for observation in seen {
            run[system.owner(observation.0).index()][round].push(*observation);
        }
    }
    run
}
