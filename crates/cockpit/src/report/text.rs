//! The report as text.

use super::{Crash, RunReport};
use crate::render::{frame, tree};
use invigil_check::report::{
    Paint, Style, count, event_text, formula_line, grouped, path_table, reason_line, state_change_text,
    summary, time,
};
use invigil_session::{LiveViolation, ReportedFrame};
use invigil_target::Termination;

impl RunReport<'_> {
    /// Renders the violations, the crash if there was one, the summary of the properties, the checkpoints, and how
    /// the program ended.
    pub fn text(&self, style: &Style) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (at, violation) in self.report.violations.iter().enumerate() {
            parts.push(self.violation(at + 1, violation, style));
        }
        let shown = self.report.violations.len() as u64;
        let hidden = self.violation_count().saturating_sub(shown);
        if hidden > 0 {
            let more = count(hidden, if shown > 0 { "more violation" } else { "violation" });
            parts.push(format!("{} (use `--limit` to show more)\n", style.paint(Paint::Bad, &more)));
        }
        parts.extend(self.crash.map(|crash| render_crash(crash, style)));
        parts.extend(Some(self.summary(style)).filter(|summary| !summary.is_empty()));
        if !self.report.checkpoints.is_empty() {
            let title = style.paint(Paint::Title, "checkpoints");
            parts.push(format!("{title}\n{}", tree::tree(&self.report.checkpoints, None, style)));
        }
        parts.push(self.ending(style));
        parts.join("\n")
    }

    fn violation(&self, number: usize, live: &LiveViolation, style: &Style) -> String {
        let violation = &live.violation;
        let name =
            self.loaded.automata.get(violation.property).map_or("?", |property| property.name.as_str());
        let slice: Vec<String> = violation
            .slice
            .iter()
            .map(|bound| {
                let value = bound.value.as_ref().map_or("any", |value| value.text.as_str());
                format!("{} = {value}", bound.name)
            })
            .collect();
        let with = if slice.is_empty() { String::new() } else { format!(" with {}", slice.join(", ")) };
        let headline = style.paint(Paint::Bad, &format!("violation {number}:"));
        let mut out = format!("{headline} {}{with}\n", style.paint(Paint::Title, name));
        out.push_str(
            &self
                .loaded
                .automata
                .get(violation.property)
                .map_or(String::new(), |automaton| formula_line(automaton)),
        );
        if live.undone {
            out.push_str("  undone by restoring a checkpoint\n");
        }
        match &violation.event {
            Some(event) => {
                let when = event.time.map_or(String::new(), |at| format!(", time {}", time(at)));
                let index = grouped(event.index);
                out.push_str(&format!("  event  {index}{when}: {}\n", event_text(event)));
                out.push_str(&reason_line(violation));
            }
            None if violation.at_end => out.push_str("  at the end of the run\n"),
            None => out.push_str("  before any event: the property starts in a non-accepting state\n"),
        }
        out.push_str(&format!("  state  {}\n\n", state_change_text(violation, style)));
        out.push_str(&path_table(violation, style));
        if !live.stack.is_empty() {
            out.push_str(&format!("\n  stack of thread {}\n", live.thread));
            out.push_str(&render_stack(&live.stack, style));
        }
        out
    }

    /// Renders the table of properties, invoked actions and skipped events.
    fn summary(&self, style: &Style) -> String {
        let (properties, actions) = self.properties_and_actions();
        let mut out = match properties.is_empty() {
            true => String::new(),
            false => summary(&properties, self.is_complete(), style),
        };
        for action in actions {
            out.push_str(&format!("  action {} invoked {}\n", action.name, count(action.steps, "time")));
        }
        for property in &self.report.properties {
            for skipped in &property.skipped {
                out.push_str(&format!(
                    "  {} skipped {} `{}` without a value for `{}`\n",
                    property.name,
                    count(skipped.count, "event"),
                    skipped.event,
                    skipped.param
                ));
            }
        }
        out
    }

    fn ending(&self, style: &Style) -> String {
        let events = count(self.report.events, "event");
        let sentence = match &self.report.termination {
            Some(Termination::Exited(status)) => {
                format!("The program exited with status {status} after {events}.")
            }
            Some(Termination::Killed { signal, core }) => {
                let core = if *core { " (core dumped)" } else { "" };
                let sentence = format!("The program was killed by {signal}{core} after {events}.");
                style.paint(Paint::Bad, &sentence)
            }
            Some(Termination::Detached) => format!("Detached after {events}; the program continues."),
            None if self.report.has_ended => format!("The program was killed after {events}."),
            None => format!("Monitored the program for {events}."),
        };
        match self.early_end_reason {
            Some(why) => format!("{sentence} {why}\n"),
            None => format!("{sentence}\n"),
        }
    }
}

fn render_crash(crash: &Crash, style: &Style) -> String {
    let detail = if crash.detail.is_empty() { String::new() } else { format!(": {}", crash.detail) };
    let headline = style.paint(Paint::Bad, &format!("{} in thread {}", crash.signal, crash.thread));
    format!("{headline}{detail}\n{}", render_stack(&crash.stack, style))
}

fn render_stack(frames: &[ReportedFrame], style: &Style) -> String {
    let mut out = String::new();
    let shown = frame::up_to_main(frames.iter().map(|reported| &reported.frame));
    for (depth, reported) in frames.iter().enumerate().take(shown) {
        out.push_str(&format!("  #{depth} {}\n", frame::render_frame(&reported.frame, style)));
        out.push_str(&frame::render_variables(&reported.locals, "       "));
    }
    if shown < frames.len() {
        let omitted = count((frames.len() - shown) as u64, "frame");
        out.push_str(&style.paint(Paint::Faint, &format!("  … {omitted} below `main`\n")));
    }
    out
}
