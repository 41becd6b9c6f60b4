//! The report as text: violations, a table of the properties, notes on the trace.

use super::format::{count, grouped};
use super::table::{Align, Table};
use super::{Paint, Report, Style, notes, presumption, verdict_word};
use crate::result::PropertyResult;
use invigil_monitor::verdict::Verdict;

impl Report<'_> {
    /// Renders the whole report. Errors of the check itself are rendered by [`errors`](Report::errors).
    pub fn text(&self, style: &Style) -> String {
        self.text_after(0, style)
    }

    /// Renders the report without the first `printed` violations, which were printed during the check.
    pub fn text_after(&self, printed: usize, style: &Style) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (number, violation) in self.outcome.violations.iter().enumerate().skip(printed) {
            parts.push(self.violation_renderer().text(number + 1, violation, style));
        }
        let shown = self.outcome.violations.len() as u64;
        let omitted = self.outcome.violation_count().saturating_sub(shown);
        if omitted > 0 {
            let more = count(omitted, if shown > 0 { "more violation" } else { "violation" });
            parts.push(format!("{} (use `--limit` to show more)\n", style.paint(Paint::Bad, &more)));
        }
        if !self.is_not_a_trace() {
            parts.push(summary(&self.outcome.properties, self.is_complete(), style));
        }
        parts.push(notes::notes(self, style));
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }
}

/// Renders the table of properties. `complete` is false if the run was cut short.
pub fn summary(properties: &[PropertyResult], complete: bool, style: &Style) -> String {
    let mut table = Table::default();
    table.column("property", Align::Left, 8);
    table.column("verdict", Align::Left, 12);
    for title in ["slices", "live", "violations", "steps"] {
        table.column(title, Align::Right, 4);
    }
    for property in properties {
        let paint = match property.verdict() {
            Verdict::Accepting => Paint::Good,
            Verdict::Undecided => Paint::Undecided,
            Verdict::NonAccepting | Verdict::Error => Paint::Bad,
        };
        let so_far = paint != Paint::Bad && !complete;
        let verdict = match property.presumably {
            Some(holds) => format!("presumably {}", presumption(holds)),
            None => verdict_word(property).to_owned(),
        };
        let verdict = verdict + if so_far { " so far" } else { "" };
        let cell = |number: u64, paint| (grouped(number), paint);
        let violations_paint = if property.violations > 0 { Paint::Bad } else { Paint::Plain };
        table.row(vec![
            (property.name.clone(), Paint::Title),
            (verdict, paint),
            cell(property.slices, Paint::Plain),
            cell(property.live, Paint::Plain),
            cell(property.violations, violations_paint),
            cell(property.steps, Paint::Plain),
        ]);
    }
    table.render(style)
}
