//! Output while a check runs: its progress, the prints of blocks and, for streams, each violation as it is found.

use crate::interrupt::InterruptFlag;
use crate::progress::Progress;
use invigil_check::report::{Style, ViolationRenderer};
use invigil_check::{CheckListener, Violation};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::ops::ControlFlow;

/// Shows the progress, prints and violations of a running check.
pub(crate) struct CheckProgressListener<'a> {
    interrupt: &'a InterruptFlag,
    progress: Option<Progress>,
    prints: bool,
    /// Renders violations, if they are reported as they are found.
    reporter: Option<(ViolationRenderer<'a>, Style)>,
    names: Vec<&'a str>,
    out: BufWriter<StdoutLock<'static>>,
    /// Number of reported violations.
    reported: usize,
    /// Whether standard output has been closed, as by `| head`.
    is_output_closed: bool,
}

impl<'a> CheckProgressListener<'a> {
    pub(crate) fn new(interrupt: &'a InterruptFlag, names: Vec<&'a str>) -> CheckProgressListener<'a> {
        let out = BufWriter::new(io::stdout().lock());
        CheckProgressListener {
            interrupt,
            progress: None,
            prints: false,
            reporter: None,
            names,
            out,
            reported: 0,
            is_output_closed: false,
        }
    }

    /// Shows a progress bar.
    pub(crate) fn with_progress(self, progress: Option<Progress>) -> CheckProgressListener<'a> {
        CheckProgressListener { progress, ..self }
    }

    /// Shows the prints of blocks.
    pub(crate) fn with_prints(self, prints: bool) -> CheckProgressListener<'a> {
        CheckProgressListener { prints, ..self }
    }

    /// Reports violations as they are found.
    pub(crate) fn with_violations(
        self,
        reporter: Option<(ViolationRenderer<'a>, Style)>,
    ) -> CheckProgressListener<'a> {
        CheckProgressListener { reporter, ..self }
    }

    /// Flushes the output, removes the progress bar and returns the number of reported violations.
    pub(crate) fn finish(mut self) -> usize {
        self.flush();
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
        self.reported
    }

    fn flush(&mut self) {
        self.is_output_closed |= self.out.flush().is_err();
    }
}

impl CheckListener for CheckProgressListener<'_> {
    fn prints(&self) -> bool {
        self.prints
    }

    fn print(&mut self, property: usize, line: &str) {
        if self.prints {
            let name = self.names.get(property).unwrap_or(&"");
            self.is_output_closed |= writeln!(self.out, "{name}: {line}").is_err();
        }
    }

    fn violation(&mut self, violation: &Violation) {
        let Some((renderer, style)) = &self.reporter else { return };
        // Removes the bar before text is printed; the next progress call draws it again.
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
        let gap = if self.reported > 0 { "\n" } else { "" };
        self.reported += 1;
        let text = renderer.text(self.reported, violation, style);
        self.is_output_closed |= write!(self.out, "{gap}{text}").is_err();
        self.flush();
    }

    fn progress(&mut self, events: u64, bytes: u64, violations: u64) -> ControlFlow<()> {
        self.flush();
        if let Some(progress) = &mut self.progress {
            progress.show(events, bytes, violations);
        }
        if self.interrupt.is_set() || self.is_output_closed {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
