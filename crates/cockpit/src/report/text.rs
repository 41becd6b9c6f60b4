//! The report for a person.

use super::{Crash, Told};
use crate::say::{frame, tree};
use invigil_check::report::{
    Paint, Style, change, count, described, formula, grouped, reason, summary, time, way,
};
use invigil_session::subject::Ending;
use invigil_session::{ReportedFrame, Violation};

impl Told<'_> {
    /// The violations in full, where the program crashed if it did, how the properties fared, and how the
    /// program ended.
    pub fn text(&self, style: &Style) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (at, violation) in self.report.violations.iter().enumerate() {
            parts.push(self.violation(at + 1, violation, style));
        }
        let told = self.report.violations.len() as u64;
        let untold = self.violations().saturating_sub(told);
        if untold > 0 {
            let more = count(untold, if told > 0 { "more violation" } else { "violation" });
            parts.push(format!("{} (raise `--limit` to see more)\n", style.paint(Paint::Bad, &more)));
        }
        parts.extend(self.crash.map(|crash| crashed(crash, style)));
        parts.extend(Some(self.summary(style)).filter(|summary| !summary.is_empty()));
        if !self.report.checkpoints.is_empty() {
            let title = style.paint(Paint::Title, "checkpoints");
            parts.push(format!("{title}\n{}", tree::tree(&self.report.checkpoints, None, style)));
        }
        parts.push(self.ending(style));
        parts.join("\n")
    }

    fn violation(&self, number: usize, violation: &Violation, style: &Style) -> String {
        let finding = &violation.finding;
        let name = self.loaded.automata.get(finding.property).map_or("?", |property| property.name.as_str());
        let slice: Vec<String> = finding
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
        out.push_str(&self.loaded.automata.get(finding.property).map_or(String::new(), |of| formula(of)));
        if violation.undone {
            out.push_str("  undone by a restore since\n");
        }
        match &finding.event {
            Some(event) => {
                let when = event.time.map_or(String::new(), |at| format!(", time {}", time(at)));
                let index = grouped(event.index);
                out.push_str(&format!("  event  {index}{when}: {}\n", described(event)));
                out.push_str(&reason(finding));
            }
            None if finding.at_end => out.push_str("  at the end of the run\n"),
            None => out.push_str("  before any event: the property starts in a non-accepting state\n"),
        }
        out.push_str(&format!("  state  {}\n\n", change(finding, style)));
        out.push_str(&way(finding, style));
        if !violation.stack.is_empty() {
            out.push_str(&format!("\n  stack of thread {}\n", violation.thread));
            out.push_str(&stack(&violation.stack, style));
        }
        out
    }

    /// How each property fared.
    fn summary(&self, style: &Style) -> String {
        let (properties, actions) = self.parted();
        let mut out = match properties.is_empty() {
            true => String::new(),
            false => summary(&properties, self.is_complete(), style),
        };
        for action in actions {
            out.push_str(&format!("  action {} invoked {}\n", action.name, count(action.steps, "time")));
        }
        for property in &self.report.properties {
            for missing in &property.missing {
                out.push_str(&format!(
                    "  {} skipped {} of `{}` that lacked `{}`\n",
                    property.name,
                    count(missing.count, "event"),
                    missing.event,
                    missing.param
                ));
            }
        }
        out
    }

    fn ending(&self, style: &Style) -> String {
        let events = count(self.report.events, "event");
        let words = match &self.report.ending {
            Some(Ending::Exited(status)) => {
                format!("The program exited with status {status}, after {events}.")
            }
            Some(killed @ Ending::Killed { .. }) => {
                let words = format!("The program died: {killed}, after {events}.");
                style.paint(Paint::Bad, &words)
            }
            Some(Ending::Detached) => format!("The program runs on without us, after {events}."),
            None if self.report.is_over => format!("The program was ended by us, after {events}."),
            None => format!("The program was watched for {events}."),
        };
        match self.cut_short {
            Some(why) => format!("{words} {why}\n"),
            None => format!("{words}\n"),
        }
    }
}

fn crashed(crash: &Crash, style: &Style) -> String {
    let detail = if crash.detail.is_empty() { String::new() } else { format!(": {}", crash.detail) };
    let headline = style.paint(Paint::Bad, &format!("{} in thread {}", crash.signal, crash.thread));
    format!("{headline}{detail}\n{}", stack(&crash.stack, style))
}

fn stack(frames: &[ReportedFrame], style: &Style) -> String {
    let mut out = String::new();
    let told = frame::up_to_main(frames.iter().map(|reported| &reported.frame));
    for (depth, reported) in frames.iter().enumerate().take(told) {
        out.push_str(&format!("  #{depth} {}\n", frame::frame(&reported.frame, style)));
        out.push_str(&frame::variables(&reported.locals, "       "));
    }
    if told < frames.len() {
        let around = count((frames.len() - told) as u64, "frame");
        out.push_str(&style.paint(Paint::Faint, &format!("  … {around} around `main`\n")));
    }
    out
}
