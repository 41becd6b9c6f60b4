//! Who lives where, and how.

use crate::periphery::Millis;
use std::ops::Range;

/// A home with its sensors, what people do there, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Household {
    /// From when to when the day is recorded.
    pub hours: Range<Millis>,
    /// How late everything begins.
    pub late: Span,
    /// How late it is written down that something began or ended.
    pub notes: Span,
    /// The sensors.
    pub sensors: Vec<Sensor>,
    /// What is done.
    pub acts: Vec<Act>,
    /// When it is done, in the order of time.
    pub plans: Vec<Plan>,
}

/// So many seconds, from the least to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The least.
    pub least: i64,
    /// The most.
    pub most: i64,
}

/// A sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// What it is called.
    pub name: String,
    /// What it says.
    pub kind: SensorKind,
}

/// What a sensor says when nothing happens, and when something does.
#[derive(Clone, Debug, PartialEq)]
pub enum SensorKind {
    /// A word.
    Switch {
        /// Both.
        words: [String; 2],
    },
    /// A number.
    Level {
        /// From the least to the most, for both.
        ranges: [(f64, f64); 2],
        /// What lies between the two.
        threshold: f64,
    },
}

/// Something that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// What it is called.
    pub name: String,
    /// Whether it is written down.
    pub kind: Kind,
    /// What it does to sensors.
    pub effects: Vec<Effect>,
}

/// Whether something is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is.
    Activity,
    /// It is not worth it.
    Chore,
}

/// What is done to sensors while something is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The sensors; all are driven in the same way at the same time.
    pub sensors: Vec<usize>,
    /// How.
    pub pattern: Pattern,
    /// How long after its beginning it begins.
    pub after: Span,
    /// How long before its end it ends.
    pub before: Span,
    /// How long it goes on beyond its end.
    pub beyond: Span,
}

/// How a sensor is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All the time.
    On,
    /// Not at all, whatever others do.
    Off,
    /// Again and again.
    Again {
        /// For so long.
        on: Span,
        /// With so much between.
        off: Span,
    },
}

/// Something that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// When.
    pub begin: Millis,
    /// What, by its place.
    pub act: usize,
    /// For how long.
    pub length: Span,
}

impl Household {
    /// The list of its sensors, as [`listed`](crate::periphery::listed) reads it.
    pub fn list(&self) -> String {
        let line = |Sensor { name, kind }: &Sensor| match kind {
            SensorKind::Switch { .. } => format!("{name},{name}.csv,switch\n"),
            SensorKind::Level { threshold, .. } => format!("{name},{name}.csv,above {threshold}\n"),
        };
        let lines: String = self.sensors.iter().map(line).collect();
        format!("sensor,file,reading\n{lines}")
    }
}
