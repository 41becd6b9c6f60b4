//! Trace formats and their detection.

use crate::csv;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per line: `{"event": "queue_push", "time": 1.25, "queue": 7}`.
    JsonLines,
    /// A header with the field names, then one record per line: `event,time,queue`, `queue_push,1.25,7`.
    Csv,
    /// Plain lines, one event per line, written like a call: `@1.25 queue_push(queue=7)`.
    PlainLines,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::JsonLines, Format::Csv, Format::PlainLines];

    /// The names that options accept, the usual one first.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Format::JsonLines => &["jsonl", "json", "ndjson"],
            Format::Csv => &["csv"],
            Format::PlainLines => &["line", "lines"],
        }
    }

    /// The extensions of files in this format, for writing.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::JsonLines => &["jsonl", "json"],
            Format::Csv => &["csv"],
            Format::PlainLines => &["trace", "line", "log", "txt"],
        }
    }

    /// The format of a file with this path, by its extension.
    ///
    /// ```
    /// use invigil_trace::Format;
    /// use std::path::Path;
    /// assert_eq!(Format::of_path(Path::new("day.jsonl")), Some(Format::JsonLines));
    /// assert_eq!(Format::of_path(Path::new("day")), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?;
        Format::ALL.into_iter().find(|format| format.extensions().contains(&extension))
    }

    /// Detects the format of a trace from its first non-blank line.
    ///
    /// ```
    /// use invigil_trace::Format;
    /// assert_eq!(Format::detect(r#"{"event": "push"}"#), Format::JsonLines);
    /// assert_eq!(Format::detect("time;event;queue"), Format::Csv);
    /// assert_eq!(Format::detect("push(queue=1)"), Format::PlainLines);
    /// ```
    pub fn detect(line: &str) -> Format {
        if line.trim_start().starts_with('{') {
            Format::JsonLines
        } else if csv::header_delimiter(line).is_some() {
            Format::Csv
        } else {
            Format::PlainLines
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names()[0])
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let found = Format::ALL.into_iter().find(|format| format.names().contains(&name));
        found.ok_or_else(|| {
            let [first @ .., last] = Format::ALL.map(|format| format.names()[0]);
            format!("unknown trace format `{name}`: use {} or {last}", first.join(", "))
        })
    }
}
