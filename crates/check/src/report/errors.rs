//! What kept a check from giving its answer: a block that failed, a trace that could not be read.

use super::text::described;
use super::words::printable;
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
                Some(event) => format!("at {}: {}", self.whereabouts(event), described(event)),
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
            let names = self.outcome.inputs.join(", ");
            errors.push(format!(
                "{} {}: no line is an event, so there is no verdict; `invigil check --help` shows the formats",
                style.paint(Paint::Bad, "error:"),
                printable(&names)
            ));
        }
        // A user who broke off knows why the trace ended.
        if let End::Failed(error) = &trace.end
            && !self.interrupted
        {
            errors.push(format!("{} {error}", style.paint(Paint::Bad, "error:")));
        }
        errors
    }
}
