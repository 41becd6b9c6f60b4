//! Trace formats and their detection.

use crate::csv;
use std::fmt;
use std::str::FromStr;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per line: `{"event": "queue_push", "time": 1.25, "queue": 7}`.
    JsonLines,
    /// A header with the field names, then one record per line: `event,time,queue`, `queue_push,1.25,7`.
    Csv,
    /// One event per line, written like a call: `@1.25 queue_push(queue=7)`.
    Line,
}

impl Format {
    /// All formats with their names.
    pub const WORDS: [(Format, &'static str); 3] =
        [(Format::JsonLines, "jsonl"), (Format::Csv, "csv"), (Format::Line, "line")];

    /// Detects the format of a trace from its first non-blank line.
    ///
    /// ```
    /// use invigil_trace::Format;
    /// assert_eq!(Format::of_line(r#"{"event": "push"}"#), Format::JsonLines);
    /// assert_eq!(Format::of_line("time;event;queue"), Format::Csv);
    /// assert_eq!(Format::of_line("push(queue=1)"), Format::Line);
    /// ```
    pub fn of_line(line: &str) -> Format {
        if line.trim_start().starts_with('{') {
            Format::JsonLines
        } else if csv::delimiter(line).is_some() {
            Format::Csv
        } else {
            Format::Line
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Format::WORDS.iter().find(|(format, _)| format == self).map_or("", |(_, word)| word))
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Format, String> {
        match word {
            "jsonl" | "json" | "ndjson" => Ok(Format::JsonLines),
            "csv" => Ok(Format::Csv),
            "line" | "lines" => Ok(Format::Line),
            _ => Err(format!("unknown trace format `{word}`: use jsonl, csv or line")),
        }
    }
}
