//! What there is to say of the trace: how much was read, and what was left out.

use super::lacks::{lack, meant, mistaken, never_came, never_told};
use super::words::{count, grouped, printable};
use super::{Paint, Report, Style};
use crate::outcome::PropertyOutcome;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::verdict::Verdict;
use invigil_trace::End;

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
        let events = count(self.report.outcome.events(), "event");
        if self.report.outcome.stop.is_some() {
            // The rest of what was read was not checked.
            self.line(&format!("{what}: {events} up to the violation"));
            return;
        }
        let mut line = format!("{what}: {}, {events}", count(trace.lines, "line"));
        if trace.ignored > 0 {
            line += &format!(", {} that no property mentions", grouped(trace.ignored));
        }
        self.line(&line);
    }

    fn ended(&mut self) {
        let outcome = self.report.outcome;
        let events = count(outcome.events(), "event");
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
            // A formula may well hold without any change of its state.
            if property.steps + property.looked_at > 0 || property.failure.is_some() {
                continue;
            }
            let file = printable(self.report.called(at));
            // That nothing of it is there is told below.
            if !property.absent.is_empty() && property.absent.len() == self.report.events_of(at).len() {
                continue;
            }
            let is_hopeless = |of: &Automaton| of.formula.is_some() && of.transitions.is_empty();
            if self.report.automata.get(at).is_some_and(is_hopeless) {
                self.warning(&format!("no event can decide on {file} (`invigil explain` says why)"));
                continue;
            }
            if outcome.trace.events == 0 {
                let events = self.report.events_of(at);
                let is_formula = self.report.automata.get(at).is_some_and(|of| of.formula.is_some());
                let meant = if is_formula { meant(&events) } else { String::new() };
                let events = events.join(", ");
                self.warning(&format!("no event of the trace is one that {file} mentions ({events}){meant}"));
            } else {
                let reason = self.why_unmoved(at, property);
                self.warning(&format!("no event of the trace made {file} take a step; {reason}"));
            }
        }
    }

    /// What a property that took no step waits for, and what it was given instead.
    fn why_unmoved(&self, at: usize, property: &PropertyOutcome) -> String {
        let waits = match &self.report.first_events_of(at)[..] {
            [] => "it waits for no event by its name".to_owned(),
            events => format!("it first waits for {}", events.join(" or ")),
        };
        let skipped: u64 = property.missing.iter().map(|missing| missing.count).sum();
        match skipped {
            0 => waits,
            _ => format!("{waits}, and {} it mentions lacked a field (see below)", count(skipped, "event")),
        }
    }

    fn skipped(&mut self) {
        let mistakes = self.report.outcome.mistakes();
        if mistakes.count() == 0 || self.report.ended_strictly() {
            return;
        }
        self.warning(&format!("{} (`--strict` makes that an error):", mistaken(&mistakes)));
        for problem in &mistakes.told {
            self.line(&format!("  {}: {problem}", printable(&self.report.place(problem.place))));
        }
        let more = mistakes.count() - mistakes.told.len() as u64;
        if more > 0 {
            self.line(&format!("  … and {} more", grouped(more)));
        }
    }

    fn missing(&mut self) {
        // In strict mode they are told as the errors that they are.
        if self.report.outcome.strict {
            return;
        }
        for property in &self.report.outcome.properties {
            for missing in &property.missing {
                let text = lack(self.report, property, missing);
                self.warning(&format!("{text} (`--strict` makes that an error)"));
            }
        }
    }

    fn silent(&mut self) {
        for property in &self.report.outcome.properties {
            for silent in &property.silent {
                self.warning(&never_told(property, silent));
            }
            if let Some(text) = never_came(property) {
                self.warning(&text);
            }
        }
    }

    /// Where an undecided property stands that would be violated if nothing more came.
    fn waiting(&mut self) {
        for property in &self.report.outcome.properties {
            let Some(false) = property.presumably else { continue };
            let states = property.states.iter().filter(|(_, verdict, _)| *verdict == Verdict::Undecided);
            let states: Vec<&str> = states.map(|(state, ..)| state.as_str()).collect();
            self.warning(&format!(
                "{} is not decided, and would be violated if nothing more came: at the end it is in {} \
                 (`ltlf:` says that nothing does)",
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
                "{} {are} earlier than the one before in the same file: {kept}",
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
