//! Sensors: files with the times at which a value changed, polled at regular intervals.

use super::{Observation, ObservationError, ObservationInput};
use invigil_decent::system::PropositionId;
use jiff::civil::DateTime;
use std::fs;
use std::path::Path;

/// Milliseconds.
pub type Millis = i64;

/// Polling times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// First poll.
    pub start: Millis,
    /// Interval between polls, positive.
    pub step: Millis,
    /// End, exclusive.
    pub end: Millis,
}

/// How values of a sensor become true or false.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SensorReading {
    /// `ON`, `OPEN`, `true`, `1` are true; `OFF`, `CLOSED`, `false`, `0` are false.
    Switch,
    /// A number; true above this.
    Above(f64),
    /// A number; true below this.
    Below(f64),
}

/// Sensor file as an input: a value holds until the next change.
///
/// A line is `TIMESTAMP,VALUE`; the timestamp is a date and time, or a number of milliseconds. A first line without a
/// valid timestamp is a header.
#[derive(Clone, Debug)]
pub struct SensorInput {
    proposition: PropositionId,
    changes: Vec<(Millis, bool)>,
    /// Index of the next change.
    next: usize,
    value: bool,
    clock: Clock,
    now: Millis,
}

impl SensorInput {
    /// Reads a file. The value is `default` before the first change.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is malformed.
    pub fn open(
        path: &Path,
        reading: SensorReading,
        proposition: PropositionId,
        default: bool,
        clock: Clock,
    ) -> Result<SensorInput, ObservationError> {
        Ok(SensorInput::new(read_changes(path, reading)?, proposition, default, clock))
    }

    /// Creates an input from changes in any order.
    pub fn new(
        mut changes: Vec<(Millis, bool)>,
        proposition: PropositionId,
        default: bool,
        clock: Clock,
    ) -> SensorInput {
        changes.sort_by_key(|(time, _)| *time);
        SensorInput { proposition, changes, next: 0, value: default, clock, now: clock.start }
    }

    /// Returns the shortest and longest time between consecutive changes; `None` if there are fewer than two. Polling
    /// more often than the shortest misses no change.
    pub fn change_intervals(&self) -> Option<(Millis, Millis)> {
        let mut changes = self.changes.clone();
        changes.dedup_by_key(|(_, value)| *value);
        let gaps = changes.windows(2).map(|pair| pair[1].0 - pair[0].0);
        Some((gaps.clone().min()?, gaps.max()?))
    }
}

impl ObservationInput for SensorInput {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, ObservationError> {
        if self.now >= self.clock.end {
            return Ok(false);
        }
        while let Some((_, value)) = self.changes.get(self.next).filter(|(time, _)| *time <= self.now) {
            self.value = *value;
            self.next += 1;
        }
        seen.push((self.proposition, self.value));
        self.now += self.clock.step;
        Ok(true)
    }
}

/// Reads the changes in a sensor file, in order of time: timestamp and new value.
///
/// # Errors
/// Fails if the file cannot be read or is malformed.
pub fn read_changes(path: &Path, reading: SensorReading) -> Result<Vec<(Millis, bool)>, ObservationError> {
    let text = fs::read_to_string(path).map_err(|error| ObservationError::new(path.display(), error))?;
    read(&text, reading)
        .map_err(|(line, message)| ObservationError::new(format_args!("{}:{line}", path.display()), message))
}

/// Parses changes. An error has the number of its line.
fn read(text: &str, reading: SensorReading) -> Result<Vec<(Millis, bool)>, (usize, String)> {
    let mut changes: Vec<(Millis, bool)> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let error = |message: String| (at + 1, message);
        let (when, value) = line.split_once(',').ok_or_else(|| {
            error(format!("expected a timestamp and a value separated by a comma, found `{}`", line.trim()))
        })?;
        let Some(when) = parse_timestamp(when.trim()) else {
            if at == 0 {
                continue;
            }
            let message =
                "is not a timestamp: write milliseconds, or a date and a time as in `2017-01-31 08:00:08`";
            return Err(error(format!("`{}` {message}", when.trim())));
        };
        if changes.last().is_some_and(|(last, _)| when < *last) {
            let message = "the time is earlier than in the line above: sort the file by time";
            return Err(error(message.to_owned()));
        }
        changes.push((when, reading.value(value.trim().trim_matches('"')).map_err(error)?));
    }
    Ok(changes)
}

/// Parses a timestamp in milliseconds: a number, or date and time.
///
/// ```
/// use invigil_lab::inputs::parse_timestamp;
/// assert_eq!(parse_timestamp("1500"), Some(1500));
/// assert_eq!(parse_timestamp("1970-01-02 00:00:01"), Some(86_401_000));
/// assert_eq!(parse_timestamp("soon"), None);
/// ```
pub fn parse_timestamp(text: &str) -> Option<Millis> {
    let text = text.trim_matches('"');
    text.parse().ok().or_else(|| {
        let date: DateTime = text.parse().ok()?;
        Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
    })
}

impl SensorReading {
    fn value(self, text: &str) -> Result<bool, String> {
        let number = || match text.parse::<f64>() {
            Ok(number) if !number.is_nan() => Ok(number),
            _ => Err(format!("`{text}` is not a number")),
        };
        match self {
            SensorReading::Above(threshold) => Ok(number()? > threshold),
            SensorReading::Below(threshold) => Ok(number()? < threshold),
            SensorReading::Switch => match text.to_ascii_lowercase().as_str() {
                "on" | "open" | "true" | "1" => Ok(true),
                "off" | "closed" | "false" | "0" => Ok(false),
                _ => Err(format!("expected ON, OPEN, true or 1, or OFF, CLOSED, false or 0, found `{text}`")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOOR: &str = "time,value\n1000,OPEN\n2500,CLOSED\n2600,CLOSED\n4000,OPEN\n";

    #[test]
    fn sensor_value_holds_until_next_change() {
        let clock = Clock { start: 0, step: 1000, end: 6000 };
        let mut door =
            SensorInput::new(read(DOOR, SensorReading::Switch).unwrap(), PropositionId(3), false, clock);
        let mut seen = Vec::new();
        while door.next(&mut seen).unwrap() {}
        assert_eq!(seen, [false, true, true, false, true, true].map(|value| (PropositionId(3), value)));
        assert_eq!(door.change_intervals(), Some((1500, 1500)));
    }

    #[test]
    fn thresholds_are_applied_and_malformed_lines_reported() {
        assert_eq!(read("1,2.5\n2,3.5", SensorReading::Above(3.0)).unwrap(), [(1, false), (2, true)]);
        assert_eq!(read("1,2.5\n2,3.5", SensorReading::Below(3.0)).unwrap(), [(1, true), (2, false)]);
        for (text, reading, line, message) in [
            ("1,ON\nsoon,OFF", SensorReading::Switch, 2, "not a timestamp"),
            ("1,ON\n2", SensorReading::Switch, 2, "comma"),
            ("2,ON\n3,OFF\n1,ON", SensorReading::Switch, 3, "sort the file by time"),
            ("1,HALF", SensorReading::Switch, 1, "expected ON"),
            ("1,warm", SensorReading::Above(1.0), 1, "not a number"),
            ("1,NaN", SensorReading::Above(1.0), 1, "not a number"),
        ] {
            let (at, reported) = read(text, reading).unwrap_err();
            assert!(at == line && reported.contains(message), "{at}: {reported}");
        }
        let clock = Clock { start: 0, step: 1, end: 1 };
        let never = SensorInput::new(vec![(5, true), (9, true)], PropositionId(0), false, clock);
        assert_eq!(never.change_intervals(), None);
    }
}
