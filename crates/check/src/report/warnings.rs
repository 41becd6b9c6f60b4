//! What must not go unsaid even where nothing is said: why a verdict may be wrong, in one line each.

use super::lacks::{lack, mistaken, never_told};
use super::words::printable;
use super::{Paint, Report, Style};

impl Report<'_> {
    /// Short warnings for those who see nothing else of the report but the exit status.
    pub fn warnings(&self, style: &Style) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut warn = |text: String| {
            warnings.push(format!("{} {text}", style.paint(Paint::Open, "warning:")));
        };
        let traces = printable(&self.outcome.inputs.join(", "));
        if self.is_of_something_else() {
            warn(format!("{traces}: no event is one that a property mentions"));
        }
        let mistakes = self.outcome.mistakes();
        if mistakes.count() > 0 && !self.is_about_nothing() && !self.ended_strictly() {
            let first = mistakes.told.first().map_or(String::new(), |problem| {
                format!(", first {}: {}", printable(&self.place(problem.place)), problem.message)
            });
            warn(format!("{}{first}; the verdict may be wrong", mistaken(&mistakes)));
        }
        if !self.outcome.strict {
            for property in &self.outcome.properties {
                for missing in &property.missing {
                    warn(format!("{}; the verdict may be wrong", lack(self, property, missing)));
                }
            }
        }
        for property in &self.outcome.properties {
            for silent in &property.silent {
                warn(format!("{}; the verdict may be wrong", never_told(property, silent)));
            }
        }
        warnings
    }
}
