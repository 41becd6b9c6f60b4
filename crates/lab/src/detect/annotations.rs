//! Annotations: which activity took place when.

use crate::inputs::{Clock, Millis, ObservationError, parse_timestamp};
use invigil_decent::system::Instant;
use std::ops::Range;

/// Annotated activity. The end is exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Start.
    pub begin: Millis,
    /// End.
    pub end: Millis,
    /// Name of the activity.
    pub activity: String,
    /// Line in the file.
    pub line: usize,
}

/// Annotated activities in order of time, without overlap.
///
/// ```
/// use invigil_lab::detect::Annotations;
/// use invigil_lab::inputs::Clock;
///
/// let text = "begin,end,activity\n2000,5000,reading\n5000,5500,napping\n9000,12000,reading\n";
/// let annotations = Annotations::read(text, "activities.csv")?;
/// assert_eq!(annotations.activities(), ["reading", "napping"]);
/// let clock = Clock { start: 1000, step: 1000, end: 10_000 };
/// // The sensors are polled at 1, 2, 3, … seconds: instants 1, 2, 3, …
/// assert_eq!(annotations.intervals("reading", clock), [2..5, 9..10]);
/// assert_eq!(annotations.intervals("napping", clock), [5..6]);
/// # Ok::<(), invigil_lab::inputs::ObservationError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// The activities.
    pub entries: Vec<Annotation>,
}

impl Annotations {
    /// Reads a table with begin, end and activity. The first line is the header. `name` is used in messages.
    ///
    /// # Errors
    /// Fails at the first malformed line.
    pub fn read(text: &str, name: &str) -> Result<Annotations, ObservationError> {
        let mut annotations = Annotations::default();
        for (at, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |message: String| ObservationError::new(format_args!("{name}:{}", at + 1), message);
            let entry = entry(line, at + 1).map_err(wrong)?;
            if let Some(last) = annotations.entries.last().filter(|last| entry.begin < last.end) {
                let message = format!(
                    "`{}` begins before `{}` of line {} ends: activities must be sorted by time and must not overlap",
                    entry.activity, last.activity, last.line
                );
                return Err(wrong(message));
            }
            annotations.entries.push(entry);
        }
        Ok(annotations)
    }

    /// Returns the names of the activities in the order of their first occurrence.
    pub fn activities(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entry in &self.entries {
            if !names.contains(&entry.activity.as_str()) {
                names.push(&entry.activity);
            }
        }
        names
    }

    /// Returns the instants of a clock at which an activity took place.
    pub fn intervals(&self, activity: &str, clock: Clock) -> Vec<Range<Instant>> {
        let step = clock.step.max(1);
        let last = clock.end.max(clock.start);
        // First poll at or after a moment.
        let first = |time: Millis| {
            let since = time.clamp(clock.start, last) - clock.start;
            let polls = since / step + Millis::from(since % step > 0);
            Instant::try_from(polls).unwrap_or(Instant::MAX - 1) + 1
        };
        let own = self.entries.iter().filter(|entry| entry.activity == activity);
        own.map(|entry| first(entry.begin)..first(entry.end))
            .filter(|interval| !interval.is_empty())
            .collect()
    }
}

fn entry(line: &str, number: usize) -> Result<Annotation, String> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let &[begin, end, activity] = &cells[..] else {
        return Err(format!("expected begin, end and activity, found `{}`", line.trim()));
    };
    let when = |text: &str| {
        let message =
            "is not a timestamp: write milliseconds, or a date and a time as in `2017-01-31 08:00:08`";
        parse_timestamp(text).ok_or_else(|| format!("`{text}` {message}"))
    };
    let (begin, end) = (when(begin)?, when(end)?);
    if end <= begin {
        return Err(format!("`{activity}` does not end after it begins: swap the two"));
    }
    Ok(Annotation { begin, end, activity: activity.to_owned(), line: number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_annotation_is_reported_with_line_and_remedy() {
        for (text, message) in [
            ("head\n1,2", "a.csv:2: expected begin, end and activity"),
            ("head\n1,2,nap\n\nnoon,3,nap", "a.csv:4: `noon` is not a timestamp"),
            ("head\n5,5,nap", "a.csv:2: `nap` does not end after it begins"),
            ("head\n1,5,nap\n4,6,cook", "a.csv:3: `cook` begins before `nap` of line 2 ends"),
        ] {
            let wrong = Annotations::read(text, "a.csv").unwrap_err().to_string();
            assert!(wrong.starts_with(message), "{wrong}");
        }
    }

    #[test]
    fn intervals_cover_the_polls_during_an_activity() {
        let annotations =
            Annotations::read("head\n0,1500,a\n1500,1501,a\n2000,2001,a\n9000,99000,a", "a.csv").unwrap();
        let clock = Clock { start: 1000, step: 500, end: 3000 };
        // Polled at 1000, 1500, 2000, 2500.
        assert_eq!(annotations.intervals("a", clock), [1..2, 2..3, 3..4]);
        assert_eq!(annotations.intervals("b", clock), []);
    }
}
