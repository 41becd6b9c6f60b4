//! Where the user reads: how wide and colourful it is, and what happens when nobody reads any more.

use crate::Trouble;
use anstream::AutoStream;
use clap::ColorChoice;
use invigil_check::report::{Paint, Style};
use std::io::{self, IsTerminal, Write};

/// Text is not laid out wider than this, however wide the terminal is.
const WIDEST: usize = 140;
/// Nor narrower.
const NARROWEST: usize = 60;

/// Standard output and standard error.
pub(crate) struct Terminal {
    /// How to lay out text on standard output.
    pub(crate) style: Style,
    /// The same on standard error.
    pub(crate) errors: Style,
}

impl Terminal {
    pub(crate) fn new(colour: ColorChoice) -> Terminal {
        let wanted = |automatic: bool| match colour {
            ColorChoice::Auto => automatic,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        let width = match terminal_size::terminal_size_of(io::stdout()) {
            Some((width, _)) => usize::from(width.0).clamp(NARROWEST, WIDEST),
            None => Style::default().width,
        };
        let automatic = AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let style = Style { colour: wanted(automatic), width };
        let automatic = AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
        Terminal { style, errors: Style { colour: wanted(automatic), width } }
    }

    /// Writes to standard output. That nobody reads it any more (`| head`) is no trouble.
    pub(crate) fn print(&self, text: &str) -> Result<(), Trouble> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Trouble::new(format_args!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes lines to standard error. If that cannot be done there is nobody to tell.
    pub(crate) fn complain(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Writes an error to standard error.
    pub(crate) fn error(&self, message: &str) {
        self.complain(&format!("{} {message}", self.errors.paint(Paint::Bad, "error:")));
    }

    /// Whether a person is looking at standard error.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal()
    }
}
