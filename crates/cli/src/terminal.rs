//! Standard output and standard error: width, colours, and closed pipes.

use crate::CliError;
use anstream::AutoStream;
use clap::ColorChoice;
use invigil_check::report::{Paint, Style};
use std::io::{self, IsTerminal, Write};

/// Maximum width of text, even on a wider terminal.
const MAX_WIDTH: usize = 140;
/// Minimum width of text.
const MIN_WIDTH: usize = 60;

/// Standard output and standard error.
pub(crate) struct Terminal {
    /// Layout of text on standard output.
    pub(crate) style: Style,
    /// Layout of text on standard error.
    pub(crate) errors: Style,
}

impl Terminal {
    pub(crate) fn new(colour: ColorChoice) -> Terminal {
        let has_colour = |automatic: bool| match colour {
            ColorChoice::Auto => automatic,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        let width = match terminal_size::terminal_size_of(io::stdout()) {
            Some((width, _)) => usize::from(width.0).clamp(MIN_WIDTH, MAX_WIDTH),
            None => Style::default().width,
        };
        let automatic = AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let style = Style { colour: has_colour(automatic), width };
        let automatic = AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
        Terminal { style, errors: Style { colour: has_colour(automatic), width } }
    }

    /// Writes to standard output. A closed pipe (`| head`) is not an error.
    pub(crate) fn print(&self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CliError::new(format_args!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes lines to standard error. Errors are ignored because they cannot be reported anywhere.
    pub(crate) fn eprint(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Writes an error to standard error.
    pub(crate) fn error(&self, message: &str) {
        self.eprint(&format!("{} {message}", self.errors.paint(Paint::Bad, "error:")));
    }

    /// Whether standard error is a terminal.
    pub(crate) fn is_stderr_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }
}
