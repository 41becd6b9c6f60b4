//! The report at the end of a check.

use crate::terminal::Terminal;
use crate::{INTERRUPTED, INVALID_INPUT, VIOLATED};
use invigil_check::report::{Paint, Style, count, grouped};
use invigil_mac::{CheckOutcome, InputErrors, Requirement, RequirementKind};
use invigil_monitor::mac::Truth;
use serde_json::json;

/// The causes of faults in definitions, for messages.
pub(super) const FAULT_REASONS: &str = "an integer division by zero, or a string longer than 65,536 bytes";

/// Everything that the report contains.
pub(super) struct Report<'a> {
    pub(super) outcome: &'a CheckOutcome,
    pub(super) input_errors: &'a InputErrors,
    pub(super) failures: &'a [String],
    pub(super) interrupted: bool,
}

/// Prints warnings about unreadable input.
pub(super) fn print_input_errors(errors: &InputErrors, terminal: &Terminal) {
    for message in errors.first() {
        terminal.eprint(&format!("{} {message}", terminal.errors.paint(Paint::Undecided, "warning:")));
    }
    let more = errors.count() - errors.first().len() as u64;
    if more > 0 {
        terminal.eprint(&format!("and {} more", grouped(more)));
    }
}

impl Report<'_> {
    /// The exit status. Errors do not invalidate a violation, but they do invalidate a verdict of *holds*.
    pub(super) fn status(&self) -> u8 {
        if self.outcome.violation_count() > 0 {
            VIOLATED
        } else if self.interrupted {
            INTERRUPTED
        } else if !self.is_complete() || self.outcome.instants == 0 {
            INVALID_INPUT
        } else {
            0
        }
    }

    fn is_complete(&self) -> bool {
        self.input_errors.is_empty() && self.failures.is_empty() && self.outcome.faults == 0
    }

    /// Warnings that explain why the result may be wrong or missing.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.outcome.faults > 0 {
            let faults = count(self.outcome.faults, "time");
            warnings
                .push(format!("{faults} a definition and its dependents became undefined: {FAULT_REASONS}"));
        }
        if self.outcome.backwards > 0 {
            let back = count(self.outcome.backwards, "instant");
            warnings.push(format!("{back} with a time before that of the previous instant"));
        }
        if self.outcome.instants == 0 && self.failures.is_empty() {
            warnings.push("the input contains no event of the scripts; there is no result".to_owned());
        }
        warnings
    }

    pub(super) fn text(&self, style: &Style) -> String {
        let header = ["requirement", "", "verdict", "times", "first", "last"].map(str::to_owned);
        let milliseconds = |time: Option<i64>| time.map_or(String::new(), |time| format!("{time} ms"));
        let mut rows = vec![(header, Paint::Faint)];
        for one in &self.outcome.requirements {
            let (word, paint) = verdict(one);
            let so_far =
                if self.is_complete() && !self.interrupted || paint == Paint::Bad { "" } else { " so far" };
            let cells = [
                one.name.clone(),
                one.kind.word().to_owned(),
                format!("{word}{so_far}"),
                grouped(one.count),
                milliseconds(one.first),
                milliseconds(one.last),
            ];
            rows.push((cells, paint));
        }
        let widths: Vec<usize> = (0..6)
            .map(|at| rows.iter().map(|(cells, _)| cells[at].chars().count()).max().unwrap_or(0))
            .collect();
        let mut out = String::new();
        for (cells, paint) in &rows {
            let padded = cells.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
                3..=5 => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            });
            let line = padded.collect::<Vec<_>>().join("  ");
            out.push_str(&style.paint(*paint, line.trim_end()));
            out.push('\n');
        }
        let instants = count(self.outcome.instants, "instant");
        let span = self.outcome.span.map_or(String::new(), |(from, to)| format!(", from {from} to {to} ms"));
        out.push_str(&format!("{instants}{span}\n"));
        for (name, times) in self.outcome.invoked.iter().filter(|(_, times)| *times > 0) {
            out.push_str(&format!("action {name} invoked {}\n", count(*times, "time")));
        }
        out
    }

    /// One JSON document; `docs/mac.md` has its fields.
    pub(super) fn json(&self) -> String {
        let requirements = self.outcome.requirements.iter().map(|one| {
            json!({
                "name": one.name,
                "sort": one.kind.word(),
                "verdict": verdict(one).0,
                "count": one.count,
                "first": one.first,
                "last": one.last,
                "value": one.truth.map(Truth::word),
                "since": one.since,
            })
        });
        let invoked =
            self.outcome.invoked.iter().map(|(name, times)| json!({ "action": name, "times": times }));
        let verdict = match self.status() {
            0 => "holds",
            VIOLATED => "violated",
            _ => "error",
        };
        let document = json!({
            "schema": 1,
            "tool": { "name": "invigil", "version": env!("CARGO_PKG_VERSION") },
            "verdict": verdict,
            "complete": self.is_complete() && !self.interrupted,
            "violations": self.outcome.violation_count(),
            "requirements": requirements.collect::<Vec<_>>(),
            "instants": self.outcome.instants,
            "from": self.outcome.span.map(|span| span.0),
            "to": self.outcome.span.map(|span| span.1),
            "invoked": invoked.collect::<Vec<_>>(),
            "faults": self.outcome.faults,
            "unread": { "count": self.input_errors.count(), "first": self.input_errors.first() },
            "failures": self.failures,
        });
        // Writing plain data into memory does not fail.
        serde_json::to_string_pretty(&document).map_or(String::new(), |text| text + "\n")
    }
}

/// The verdict of a requirement as a word, and its colour.
fn verdict(one: &Requirement) -> (&'static str, Paint) {
    match (one.kind, one.count, one.truth) {
        (RequirementKind::Property, 0, Some(Truth::Undefined)) => ("undefined", Paint::Undecided),
        (RequirementKind::Property, 0, _) => ("holds", Paint::Good),
        (RequirementKind::Property, ..) => ("violated", Paint::Bad),
        (RequirementKind::Alarm, 0, _) => ("not raised", Paint::Good),
        (RequirementKind::Alarm, ..) => ("raised", Paint::Bad),
    }
}
