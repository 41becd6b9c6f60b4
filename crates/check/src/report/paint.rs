//! Colours, by what they mean.

use super::Style;
use anstyle::{AnsiColor, Style as Ansi};

/// How something is coloured, by what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Nothing in particular.
    Plain,
    /// A title.
    Title,
    /// Less important.
    Faint,
    /// All is well.
    Good,
    /// Something is wrong.
    Bad,
    /// Something is not known, or odd.
    Open,
    /// Something is not as it was before.
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
            Paint::Open => AnsiColor::Yellow.on_default(),
            Paint::Changed => AnsiColor::Cyan.on_default().bold(),
        }
    }
}

impl Style {
    /// The text in a colour, if there are colours.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        let ansi = paint.ansi();
        if self.colour && paint != Paint::Plain && !text.is_empty() {
            format!("{ansi}{text}{ansi:#}")
        } else {
            text.to_owned()
        }
    }
}
