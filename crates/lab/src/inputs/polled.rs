//! Many sensors, polled together at regular intervals.

use super::{Clock, Millis, Observation};
use invigil_decent::simulate::Observations;
use invigil_decent::system::{ComponentId, Instant, PropositionId, System};
use std::ops::Range;

/// Sensors with known changes as observations of their components; a value holds until its next change. Only changes
/// are stored, so memory does not depend on the polling rate.
///
/// ```
/// use invigil_decent::simulate::Observations;
/// use invigil_decent::system::System;
/// use invigil_lab::inputs::{Clock, PolledSensors};
///
/// let mut system = System::default();
/// let lamp = system.component("lamp")?;
/// let on = system.proposition(lamp, "on")?;
/// let clock = Clock { start: 0, step: 1000, end: 3000 };
/// let mut polled = PolledSensors::new(&system, &[(on, vec![(700, true), (1500, false)])], clock);
/// let mut seen = Vec::new();
/// for at in 1.. {
///     if !polled.advance(at) {
///         break;
///     }
///     seen.push(polled.seen(lamp).unwrap()[0].1);
/// }
/// assert_eq!(seen, [false, true, false]);
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolledSensors {
    clock: Clock,
    /// Current values of all sensors, and the range of each component.
    values: Vec<Observation>,
    ranges: Vec<Range<usize>>,
    /// Changes sorted by time, and the index of the next one.
    changes: Vec<(Millis, usize, bool)>,
    next: usize,
    is_over: bool,
}

impl PolledSensors {
    /// Creates the observations from changes in any order. A value is false before its first change.
    pub fn new(
        system: &System,
        sensors: &[(PropositionId, Vec<(Millis, bool)>)],
        clock: Clock,
    ) -> PolledSensors {
        let (mut values, mut ranges, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for component in system.components() {
            let start = values.len();
            for (proposition, changes) in
                sensors.iter().filter(|(known, _)| system.owner(*known) == component)
            {
                all.extend(changes.iter().map(|(when, value)| (*when, values.len(), *value)));
                values.push((*proposition, false));
            }
            ranges.push(start..values.len());
        }
        // The sort is stable: of two simultaneous changes of a sensor, the second one counts.
        all.sort_by_key(|(when, ..)| *when);
        PolledSensors { clock, values, ranges, changes: all, next: 0, is_over: false }
    }

    /// Returns the number of polls.
    pub fn instants(&self) -> Instant {
        let span = self.clock.end.saturating_sub(self.clock.start).max(0);
        let step = self.clock.step.max(1);
        Instant::try_from((span / step).saturating_add(Millis::from(span % step > 0))).unwrap_or(Instant::MAX)
    }
}

impl Observations for PolledSensors {
    fn advance(&mut self, at: Instant) -> bool {
        let now = self.clock.start.saturating_add(self.clock.step.saturating_mul(Millis::from(at) - 1));
        self.is_over = now >= self.clock.end;
        while let Some((_, place, value)) = self.changes.get(self.next).filter(|(when, ..)| *when <= now) {
            self.values[*place].1 = *value;
            self.next += 1;
        }
        !self.is_over
    }

    fn seen(&self, component: ComponentId) -> Option<&[Observation]> {
        if self.is_over {
            return None;
        }
        self.values.get(self.ranges.get(component.index())?.clone())
    }
}
