//! Observations that arrive while monitors run.

use super::{ComponentInputs, Observation, ObservationError, ObservationInput};
use crate::black_box::BlackBoxes;
use invigil_decent::simulate::{Observations, Trace};
use invigil_decent::system::{ComponentId, Instant, System};

/// Live rounds: one round of each component's inputs. The run ends when all inputs have ended.
///
/// ```
/// use invigil_decent::simulate::Observations;
/// use invigil_decent::system::System;
/// use invigil_lab::black_box::BlackBoxes;
/// use invigil_lab::inputs::{LiveInputs, TextInput};
///
/// let mut system = System::default();
/// let (lamp, door) = (system.component("lamp")?, system.component("door")?);
/// let (on, open) = (system.proposition(lamp, "on")?, system.proposition(door, "open")?);
/// let mut live = LiveInputs::new(&system, BlackBoxes::default(), false);
/// live.add(lamp, TextInput::new("on:t", &system).unwrap());
/// live.add(door, TextInput::new("open:f>open:t", &system).unwrap());
/// assert!(live.advance(1) && live.seen(lamp) == Some(&[(on, true)]));
/// assert!(live.advance(2) && live.seen(door) == Some(&[(open, true)]));
/// assert!(!live.advance(3) && live.error().is_none());
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
pub struct LiveInputs {
    inputs: Vec<ComponentInputs>,
    boxes: BlackBoxes,
    /// Number of rounds of each component.
    rounds: Vec<Instant>,
    now: Vec<Vec<Observation>>,
    /// All rounds, if they will be observed again.
    past: Trace,
    can_restart: bool,
    at: Instant,
    /// The last round, once the inputs have ended.
    last: Option<Instant>,
    error: Option<ObservationError>,
}

impl LiveInputs {
    /// Creates the inputs. If `can_restart` is set, the rounds can be observed again from the first one.
    pub fn new(system: &System, boxes: BlackBoxes, can_restart: bool) -> LiveInputs {
        let components = system.components().len();
        LiveInputs {
            inputs: (0..components).map(|_| ComponentInputs::default()).collect(),
            boxes,
            rounds: vec![0; components],
            now: vec![Vec::new(); components],
            past: Trace::new(system),
            can_restart,
            at: 0,
            last: None,
            error: None,
        }
    }

    /// Adds an input of a component.
    pub fn add(&mut self, component: ComponentId, input: impl ObservationInput + 'static) {
        self.inputs[component.index()].add(input);
    }

    /// Returns why the inputs ended, if it was an error.
    pub fn error(&self) -> Option<&ObservationError> {
        self.error.as_ref()
    }

    /// Returns how those inputs ended for which that should be reported: component, number of rounds, message.
    pub fn endings(&self) -> impl Iterator<Item = (ComponentId, Instant, String)> {
        let all = (0..).map(ComponentId).zip(&self.inputs).zip(&self.rounds);
        all.flat_map(|((id, inputs), rounds)| inputs.endings().map(move |message| (id, *rounds, message)))
    }

    /// Reads the next round. Returns false at the end.
    fn pull(&mut self) -> Result<bool, ObservationError> {
        let mut has_more = false;
        for (at, (inputs, now)) in self.inputs.iter_mut().zip(&mut self.now).enumerate() {
            now.clear();
            if let Some(seen) = inputs.observe()? {
                *now = seen;
                self.rounds[at] += 1;
                self.boxes.observe(ComponentId(at as u16), now)?;
                has_more = true;
            }
        }
        Ok(has_more)
    }
}

impl Observations for LiveInputs {
    fn advance(&mut self, at: Instant) -> bool {
        self.at = at;
        if let Some(last) = self.last {
            return at <= last && self.can_restart;
        }
        if at <= self.past.rounds() {
            return true;
        }
        match self.pull() {
            Ok(true) => {
                if self.can_restart {
                    self.past.push(self.now.iter().map(Vec::as_slice));
                }
                return true;
            }
            Ok(false) => {}
            Err(error) => self.error = Some(error),
        }
        self.last = Some(at - 1);
        false
    }

    fn seen(&self, component: ComponentId) -> Option<&[Observation]> {
        match self.last {
            Some(last) if self.at > last => None,
            _ if self.can_restart => self.past.seen(component.index(), self.at),
            _ => self.now.get(component.index()).map(Vec::as_slice),
        }
    }
}
