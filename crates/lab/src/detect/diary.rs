//! What somebody has written down: when which activity began and ended.

use crate::periphery::{Clock, Millis, Trouble, moment};
use invigil_decent::system::Instant;
use std::ops::Range;

/// An activity from when to when; at its end it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it begins.
    pub begin: Millis,
    /// When it is over.
    pub end: Millis,
    /// What it is.
    pub activity: String,
    /// The line in which it stands.
    pub line: usize,
}

/// One activity after the other.
///
/// ```
/// use invigil_lab::detect::Diary;
/// use invigil_lab::periphery::Clock;
///
/// let text = "begin,end,activity\n2000,5000,reading\n5000,5500,napping\n9000,12000,reading\n";
/// let diary = Diary::read(text, "activities.csv")?;
/// assert_eq!(diary.activities(), ["reading", "napping"]);
/// let clock = Clock { start: 1000, step: 1000, end: 10_000 };
/// // The sensors are asked at 1, 2, 3, … seconds: instants 1, 2, 3, …
/// assert_eq!(diary.stays("reading", clock), [2..5, 9..10]);
/// assert_eq!(diary.stays("napping", clock), [5..6]);
/// # Ok::<(), invigil_lab::periphery::Trouble>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diary {
    /// What was written down, in the order of time.
    pub entries: Vec<Entry>,
}

impl Diary {
    /// Reads a table: begin, end, activity. The first line is the head. `name` is for messages.
    ///
    /// # Errors
    /// What is wrong, and in which line.
    pub fn read(text: &str, name: &str) -> Result<Diary, Trouble> {
        let mut diary = Diary::default();
        for (at, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |words: String| Trouble::new(format_args!("{name}:{}", at + 1), words);
            let entry = entry(line, at + 1).map_err(wrong)?;
            if let Some(last) = diary.entries.last().filter(|last| entry.begin < last.end) {
                let words = format!(
                    "`{}` begins before `{}` of line {} is over: one activity at a time, in the order of time",
                    entry.activity, last.activity, last.line
                );
                return Err(wrong(words));
            }
            diary.entries.push(entry);
        }
        Ok(diary)
    }

    /// The activities, each once, in the order in which they come first.
    pub fn activities(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entry in &self.entries {
            if !names.contains(&entry.activity.as_str()) {
                names.push(&entry.activity);
            }
        }
        names
    }

    /// The instants of a clock at which an activity went on.
    pub fn stays(&self, activity: &str, clock: Clock) -> Vec<Range<Instant>> {
        let step = clock.step.max(1);
        let last = clock.end.max(clock.start);
        // The first time that a clock asks at a moment or later.
        let first = |moment: Millis| {
            let since = moment.clamp(clock.start, last) - clock.start;
            let asked = since / step + Millis::from(since % step > 0);
            Instant::try_from(asked).unwrap_or(Instant::MAX - 1) + 1
        };
        let own = self.entries.iter().filter(|entry| entry.activity == activity);
        own.map(|entry| first(entry.begin)..first(entry.end)).filter(|stay| !stay.is_empty()).collect()
    }
}

fn entry(line: &str, number: usize) -> Result<Entry, String> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let &[begin, end, activity] = &cells[..] else {
        return Err(format!(
            "expected when it begins, when it ends, and an activity, found `{}`",
            line.trim()
        ));
    };
    let when = |text: &str| {
        let words = "is no moment: write milliseconds, or a date and a time as in `2017-01-31 08:00:08`";
        moment(text).ok_or_else(|| format!("`{text}` {words}"))
    };
    let (begin, end) = (when(begin)?, when(end)?);
    if end <= begin {
        return Err(format!("`{activity}` ends when it begins, or before: exchange the two"));
    }
    Ok(Entry { begin, end, activity: activity.to_owned(), line: number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        for (text, words) in [
            ("head\n1,2", "a.csv:2: expected when it begins"),
            ("head\n1,2,nap\n\nnoon,3,nap", "a.csv:4: `noon` is no moment"),
            ("head\n5,5,nap", "a.csv:2: `nap` ends when it begins"),
            ("head\n1,5,nap\n4,6,cook", "a.csv:3: `cook` begins before `nap` of line 2 is over"),
        ] {
            let wrong = Diary::read(text, "a.csv").unwrap_err().to_string();
            assert!(wrong.starts_with(words), "{wrong}");
        }
    }

    #[test]
    fn instants_are_those_at_which_the_clock_asks() {
        let diary = Diary::read("head\n0,1500,a\n1500,1501,a\n2000,2001,a\n9000,99000,a", "a.csv").unwrap();
        let clock = Clock { start: 1000, step: 500, end: 3000 };
        // Asked at 1000, 1500, 2000, 2500.
        assert_eq!(diary.stays("a", clock), [1..2, 2..3, 3..4]);
        assert_eq!(diary.stays("b", clock), []);
    }
}
