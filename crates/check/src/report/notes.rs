//! What there is to say of the trace: how much was read, and what was left out.

use super::words::{count, grouped, printable};
use super::{Paint, Report, Style};
use invigil_trace::{End, TraceError};

/// The notes, one to a line, ended.
pub(super) fn notes(report: &Report<'_>, style: &Style) -> String {
    let mut notes = Notes { report, style, out: String::new() };
    if !report.is_about_nothing() {
        notes.read();
        notes.ended();
        notes.unmoved();
    }
    notes.skipped();
    notes.missing();
    notes.out_of_order();
    notes.commands();
    notes.out
}

struct Notes<'a> {
    report: &'a Report<'a>,
    style: &'a Style,
    out: String,
}

impl Notes<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A line that should not be overlooked.
    fn warning(&mut self, text: &str) {
        let mark = self.style.paint(Paint::Open, "note:");
        self.line(&format!("{mark} {text}"));
    }

    fn read(&mut self) {
        let trace = &self.report.outcome.trace;
        let inputs = &self.report.outcome.inputs;
        let what = match &inputs[..] {
            [one] => printable(one),
            several => count(several.len() as u64, "trace"),
        };
        let mut line = format!("{what}: {}, {}", count(trace.lines, "line"), count(trace.events, "event"));
        if trace.ignored > 0 {
            line += &format!(", {} that no property mentions", grouped(trace.ignored));
        }
        self.line(&line);
    }

    fn ended(&mut self) {
        let outcome = self.report.outcome;
        let events = count(outcome.trace.events, "event");
        if self.report.interrupted {
            self.warning(&format!("stopped by the user after {events}: the verdicts are about those only"));
            return;
        }
        match outcome.trace.end {
            End::Finished => {}
            End::Stopped if outcome.violations() > 0 && !outcome.is_incomplete() => {
                self.warning("stopped at the first violation: what comes after it was not checked");
            }
            End::Stopped => self.warning("stopped, because no property could go on"),
            End::Failed(_) => {
                self.warning(&format!(
                    "the trace could not be read to its end: the verdicts are about {events}"
                ));
            }
        }
    }

    /// A property that nothing happened to was probably given the wrong trace.
    fn unmoved(&mut self) {
        let outcome = self.report.outcome;
        if outcome.trace.events + outcome.trace.ignored == 0 {
            if matches!(outcome.trace.end, End::Finished) {
                self.warning("there is no event in the trace");
            }
            return;
        }
        for (at, property) in outcome.properties.iter().enumerate() {
            if property.steps > 0 || property.failure.is_some() || !property.missing.is_empty() {
                continue;
            }
            let file = printable(self.report.file(at));
            let events = self.report.events_of(at).join(", ");
            if outcome.trace.events == 0 {
                self.warning(&format!("no event of the trace is one that {file} mentions ({events})"));
            } else {
                self.warning(&format!(
                    "no event of the trace made {file} take a step; it waits for {events}"
                ));
            }
        }
    }

    fn skipped(&mut self) {
        let problems = &self.report.outcome.trace.problems;
        // The line that ended a strict reading is told as the error that it is.
        let is_error = matches!(self.report.outcome.trace.end, End::Failed(TraceError::Strict { .. }));
        if problems.is_empty() || is_error {
            return;
        }
        let were = if problems.count() == 1 { "was" } else { "were" };
        self.warning(&format!(
            "{} {were} skipped (`--strict` makes that an error):",
            count(problems.count(), "line")
        ));
        for problem in problems.first() {
            self.line(&format!("  {}: {problem}", printable(&self.report.place(problem.place))));
        }
        let more = problems.count() - problems.first().len() as u64;
        if more > 0 {
            self.line(&format!("  … and {} more", grouped(more)));
        }
    }

    fn missing(&mut self) {
        for property in &self.report.outcome.properties {
            for missing in &property.missing {
                let (lack, were) =
                    if missing.count == 1 { ("lacks", "it was") } else { ("lack", "they were") };
                let first = printable(&self.report.place(missing.first));
                self.warning(&format!(
                    "{} `{}` {lack} `{}`, which {} reads, first at {first}: {were} skipped",
                    count(missing.count, "event"),
                    missing.event,
                    missing.param,
                    property.name,
                ));
            }
        }
    }

    fn out_of_order(&mut self) {
        let outcome = self.report.outcome;
        let late = outcome.trace.out_of_order;
        if late > 0 && outcome.inputs.len() > 1 {
            let are = if late == 1 { "is" } else { "are" };
            self.warning(&format!(
                "{} {are} earlier than the one before in the same file: each file's own order was kept",
                count(late, "event"),
            ));
        }
    }

    fn commands(&mut self) {
        for property in &self.report.outcome.properties {
            if property.commands > 0 {
                self.warning(&format!(
                    "{} gave {}; a recorded trace has no debugger to take them",
                    property.name,
                    count(property.commands, "debugger command"),
                ));
            }
        }
    }
}
