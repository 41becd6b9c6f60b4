//! Many sensors, asked all at once at regular intervals.

use super::{Clock, Millis, Observation};
use invigil_decent::simulate::Observations;
use invigil_decent::system::{ComponentId, Instant, PropositionId, System};
use std::ops::Range;

/// Sensors whose changes are known, as what components observe: until the next change a value stays. Nothing is kept but the
/// changes, so that a day is not larger for being asked more often.
///
/// ```
/// use invigil_decent::simulate::Observations;
/// use invigil_decent::system::System;
/// use invigil_lab::periphery::{Clock, Polled};
///
/// let mut system = System::default();
/// let lamp = system.component("lamp")?;
/// let on = system.proposition(lamp, "on")?;
/// let clock = Clock { start: 0, step: 1000, end: 3000 };
/// let mut polled = Polled::new(&system, &[(on, vec![(700, true), (1500, false)])], clock);
/// let mut seen = Vec::new();
/// for at in 1.. {
///     if !polled.advance(at) {
///         break;
///     }
///     seen.push(polled.seen(lamp).unwrap()[0].1);
/// }
/// assert_eq!(seen, [false, true, false]);
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
#[derive(Clone, Debug)]
pub struct Polled {
    clock: Clock,
    /// The values of all sensors now, and which of them each component observes.
    values: Vec<Observation>,
    own: Vec<Range<usize>>,
    /// When which value becomes what, the earliest first, and the first that has not happened.
    changes: Vec<(Millis, usize, bool)>,
    next: usize,
    is_over: bool,
}

impl Polled {
    /// Sensors with their changes, in any order. Before its first change a value is false.
    pub fn new(system: &System, sensors: &[(PropositionId, Vec<(Millis, bool)>)], clock: Clock) -> Polled {
        let (mut values, mut own, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for component in system.components() {
            let start = values.len();
            for (proposition, changes) in
                sensors.iter().filter(|(known, _)| system.owner(*known) == component)
            {
                all.extend(changes.iter().map(|(when, value)| (*when, values.len(), *value)));
                values.push((*proposition, false));
            }
            own.push(start..values.len());
        }
        // Of two changes of a sensor at one moment the second one counts: the order of equals is kept.
        all.sort_by_key(|(when, ..)| *when);
        Polled { clock, values, own, changes: all, next: 0, is_over: false }
    }

    /// How often the sensors are asked in all.
    pub fn instants(&self) -> Instant {
        let span = self.clock.end.saturating_sub(self.clock.start).max(0);
        let step = self.clock.step.max(1);
        Instant::try_from((span / step).saturating_add(Millis::from(span % step > 0))).unwrap_or(Instant::MAX)
    }
}

impl Observations for Polled {
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
        self.values.get(self.own.get(component.index())?.clone())
    }
}
