//! `invigil check`: checks traces against properties and writes the reports.

use crate::args::{Check, FormatChoice};
use crate::check_listener::CheckProgressListener;
use crate::files::{self, is_standard};
use crate::inputs::TraceInputs;
use crate::interrupt::InterruptFlag;
use crate::load::load;
use crate::progress::Progress;
use crate::terminal::Terminal;
use crate::validate;
use crate::{CliError, INTERRUPTED, INVALID_INPUT, VIOLATED};
use invigil_check::report::{Report, ViolationRenderer};
use invigil_check::{CheckOptions, check};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(args: &Check, terminal: &Terminal) -> Result<ExitCode, CliError> {
    if let Some(model) = &args.validate.model {
        return validate::run(model, args, trace_options(args), terminal);
    }
    let machine_readable = is_stdout_taken(args)?;
    check_stdin(args)?;
    let loaded = load(&args.properties, &args.functions, terminal.errors.colour)?;
    if !loaded.warnings.is_empty() && !args.quiet {
        terminal.eprint(&(loaded.warnings(terminal.errors.colour) + "\n"));
    }
    let interrupt = InterruptFlag::install();
    let inputs = TraceInputs::new(&args.traces, interrupt.clone())?;
    if inputs.are_interactive() && !args.quiet {
        terminal.eprint("reading events from the terminal, one per line; end with Ctrl-D");
    }
    let is_rereadable = inputs.are_rereadable();
    let names = inputs.names();
    let shows_text = !args.quiet && !machine_readable;
    let shows_progress =
        terminal.is_stderr_terminal() && !args.quiet && !args.prints && !inputs.are_interactive();
    let renderer = ViolationRenderer { automata: &loaded.automata, inputs: &names };
    let properties = loaded.automata.iter().map(|automaton| automaton.name.as_str()).collect();
    let mut listener = CheckProgressListener::new(&interrupt, properties)
        .with_progress(shows_progress.then(|| Progress::new(inputs.size())))
        .with_prints(args.prints)
        .with_violations(shows_text.then_some((renderer, terminal.style)));
    let options = options(args, is_rereadable);
    let outcome = check(&loaded.automata, &loaded.catalog, || inputs.open(), &options, &mut listener);
    let reported = listener.finish();
    if interrupt.is_set() && terminal.is_stderr_terminal() {
        // The terminal has echoed `^C` at the start of the line.
        terminal.eprint("");
    }

    let report = Report {
        outcome: &outcome,
        automata: &loaded.automata,
        catalog: &loaded.catalog,
        sources: &loaded.sources,
        interrupted: interrupt.is_set(),
    };
    let errors = write_reports(args, &report, reported, terminal);
    for error in &errors {
        terminal.error(&error.message);
    }
    Ok(ExitCode::from(match status(&report) {
        0 if !errors.is_empty() => INVALID_INPUT,
        status => status,
    }))
}

/// Writes all requested reports and returns the errors: one that fails does not prevent the others.
fn write_reports(args: &Check, report: &Report<'_>, reported: usize, terminal: &Terminal) -> Vec<CliError> {
    let mut results = Vec::new();
    let to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard);
    if args.json {
        results.push(terminal.print(&report.json()));
    } else if args.quiet || to_stdout(&args.junit) || to_stdout(&args.sarif) {
        for warning in report.warnings(&terminal.errors) {
            terminal.eprint(&warning);
        }
    } else {
        let gap = if reported > 0 { "\n" } else { "" };
        results.push(terminal.print(&(gap.to_owned() + &report.text_after(reported, &terminal.style))));
    }
    let errors = report.errors(&terminal.errors);
    if !errors.is_empty() {
        terminal.eprint(&errors.join("\n\n"));
    }
    if let Some(path) = &args.junit {
        results.push(files::write(path, &report.junit(), terminal));
    }
    if let Some(path) = &args.sarif {
        results.push(files::write(path, &report.sarif(), terminal));
    }
    results.into_iter().filter_map(Result::err).collect()
}

/// The exit status. Errors do not invalidate a violation, but they do invalidate a verdict of *holds*.
fn status(report: &Report<'_>) -> u8 {
    if report.outcome.violation_count() > 0 {
        VIOLATED
    } else if report.interrupted {
        INTERRUPTED
    } else if report.outcome.is_incomplete() || report.is_not_a_trace() {
        INVALID_INPUT
    } else {
        0
    }
}

/// Rejects standard input as both the trace and a property or a file of functions: it can be read only once.
fn check_stdin(args: &Check) -> Result<(), CliError> {
    let is_trace = args.traces.is_empty() || args.traces.iter().any(|path| is_standard(path));
    if is_trace && args.properties.iter().chain(&args.functions).any(|path| is_standard(path)) {
        return Err(CliError::new(
            "standard input cannot be both the trace and a property or a file of functions; put one of them in a file",
        ));
    }
    Ok(())
}

/// Whether a machine-readable report is written to standard output. More than one is an error.
fn is_stdout_taken(args: &Check) -> Result<bool, CliError> {
    let to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard);
    let reports = [args.json, to_stdout(&args.junit), to_stdout(&args.sarif)];
    let count = reports.iter().filter(|is_written| **is_written).count();
    if count == 1 && args.prints {
        return Err(CliError::new(
            "`--prints` and a report cannot both be written to standard output; name a file for the report",
        ));
    }
    if count > 1 {
        return Err(CliError::new(
            "only one report can be written to standard output; name files for `--junit` and `--sarif`",
        ));
    }
    Ok(count == 1)
}

fn options(args: &Check, is_rereadable: bool) -> CheckOptions {
    CheckOptions {
        first: args.first,
        limit: args.limit,
        can_reread: is_rereadable,
        trace: trace_options(args),
    }
}

/// Options of the trace reader.
fn trace_options(args: &Check) -> invigil_trace::ReadOptions {
    let mut trace = invigil_trace::ReadOptions {
        format: match args.format {
            FormatChoice::Auto => None,
            FormatChoice::Always(format) => Some(format),
        },
        strict: args.strict,
        max_line: args.max_line,
        ..invigil_trace::ReadOptions::default()
    };
    if let Some(threads) = args.threads {
        trace.threads = threads.into();
    }
    trace
}
