//! `invigil check`: properties and traces in, a report out.

use crate::args::{Check, FormatChoice};
use crate::files::{self, is_standard};
use crate::inputs::Inputs;
use crate::interrupt::Interrupt;
use crate::load::load;
use crate::progress::Progress;
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, UNUSABLE, VIOLATED};
use invigil_check::report::Report;
use invigil_check::{Listener, Options, check};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(args: &Check, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let machine_readable = is_stdout_taken(args)?;
    let loaded = load(&args.properties, &args.functions, terminal.errors.colour)?;
    if !loaded.warnings.is_empty() && !args.quiet {
        terminal.complain(&(loaded.warnings(terminal.errors.colour) + "\n"));
    }
    let interrupt = Interrupt::listen();
    let inputs = Inputs::new(&args.traces, interrupt.clone())?;
    if inputs.are_typed() && !args.quiet {
        terminal.complain("reading events from the terminal, one to a line; Ctrl-D ends them");
    }
    let shows_progress = terminal.is_watched() && !args.quiet && !args.prints && !inputs.are_typed();
    let mut watch = Watch {
        interrupt: &interrupt,
        progress: shows_progress.then(|| Progress::new(inputs.size())),
        prints: args.prints.then(|| BufWriter::new(io::stdout().lock())),
        names: loaded.automata.iter().map(|automaton| automaton.name.as_str()).collect(),
        is_unheard: false,
    };
    let options = options(args, inputs.can_be_read_again());
    let outcome = check(&loaded.automata, &loaded.catalog, || inputs.open(), &options, &mut watch);
    watch.finish();
    drop(watch);
    if interrupt.is_set() && terminal.is_watched() {
        // The terminal shows `^C` at the beginning of the line.
        terminal.complain("");
    }

    let report = Report {
        outcome: &outcome,
        automata: &loaded.automata,
        catalog: &loaded.catalog,
        sources: &loaded.sources,
        interrupted: interrupt.is_set(),
    };
    if !args.quiet && !machine_readable {
        terminal.print(&report.text(&terminal.style))?;
    }
    let errors = report.errors(&terminal.errors);
    if !errors.is_empty() {
        terminal.complain(&errors.join("\n\n"));
    }
    if args.json {
        terminal.print(&report.json())?;
    }
    if let Some(path) = &args.junit {
        files::write(path, &report.junit(), terminal)?;
    }
    if let Some(path) = &args.sarif {
        files::write(path, &report.sarif(), terminal)?;
    }
    Ok(ExitCode::from(status(&report)))
}

/// A violation is certain, whatever else went wrong; that all holds is not.
fn status(report: &Report<'_>) -> u8 {
    if report.outcome.violations() > 0 {
        VIOLATED
    } else if report.interrupted {
        INTERRUPTED
    } else if report.outcome.is_incomplete() || report.is_about_nothing() {
        UNUSABLE
    } else {
        0
    }
}

/// Whether a document for a program goes to standard output; there can be one.
fn is_stdout_taken(args: &Check) -> Result<bool, Trouble> {
    let goes_there = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard);
    let documents = [args.json, goes_there(&args.junit), goes_there(&args.sarif)];
    let count = documents.iter().filter(|goes| **goes).count();
    if count > 1 || (count == 1 && args.prints) {
        return Err(Trouble::new(
            "two things are to go to standard output; name files for `--junit` and `--sarif`",
        ));
    }
    Ok(count == 1)
}

fn options(args: &Check, again: bool) -> Options {
    let mut trace = invigil_trace::Options {
        format: match args.format {
            FormatChoice::Auto => None,
            FormatChoice::Always(format) => Some(format),
        },
        strict: args.strict,
        max_line: args.max_line,
        ..invigil_trace::Options::default()
    };
    if let Some(threads) = args.threads {
        trace.threads = threads.into();
    }
    Options { first: args.first, limit: args.limit, again, trace }
}

/// Listens to a check: shows progress and what blocks print, and stops it when the user wants to.
struct Watch<'a> {
    interrupt: &'a Interrupt,
    progress: Option<Progress>,
    prints: Option<BufWriter<StdoutLock<'static>>>,
    names: Vec<&'a str>,
    /// Whether nobody reads what is printed any more.
    is_unheard: bool,
}

impl Watch<'_> {
    fn flush(&mut self) {
        if let Some(out) = &mut self.prints {
            self.is_unheard |= out.flush().is_err();
        }
    }

    fn finish(&mut self) {
        self.flush();
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
    }
}

impl Listener for Watch<'_> {
    fn prints(&self) -> bool {
        self.prints.is_some()
    }

    fn print(&mut self, property: usize, line: &str) {
        if let Some(out) = &mut self.prints {
            let name = self.names.get(property).unwrap_or(&"");
            self.is_unheard |= writeln!(out, "{name}: {line}").is_err();
        }
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
