//! Warnings that are printed even with `--quiet`: reasons why a verdict may be wrong.

use super::format::printable;
use super::missing_data::{malformed_count, never_supplied, skipped_events};
use super::{Paint, Report, Style};

impl Report<'_> {
    /// Renders one-line warnings, for users who see only the exit status otherwise.
    pub fn warnings(&self, style: &Style) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut warn = |text: String| {
            warnings.push(format!("{} {text}", style.paint(Paint::Undecided, "warning:")));
        };
        let traces = printable(&self.outcome.inputs.join(", "));
        if self.mentions_no_event() {
            warn(format!("{traces}: no event is mentioned by a property"));
        }
        let malformed = self.outcome.malformed_lines();
        if malformed.count() > 0 && !self.is_not_a_trace() && !self.ended_by_strict_error() {
            let first = malformed.first.first().map_or(String::new(), |error| {
                format!(", first {}: {}", printable(&self.position_text(error.position)), error.message)
            });
            warn(format!("{}{first}; the verdict may be wrong", malformed_count(&malformed)));
        }
        if !self.outcome.strict {
            for property in &self.outcome.properties {
                for skipped in &property.skipped {
                    warn(format!("{}; the verdict may be wrong", skipped_events(self, property, skipped)));
                }
            }
        }
        for property in &self.outcome.properties {
            for parameter in &property.never_supplied {
                warn(format!("{}; the verdict may be wrong", never_supplied(property, parameter)));
            }
        }
        warnings
    }
}
