//! What kept a check from giving its answer: a block that failed, a trace that could not be read.

use super::lacks::lack;
use super::violations::described;
use super::words::{count, grouped, printable};
use super::{Paint, Report, Style};
use invigil_expr::diag::Diagnostic;
use invigil_lang::report::render;
use invigil_trace::End;

impl Report<'_> {
    /// What went wrong, each with its place and what to do; nothing if nothing did.
    pub fn errors(&self, style: &Style) -> Vec<String> {
        let mut errors = Vec::new();
        for property in &self.outcome.properties {
            let Some((failure, event)) = &property.failure else { continue };
            let when = match event {
                Some(event) => format!("at {}: {}", self.violations().whereabouts(event), described(event)),
                None => "before any event".to_owned(),
            };
            let message = format!("{} in {}", failure.message, property.name);
            errors.push(match failure.span {
                Some(span) => {
                    let diagnostic = Diagnostic::error(span, message)
                        .label("here")
                        .help(format!("it happened {when}; the property was not followed further"));
                    render(self.sources, &[diagnostic], style.colour)
                }
                None => format!("{} {message}, {when}", style.paint(Paint::Bad, "error:")),
            });
        }
        let trace = &self.outcome.trace;
        if matches!(trace.end, End::Finished) && self.is_about_nothing() {
            errors.push(format!("{} {}", style.paint(Paint::Bad, "error:"), self.no_trace()));
        }
        if self.outcome.strict {
            for property in &self.outcome.properties {
                for missing in &property.missing {
                    let text = lack(self, property, missing);
                    errors.push(format!(
                        "{} {text}, which `--strict` forbids",
                        style.paint(Paint::Bad, "error:")
                    ));
                }
            }
        }
        // A user who broke off knows why the trace ended.
        if let End::Failed(error) = &trace.end
            && !self.interrupted
        {
            errors.push(format!("{} {error}", style.paint(Paint::Bad, "error:")));
        }
        errors
    }

    /// That there is no verdict, because this cannot be a trace.
    fn no_trace(&self) -> String {
        let trace = &self.outcome.trace;
        let names = printable(&self.outcome.inputs.join(", "));
        let (skipped, lines) = (trace.problems.skipped(), trace.problems.skipped() + trace.ignored);
        let unread = match trace.ignored {
            0 => format!("none of {} could be read", count(lines, "line")),
            _ => format!("{} of {} could not be read", grouped(skipped), count(lines, "line")),
        };
        let mut formats: Vec<String> = trace.formats.iter().map(ToString::to_string).collect();
        formats.dedup();
        format!(
            "{names}: this does not look like a trace, so there is no verdict: as the format `{}`, {unread}, and no \
             event is one that a property mentions; `--format` chooses another, `invigil check --help` shows them",
            formats.join("`, `"),
        )
    }
}
