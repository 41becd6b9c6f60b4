//! `invigil check`: properties and traces in, a report out.

use crate::args::{Check, FormatChoice};
use crate::files::{self, is_standard};
use crate::inputs::Inputs;
use crate::interrupt::Interrupt;
use crate::load::load;
use crate::progress::Progress;
use crate::terminal::Terminal;
use crate::validate;
use crate::watch::Watch;
use crate::{INTERRUPTED, Trouble, UNUSABLE, VIOLATED};
use invigil_check::report::{Report, Violations};
use invigil_check::{Options, check};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(args: &Check, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    if let Some(model) = &args.validate.model {
        return validate::run(model, args, reading(args), terminal);
    }
    let machine_readable = is_stdout_taken(args)?;
    check_stdin(args)?;
    let loaded = load(&args.properties, &args.functions, terminal.errors.colour)?;
    if !loaded.warnings.is_empty() && !args.quiet {
        terminal.complain(&(loaded.warnings(terminal.errors.colour) + "\n"));
    }
    let interrupt = Interrupt::listen();
    let inputs = Inputs::new(&args.traces, interrupt.clone())?;
    if inputs.are_typed() && !args.quiet {
        terminal.complain("reading events from the terminal, one to a line; Ctrl-D ends them");
    }
    let again = inputs.can_be_read_again();
    let names = inputs.names();
    let shows_text = !args.quiet && !machine_readable;
    let shows_progress = terminal.is_watched() && !args.quiet && !args.prints && !inputs.are_typed();
    let tells = Violations { automata: &loaded.automata, inputs: &names };
    let properties = loaded.automata.iter().map(|automaton| automaton.name.as_str()).collect();
    let mut watch = Watch::new(&interrupt, properties)
        .with_progress(shows_progress.then(|| Progress::new(inputs.size())))
        .with_prints(args.prints)
        .with_violations(shows_text.then_some((tells, terminal.style)));
    let options = options(args, again);
    let outcome = check(&loaded.automata, &loaded.catalog, || inputs.open(), &options, &mut watch);
    let told = watch.finish();
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
    let undelivered = deliver(args, &report, told, terminal);
    for trouble in &undelivered {
        terminal.error(&trouble.message);
    }
    Ok(ExitCode::from(match status(&report) {
        0 if !undelivered.is_empty() => UNUSABLE,
        status => status,
    }))
}

/// Gives the report to everyone who wants one; what could not be delivered does not keep the rest from it.
fn deliver(args: &Check, report: &Report<'_>, told: usize, terminal: &Terminal) -> Vec<Trouble> {
    let mut done = Vec::new();
    let to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard);
    if args.json {
        done.push(terminal.print(&report.json()));
    } else if args.quiet || to_stdout(&args.junit) || to_stdout(&args.sarif) {
        for warning in report.warnings(&terminal.errors) {
            terminal.complain(&warning);
        }
    } else {
        let gap = if told > 0 { "\n" } else { "" };
        done.push(terminal.print(&(gap.to_owned() + &report.rest(told, &terminal.style))));
    }
    let errors = report.errors(&terminal.errors);
    if !errors.is_empty() {
        terminal.complain(&errors.join("\n\n"));
    }
    if let Some(path) = &args.junit {
        done.push(files::write(path, &report.junit(), terminal));
    }
    if let Some(path) = &args.sarif {
        done.push(files::write(path, &report.sarif(), terminal));
    }
    done.into_iter().filter_map(Result::err).collect()
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

/// Standard input can be read once only.
fn check_stdin(args: &Check) -> Result<(), Trouble> {
    let is_trace = args.traces.is_empty() || args.traces.iter().any(|path| is_standard(path));
    if is_trace && args.properties.iter().chain(&args.functions).any(|path| is_standard(path)) {
        return Err(Trouble::new(
            "standard input cannot be both a property and the trace; put one of them into a file",
        ));
    }
    Ok(())
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
    Options { first: args.first, limit: args.limit, again, trace: reading(args) }
}

/// How traces are read.
fn reading(args: &Check) -> invigil_trace::Options {
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
    trace
}
