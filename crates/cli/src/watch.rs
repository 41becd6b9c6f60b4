//! Listens to a check: shows how far it is, what blocks print and, of a stream, each violation as it is found.

use crate::interrupt::Interrupt;
use crate::progress::Progress;
use invigil_check::report::{Style, Violations};
use invigil_check::{Finding, Listener};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::ops::ControlFlow;

/// What is to be shown while a check goes on.
pub(crate) struct Watch<'a> {
    interrupt: &'a Interrupt,
    progress: Option<Progress>,
    prints: bool,
    /// How to tell violations, if they are told at once.
    tells: Option<(Violations<'a>, Style)>,
    names: Vec<&'a str>,
    out: BufWriter<StdoutLock<'static>>,
    told: usize,
    /// Whether nobody reads what is written any more.
    is_unheard: bool,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(interrupt: &'a Interrupt, names: Vec<&'a str>) -> Watch<'a> {
        let out = BufWriter::new(io::stdout().lock());
        Watch {
            interrupt,
            progress: None,
            prints: false,
            tells: None,
            names,
            out,
            told: 0,
            is_unheard: false,
        }
    }

    /// Shows how far the check is.
    pub(crate) fn with_progress(self, progress: Option<Progress>) -> Watch<'a> {
        Watch { progress, ..self }
    }

    /// Shows what blocks print.
    pub(crate) fn with_prints(self, prints: bool) -> Watch<'a> {
        Watch { prints, ..self }
    }

    /// Shows violations as they are found.
    pub(crate) fn with_violations(self, tells: Option<(Violations<'a>, Style)>) -> Watch<'a> {
        Watch { tells, ..self }
    }

    /// Ends what was shown; gives how many violations were told.
    pub(crate) fn finish(mut self) -> usize {
        self.flush();
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
        self.told
    }

    fn flush(&mut self) {
        self.is_unheard |= self.out.flush().is_err();
    }
}

impl Listener for Watch<'_> {
    fn prints(&self) -> bool {
        self.prints
    }

    fn print(&mut self, property: usize, line: &str) {
        if self.prints {
            let name = self.names.get(property).unwrap_or(&"");
            self.is_unheard |= writeln!(self.out, "{name}: {line}").is_err();
        }
    }

    fn violation(&mut self, finding: &Finding) {
        let Some((violations, style)) = &self.tells else { return };
        // The bar would be in the way; it comes back by itself.
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
        let gap = if self.told > 0 { "\n" } else { "" };
        self.told += 1;
        let text = violations.text(self.told, finding, style);
        self.is_unheard |= write!(self.out, "{gap}{text}").is_err();
        self.flush();
    }

    fn progress(&mut self, events: u64, bytes: u64, violations: u64) -> ControlFlow<()> {
        self.flush();
        if let Some(progress) = &mut self.progress {
            progress.show(events, bytes, violations);
        }
        if self.interrupt.is_set() || self.is_unheard {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
