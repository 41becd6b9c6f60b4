//! Sensors: files of moments at which a value changed, asked at regular intervals.

use super::{Observation, Periphery, Trouble};
use invigil_decent::system::PropositionId;
use jiff::civil::DateTime;
use std::fs;
use std::path::Path;

/// Milliseconds.
pub type Millis = i64;

/// When sensors are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The first time.
    pub start: Millis,
    /// Between one time and the next; more than zero.
    pub step: Millis,
    /// The end: nothing is asked then or later.
    pub end: Millis,
}

/// How a sensor's value becomes true or false.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// `ON`, `OPEN`, `true` and `1`, or `OFF`, `CLOSED`, `false` and `0`.
    Switch,
    /// A number: true above this.
    Above(f64),
    /// A number: true below this.
    Below(f64),
}

/// A sensor's file as a periphery: until the next change the value stays.
///
/// A line has a moment and a value, with a comma between them: `2017-01-31 08:00:08,ON`, or milliseconds and a number. A
/// first line that is neither is a header.
#[derive(Clone, Debug)]
pub struct Sensor {
    proposition: PropositionId,
    changes: Vec<(Millis, bool)>,
    /// The first change that has not happened.
    next: usize,
    value: bool,
    clock: Clock,
    now: Millis,
}

impl Sensor {
    /// Reads a file. Before its first change the value is `default`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(
        path: &Path,
        reading: Reading,
        proposition: PropositionId,
        default: bool,
        clock: Clock,
    ) -> Result<Sensor, Trouble> {
        Ok(Sensor::new(changes(path, reading)?, proposition, default, clock))
    }

    /// A sensor whose changes are known. They are put into the order of time.
    pub fn new(
        mut changes: Vec<(Millis, bool)>,
        proposition: PropositionId,
        default: bool,
        clock: Clock,
    ) -> Sensor {
        changes.sort_by_key(|(moment, _)| *moment);
        Sensor { proposition, changes, next: 0, value: default, clock, now: clock.start }
    }

    /// The shortest and the longest time between two changes of the value; none if it never changes. Sensors that are
    /// asked more often than the shortest miss nothing.
    pub fn rates(&self) -> Option<(Millis, Millis)> {
        let mut changes = self.changes.clone();
        changes.dedup_by_key(|(_, value)| *value);
        let gaps = changes.windows(2).map(|pair| pair[1].0 - pair[0].0);
        Some((gaps.clone().min()?, gaps.max()?))
    }
}

impl Periphery for Sensor {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, Trouble> {
        if self.now >= self.clock.end {
            return Ok(false);
        }
        while let Some((_, value)) = self.changes.get(self.next).filter(|(moment, _)| *moment <= self.now) {
            self.value = *value;
            self.next += 1;
        }
        seen.push((self.proposition, self.value));
        self.now += self.clock.step;
        Ok(true)
    }
}

/// The changes in the file of a sensor, in the order of time: what the value is from which moment on.
///
/// # Errors
/// If it cannot be read.
pub fn changes(path: &Path, reading: Reading) -> Result<Vec<(Millis, bool)>, Trouble> {
    let text = fs::read_to_string(path).map_err(|error| Trouble::new(path.display(), error))?;
    read(&text, reading)
        .map_err(|(line, words)| Trouble::new(format_args!("{}:{line}", path.display()), words))
}

/// The changes in a text; what is wrong comes with its line.
fn read(text: &str, reading: Reading) -> Result<Vec<(Millis, bool)>, (usize, String)> {
    let mut changes: Vec<(Millis, bool)> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |words: String| (at + 1, words);
        let (when, value) = line.split_once(',').ok_or_else(|| {
            wrong(format!("expected a moment and a value with a comma between them, found `{}`", line.trim()))
        })?;
        let Some(when) = moment(when.trim()) else {
            if at == 0 {
                continue;
            }
            let words = "is no moment: write milliseconds, or a date and a time as in `2017-01-31 08:00:08`";
            return Err(wrong(format!("`{}` {words}", when.trim())));
        };
        if changes.last().is_some_and(|(last, _)| when < *last) {
            let words = "this is earlier than the line above: sort the file by time";
            return Err(wrong(words.to_owned()));
        }
        changes.push((when, reading.value(value.trim().trim_matches('"')).map_err(wrong)?));
    }
    Ok(changes)
}

/// A moment in milliseconds: a number of them, or a date and a time.
///
/// ```
/// use invigil_lab::periphery::moment;
/// assert_eq!(moment("1500"), Some(1500));
/// assert_eq!(moment("1970-01-02 00:00:01"), Some(86_401_000));
/// assert_eq!(moment("soon"), None);
/// ```
pub fn moment(text: &str) -> Option<Millis> {
    let text = text.trim_matches('"');
    text.parse().ok().or_else(|| {
        let date: DateTime = text.parse().ok()?;
        Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
    })
}

impl Reading {
    fn value(self, text: &str) -> Result<bool, String> {
        let number = || match text.parse::<f64>() {
            Ok(number) if !number.is_nan() => Ok(number),
            _ => Err(format!("`{text}` is no number")),
        };
        match self {
            Reading::Above(threshold) => Ok(number()? > threshold),
            Reading::Below(threshold) => Ok(number()? < threshold),
            Reading::Switch => match text.to_ascii_lowercase().as_str() {
                "on" | "open" | "true" | "1" => Ok(true),
                "off" | "closed" | "false" | "0" => Ok(false),
                _ => Err(format!("`{text}` is neither ON nor OFF, neither OPEN nor CLOSED")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOOR: &str = "time,value\n1000,OPEN\n2500,CLOSED\n2600,CLOSED\n4000,OPEN\n";

    #[test]
    fn a_value_stays_until_it_changes() {
        let clock = Clock { start: 0, step: 1000, end: 6000 };
        let mut door = Sensor::new(read(DOOR, Reading::Switch).unwrap(), PropositionId(3), false, clock);
        let mut seen = Vec::new();
        while door.next(&mut seen).unwrap() {}
        assert_eq!(seen, [false, true, true, false, true, true].map(|value| (PropositionId(3), value)));
        assert_eq!(door.rates(), Some((1500, 1500)));
    }

    #[test]
    fn thresholds_and_mistakes() {
        assert_eq!(read("1,2.5\n2,3.5", Reading::Above(3.0)).unwrap(), [(1, false), (2, true)]);
        assert_eq!(read("1,2.5\n2,3.5", Reading::Below(3.0)).unwrap(), [(1, true), (2, false)]);
        for (text, reading, line, words) in [
            ("1,ON\nsoon,OFF", Reading::Switch, 2, "no moment"),
            ("1,ON\n2", Reading::Switch, 2, "comma"),
            ("2,ON\n3,OFF\n1,ON", Reading::Switch, 3, "sort the file by time"),
            ("1,HALF", Reading::Switch, 1, "neither"),
            ("1,warm", Reading::Above(1.0), 1, "no number"),
            ("1,NaN", Reading::Above(1.0), 1, "no number"),
        ] {
            let (at, said) = read(text, reading).unwrap_err();
            assert!(at == line && said.contains(words), "{at}: {said}");
        }
        let clock = Clock { start: 0, step: 1, end: 1 };
        let never = Sensor::new(vec![(5, true), (9, true)], PropositionId(0), false, clock);
        assert_eq!(never.rates(), None);
    }
}
