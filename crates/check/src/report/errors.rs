//! Errors of a check: faults in blocks, unreadable traces.

use super::format::{count, grouped, printable};
use super::missing_data::skipped_events;
use super::violations::event_text;
use super::{Paint, Report, Style};
use invigil_expr::diag::Diagnostic;
use invigil_lang::report::render;
use invigil_trace::ReadEnd;

impl Report<'_> {
    /// Renders the errors, each with position and help.
    pub fn errors(&self, style: &Style) -> Vec<String> {
        let mut errors = Vec::new();
        for property in &self.outcome.properties {
            let Some((failure, event)) = &property.failure else { continue };
            let when = match event {
                Some(event) => {
                    format!(
                        "at {}: {}",
                        self.violation_renderer().position_and_time(event),
                        event_text(event)
                    )
                }
                None => "before any event".to_owned(),
            };
            let message = format!("{} in {}", failure.message, property.name);
            errors.push(match failure.span {
                Some(span) => {
                    let diagnostic = Diagnostic::error(span, message)
                        .label("here")
                        .help(format!("raised {when}; the property is not checked after this event"));
                    render(self.sources, &[diagnostic], style.colour)
                }
                None => format!("{} {message}, {when}", style.paint(Paint::Bad, "error:")),
            });
        }
        let trace = &self.outcome.trace;
        if matches!(trace.end, ReadEnd::Finished) && self.is_not_a_trace() {
            errors.push(format!("{} {}", style.paint(Paint::Bad, "error:"), self.no_trace()));
        }
        if self.outcome.strict {
            for property in &self.outcome.properties {
                for skipped in &property.skipped {
                    let text = skipped_events(self, property, skipped);
                    errors.push(format!(
                        "{} {text} (not allowed with `--strict`)",
                        style.paint(Paint::Bad, "error:")
                    ));
                }
            }
        }
        // After an interrupt by the user, the end of the trace needs no explanation.
        if let ReadEnd::Failed(error) = &trace.end
            && !self.interrupted
        {
            errors.push(format!("{} {error}", style.paint(Paint::Bad, "error:")));
        }
        errors
    }

    /// The message that the input is not a trace, so that there is no verdict.
    fn no_trace(&self) -> String {
        let trace = &self.outcome.trace;
        let names = printable(&self.outcome.inputs.join(", "));
        let (skipped, lines) = (trace.line_errors.skipped(), trace.line_errors.skipped() + trace.ignored);
        let unread = match trace.ignored {
            0 => format!("none of {} could be parsed", count(lines, "line")),
            _ => format!("{} of {} could not be parsed", grouped(skipped), count(lines, "line")),
        };
        let mut formats: Vec<String> = trace.formats.iter().map(ToString::to_string).collect();
        formats.dedup();
        format!(
            "{names}: not a trace, so there is no verdict: read as format `{}`, {unread}, and no event is mentioned by a \
             property; select another format with `--format` (see `invigil check --help`)",
            formats.join("`, `"),
        )
    }
}
