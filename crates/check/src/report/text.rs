//! The report for a person: the violations, a table of how the properties fared, and notes on the trace.

use super::path::path;
use super::table::{Align, Table};
use super::words::{count, grouped, printable, shorten, time};
use super::{Paint, Report, Style, notes, word};
use crate::finding::{Finding, Happening};
use invigil_monitor::verdict::Verdict;

/// The most columns that a parameter of the event takes.
const VALUE: usize = 60;

impl Report<'_> {
    /// The whole report: the violations told in full, how the properties fared, and notes on the trace.
    /// What went wrong with the check itself is told by [`errors`](Report::errors).
    pub fn text(&self, style: &Style) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (number, finding) in self.outcome.findings.iter().enumerate() {
            parts.push(self.finding(number + 1, finding, style));
        }
        let told = self.outcome.findings.len() as u64;
        let untold = self.outcome.violations().saturating_sub(told);
        if untold > 0 {
            let more = count(untold, if told > 0 { "more violation" } else { "violation" });
            parts.push(format!("{} (raise `--limit` to see more)\n", style.paint(Paint::Bad, &more)));
        }
        if !self.is_about_nothing() {
            parts.push(self.summary(style));
        }
        parts.push(notes::notes(self, style));
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }

    /// One violation, with the way to it.
    pub(super) fn finding(&self, number: usize, finding: &Finding, style: &Style) -> String {
        let property = self.outcome.properties.get(finding.property).map_or("?", |p| p.name.as_str());
        let slice: Vec<String> = finding
            .slice
            .iter()
            .map(|bound| format!("{} = {}", bound.name, bound.value.as_deref().unwrap_or("any")))
            .collect();
        let with = if slice.is_empty() { String::new() } else { format!(" with {}", slice.join(", ")) };
        let headline = style.paint(Paint::Bad, &format!("violation {number}:"));
        let mut out = format!("{headline} {}{with}\n", style.paint(Paint::Title, property));
        match &finding.event {
            Some(event) => {
                out.push_str(&format!("  at     {}\n", self.whereabouts(event)));
                out.push_str(&format!("  event  {}\n", described(event)));
            }
            None => out.push_str("  before any event: the property starts in a non-accepting state\n"),
        }
        let to = style.paint(Paint::Bad, &finding.to);
        out.push_str(&format!("  state  {} → {to}\n\n", finding.from));
        out + &path(self, finding, style)
    }

    /// Where and when an event happened.
    pub(super) fn whereabouts(&self, event: &Happening) -> String {
        let when = event.time.map_or(String::new(), |at| format!(", time {}", time(at)));
        format!("{} (event {}{when})", printable(&self.place(event.place)), grouped(event.index))
    }

    /// How each property fared.
    fn summary(&self, style: &Style) -> String {
        let mut table = Table::default();
        table.column("property", Align::Left, 8);
        table.column("verdict", Align::Left, 12);
        for title in ["slices", "live", "violations", "steps"] {
            table.column(title, Align::Right, 4);
        }
        for property in &self.outcome.properties {
            let paint = match property.verdict() {
                Verdict::Accepting => Paint::Good,
                Verdict::Undecided => Paint::Open,
                Verdict::NonAccepting | Verdict::Error => Paint::Bad,
            };
            let so_far = paint != Paint::Bad && !self.is_complete();
            let verdict = format!("{}{}", word(property), if so_far { " so far" } else { "" });
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
}

/// An event with its parameters, long values shortened.
pub(super) fn described(event: &Happening) -> String {
    let params: Vec<String> =
        event.params.iter().map(|param| format!("{}={}", param.name, shorten(&param.value, VALUE))).collect();
    format!("{}({})", event.name, params.join(", "))
}
