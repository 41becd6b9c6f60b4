//! The report for a person: the violations, a table of how the properties fared, and notes on the trace.

use super::table::{Align, Table};
use super::words::{count, grouped};
use super::{Paint, Report, Style, notes, presumption, word};
use crate::outcome::PropertyOutcome;
use invigil_monitor::verdict::Verdict;

impl Report<'_> {
    /// The whole report: the violations told in full, how the properties fared, and notes on the trace.
    /// What went wrong with the check itself is told by [`errors`](Report::errors).
    pub fn text(&self, style: &Style) -> String {
        self.rest(0, style)
    }

    /// The same after the first `already` violations were told while the check went on.
    pub fn rest(&self, already: usize, style: &Style) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (number, finding) in self.outcome.findings.iter().enumerate().skip(already) {
            parts.push(self.violations().text(number + 1, finding, style));
        }
        let told = self.outcome.findings.len() as u64;
        let untold = self.outcome.violations().saturating_sub(told);
        if untold > 0 {
            let more = count(untold, if told > 0 { "more violation" } else { "violation" });
            parts.push(format!("{} (raise `--limit` to see more)\n", style.paint(Paint::Bad, &more)));
        }
        if !self.is_about_nothing() {
            parts.push(summary(&self.outcome.properties, self.is_complete(), style));
        }
        parts.push(notes::notes(self, style));
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }
}

/// A table of how each property fared, in a run that is `complete` or was broken off.
pub fn summary(properties: &[PropertyOutcome], complete: bool, style: &Style) -> String {
    let mut table = Table::default();
    table.column("property", Align::Left, 8);
    table.column("verdict", Align::Left, 12);
    for title in ["slices", "live", "violations", "steps"] {
        table.column(title, Align::Right, 4);
    }
    for property in properties {
        let paint = match property.verdict() {
            Verdict::Accepting => Paint::Good,
            Verdict::Undecided => Paint::Open,
            Verdict::NonAccepting | Verdict::Error => Paint::Bad,
        };
        let so_far = paint != Paint::Bad && !complete;
        let verdict = match property.presumably {
            Some(holds) => format!("presumably {}", presumption(holds)),
            None => word(property).to_owned(),
        };
        let verdict = verdict + if so_far { " so far" } else { "" };
        let number = |number: u64, paint| (grouped(number), paint);
        let violations = if property.violations > 0 { Paint::Bad } else { Paint::Plain };
        table.row(vec![
            (property.name.clone(), Paint::Title),
            (verdict, paint),
            number(property.slices, Paint::Plain),
            number(property.live, Paint::Plain),
            number(property.violations, violations),
            number(property.steps, Paint::Plain),
        ]);
    }
    table.render(style)
}
