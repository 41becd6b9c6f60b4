//! Semantic colours.

use super::Style;
use anstyle::{AnsiColor, Style as Ansi};

/// Semantic colour of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// No colour.
    Plain,
    /// A title.
    Title,
    /// Less important.
    Faint,
    /// Positive, such as an accepting state.
    Good,
    /// Negative, such as a violation.
    Bad,
    /// Undecided or suspicious.
    Undecided,
    /// Changed since the previous step.
    Changed,
}

impl Paint {
    fn ansi(self) -> Ansi {
        match self {
            Paint::Plain => Ansi::new(),
            Paint::Title => Ansi::new().bold(),
            Paint::Faint => Ansi::new().dimmed(),
            Paint::Good => AnsiColor::Green.on_default(),
            Paint::Bad => AnsiColor::Red.on_default().bold(),
            Paint::Undecided => AnsiColor::Yellow.on_default(),
            Paint::Changed => AnsiColor::Cyan.on_default().bold(),
        }
    }
}

impl Style {
    /// Colours a text, if colours are enabled.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        let ansi = paint.ansi();
        if self.colour && paint != Paint::Plain && !text.is_empty() {
            format!("{ansi}{text}{ansi:#}")
        } else {
            text.to_owned()
        }
    }
}
