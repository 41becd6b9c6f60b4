//! Notes on the trace: what was read, what was skipped, and why a verdict may be misleading.

use super::format::{count, grouped, printable};
use super::missing_data::{absent_events, malformed_count, never_supplied, skipped_events, suggestion};
use super::{Paint, Report, Style};
use crate::result::PropertyResult;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::verdict::Verdict;
use invigil_trace::ReadEnd;

/// Renders the notes, one per line.
pub(super) fn notes(report: &Report<'_>, style: &Style) -> String {
    let mut notes = Notes { report, style, out: String::new() };
    if !report.is_not_a_trace() {
        notes.read();
        notes.ended();
        notes.without_steps();
    }
    notes.skipped();
    notes.missing();
    notes.silent();
    notes.waiting();
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

    /// Adds a note with a highlighted prefix.
    fn warning(&mut self, text: &str) {
        let mark = self.style.paint(Paint::Undecided, "note:");
        self.line(&format!("{mark} {text}"));
    }

    fn read(&mut self) {
        let trace = &self.report.outcome.trace;
        let inputs = &self.report.outcome.inputs;
        let what = match &inputs[..] {
            [one] => printable(one),
            several => count(several.len() as u64, "trace"),
        };
        let events = count(self.report.outcome.events(), "event");
        if self.report.outcome.stop.is_some() {
            // Later events of the last block were read but not checked.
            self.line(&format!("{what}: {events} up to the violation"));
            return;
        }
        let mut line = format!("{what}: {}, {events}", count(trace.lines, "line"));
        if trace.ignored > 0 {
            line += &format!(", {} not mentioned by any property", grouped(trace.ignored));
        }
        self.line(&line);
    }

    fn ended(&mut self) {
        let outcome = self.report.outcome;
        let events = count(outcome.events(), "event");
        if self.report.interrupted {
            self.warning(&format!("interrupted by the user: the verdicts cover only {events}"));
            return;
        }
        match outcome.trace.end {
            ReadEnd::Finished => {}
            ReadEnd::Stopped if outcome.violation_count() > 0 && !outcome.is_incomplete() => {
                self.warning("stopped at the first violation: later events were not checked");
            }
            ReadEnd::Stopped => self.warning("stopped, because all properties failed"),
            ReadEnd::Failed(_) => {
                self.warning(&format!(
                    "the trace could not be read to its end: the verdicts cover only {events}"
                ));
            }
        }
    }

    /// Warns about properties that took no step: they were probably given the wrong trace.
    fn without_steps(&mut self) {
        let outcome = self.report.outcome;
        if outcome.trace.events + outcome.trace.ignored == 0 {
            if matches!(outcome.trace.end, ReadEnd::Finished) {
                self.warning("the trace contains no events");
            }
            return;
        }
        for (at, property) in outcome.properties.iter().enumerate() {
            // A formula may hold without any change of its state.
            if property.steps + property.unhandled > 0 || property.failure.is_some() {
                continue;
            }
            let file = printable(self.report.display_name(at));
            // If all its events are absent, a later note reports that.
            if !property.absent.is_empty() && property.absent.len() == self.report.events_of(at).len() {
                continue;
            }
            let has_no_transition = |of: &Automaton| of.formula.is_some() && of.transitions.is_empty();
            if self.report.automata.get(at).is_some_and(has_no_transition) {
                self.warning(&format!("no event can decide {file} (see `invigil explain`)"));
                continue;
            }
            if outcome.trace.events == 0 {
                let events = self.report.events_of(at);
                let is_formula = self.report.automata.get(at).is_some_and(|of| of.formula.is_some());
                let suggestion = if is_formula { suggestion(&events) } else { String::new() };
                let events = events.join(", ");
                self.warning(&format!("no event of the trace is mentioned by {file} ({events}){suggestion}"));
            } else {
                let reason = self.why_without_steps(at, property);
                self.warning(&format!("{file} took no step; {reason}"));
            }
        }
    }

    /// Describes the events for which a property without steps waits, and those that were skipped.
    fn why_without_steps(&self, at: usize, property: &PropertyResult) -> String {
        let waits = match &self.report.first_events_of(at)[..] {
            [] => "it waits for no specific event".to_owned(),
            events => format!("it waits for {} first", events.join(" or ")),
        };
        let skipped: u64 = property.skipped.iter().map(|skipped| skipped.count).sum();
        match skipped {
            0 => waits,
            _ => format!("{waits}, and {} had no value for a parameter (see below)", count(skipped, "event")),
        }
    }

    fn skipped(&mut self) {
        let malformed = self.report.outcome.malformed_lines();
        if malformed.count() == 0 || self.report.ended_by_strict_error() {
            return;
        }
        self.warning(&format!("{} (an error with `--strict`):", malformed_count(&malformed)));
        for error in &malformed.first {
            self.line(&format!("  {}: {error}", printable(&self.report.position_text(error.position))));
        }
        let more = malformed.count() - malformed.first.len() as u64;
        if more > 0 {
            self.line(&format!("  … and {} more", grouped(more)));
        }
    }

    fn missing(&mut self) {
        // In strict mode they are reported as errors.
        if self.report.outcome.strict {
            return;
        }
        for property in &self.report.outcome.properties {
            for skipped in &property.skipped {
                let text = skipped_events(self.report, property, skipped);
                self.warning(&format!("{text} (an error with `--strict`)"));
            }
        }
    }

    fn silent(&mut self) {
        for property in &self.report.outcome.properties {
            for parameter in &property.never_supplied {
                self.warning(&never_supplied(property, parameter));
            }
            if let Some(text) = absent_events(property) {
                self.warning(&text);
            }
        }
    }

    /// Warns about undecided properties that would be violated if the trace ended here.
    fn waiting(&mut self) {
        for property in &self.report.outcome.properties {
            let Some(false) = property.presumably else { continue };
            let states = property.states.iter().filter(|(_, verdict, _)| *verdict == Verdict::Undecided);
            let states: Vec<&str> = states.map(|(state, ..)| state.as_str()).collect();
            self.warning(&format!(
                "{} is undecided; it would be violated if the trace ended here (state {}). Use `ltlf:` if the trace is \
                 complete",
                printable(&property.name),
                states.join(", "),
            ));
        }
    }

    fn out_of_order(&mut self) {
        let outcome = self.report.outcome;
        let late = outcome.trace.out_of_order;
        if late > 0 && outcome.stop.is_none() {
            let are = if late == 1 { "is" } else { "are" };
            let kept = match outcome.inputs.len() {
                1 => "the order of the lines was kept",
                _ => "each file's own order was kept",
            };
            self.warning(&format!(
                "{} {are} earlier than the preceding event in the same file: {kept}",
                count(late, "event"),
            ));
        }
    }

    fn commands(&mut self) {
        for property in &self.report.outcome.properties {
            if property.commands > 0 {
                self.warning(&format!(
                    "{} issued {}, ignored because a trace has no debugger",
                    property.name,
                    count(property.commands, "debugger command"),
                ));
            }
        }
    }
}
