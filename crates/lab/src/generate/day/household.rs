//! Households: sensors, activities and schedule of a home.

use crate::inputs::Millis;
use std::ops::Range;

/// Home with its sensors, the activities of its inhabitants and their schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Household {
    /// Recorded hours.
    pub hours: Range<Millis>,
    /// Delay of every start.
    pub start_delay: SecondsRange,
    /// Delay of every annotation.
    pub annotation_delay: SecondsRange,
    /// The sensors.
    pub sensors: Vec<Sensor>,
    /// The activities.
    pub activities: Vec<Activity>,
    /// When activities take place, in order of time.
    pub schedule: Vec<ScheduleEntry>,
}

/// Range of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecondsRange {
    /// Minimum.
    pub min: i64,
    /// Maximum.
    pub max: i64,
}

/// Sensor of a home.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Name.
    pub name: String,
    /// Values.
    pub kind: SensorKind,
}

/// Values of a sensor, idle and active.
#[derive(Clone, Debug, PartialEq)]
pub enum SensorKind {
    /// A word.
    Switch {
        /// Idle and active word.
        words: [String; 2],
    },
    /// A number.
    Level {
        /// Idle and active range.
        ranges: [(f64, f64); 2],
        /// Value between the two ranges.
        threshold: f64,
    },
}

/// Activity of an inhabitant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Name.
    pub name: String,
    /// Whether it is annotated.
    pub kind: ActivityKind,
    /// Effects on sensors.
    pub effects: Vec<SensorEffect>,
}

/// Whether an activity is annotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityKind {
    /// Annotated.
    Activity,
    /// Not annotated.
    Chore,
}

/// Effect of an activity on sensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensorEffect {
    /// Indices of the sensors; all are active at the same times.
    pub sensors: Vec<usize>,
    /// When the sensors are active.
    pub pattern: EffectPattern,
    /// Time between the start of the activity and the start of the effect.
    pub after: SecondsRange,
    /// Time between the end of the effect and the end of the activity.
    pub before: SecondsRange,
    /// Time that the effect lasts after the end of the activity.
    pub beyond: SecondsRange,
}

/// Pattern in which a sensor is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectPattern {
    /// Continuously.
    On,
    /// Never, overriding other activities.
    Off,
    /// Periodically.
    Periodic {
        /// Active time.
        on: SecondsRange,
        /// Pause.
        off: SecondsRange,
    },
}

/// Scheduled activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleEntry {
    /// Start.
    pub begin: Millis,
    /// Index of the activity.
    pub activity: usize,
    /// Duration.
    pub length: SecondsRange,
}

impl Household {
    /// Returns the list of its sensors in the format of [`read_sensor_list`](crate::inputs::read_sensor_list).
    pub fn list(&self) -> String {
        let line = |Sensor { name, kind }: &Sensor| match kind {
            SensorKind::Switch { .. } => format!("{name},{name}.csv,switch\n"),
            SensorKind::Level { threshold, .. } => format!("{name},{name}.csv,above {threshold}\n"),
        };
        let lines: String = self.sensors.iter().map(line).collect();
        format!("sensor,file,reading\n{lines}")
    }
}
