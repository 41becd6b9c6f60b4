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
    /// Plain lines, one event per line, written like a call: `@1.25 queue_push(queue=7)`.
    PlainLines,
}

impl Format {
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
        f.write_str(match self {
            Format::JsonLines => "jsonl",
            Format::Csv => "csv",
            Format::PlainLines => "line",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        match name {
            "jsonl" | "json" | "ndjson" => Ok(Format::JsonLines),
            "csv" => Ok(Format::Csv),
            "line" | "lines" => Ok(Format::PlainLines),
            _ => Err(format!("unknown trace format `{name}`: use jsonl, csv or line")),
        }
    }
}
