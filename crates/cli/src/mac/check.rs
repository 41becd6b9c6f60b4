//! `invigil mac check` and `invigil mac run`: the checker, alone or after a recogniser.

use super::actions::Actions;
use super::args::{Check, ResultArgs, Run};
use super::recognize::recording;
use super::report::{FAULT_REASONS, Report, print_input_errors};
use super::result_sink::ResultSink;
use super::scripts::{ScriptSet, unusable_script};
use super::source::{self, connect};
use crate::CliError;
use crate::interrupt::{InterruptFlag, InterruptibleStream};
use crate::terminal::Terminal;
use invigil_lang::medl;
use invigil_mac::{BufferedSender, Channel, CheckOutcome, CheckRun, GroupReader, InputErrors, Sink, check};
use std::process::ExitCode;

pub(super) fn run(args: &Check, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let mut scripts = ScriptSet::new();
    let script = scripts.requirements(&args.script, None)?;
    scripts.report(args.results.quiet, terminal)?;
    let (_, script) = script.ok_or_else(|| unusable_script(&args.script))?;
    let interrupt = InterruptFlag::install();
    check_and_report(&args.results, script, &interrupt, terminal, |check_run| {
        let quiet = args.results.quiet;
        let from = connect(&args.from, args.wait.timeout, quiet, &interrupt, terminal, Channel::open)?;
        let mut from = InterruptibleStream::new(from.into_file(), interrupt.clone());
        let summary = check(&mut from, &mut GroupReader::new(args.format), check_run, args.strict);
        Ok((summary.errors, summary.failure.into_iter().collect()))
    })
}

pub(super) fn run_recogniser_and_checker(args: &Run, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let quiet = args.results.quiet;
    let mut scripts = ScriptSet::new();
    let monitoring = scripts.monitoring(&args.monitoring, &args.program.constants)?;
    let exports = monitoring.as_ref().map(|(_, lowered)| lowered.exports.as_slice());
    let requirements = scripts.requirements(&args.requirements, exports)?;
    scripts.report(quiet, terminal)?;
    let (_, monitoring) = monitoring.ok_or_else(|| unusable_script(&args.monitoring))?;
    let (_, requirements) = requirements.ok_or_else(|| unusable_script(&args.requirements))?;
    let interrupt = InterruptFlag::install();
    check_and_report(&args.results, requirements, &interrupt, terminal, |check_run| {
        let mut record = recording(args.record.as_deref(), args.source.wait.timeout, &interrupt, terminal)?;
        let summary = source::run(
            &args.source,
            quiet,
            monitoring,
            &mut (check_run, &mut record),
            &interrupt,
            terminal,
        )?;
        let mut failures: Vec<String> = summary.failure.into_iter().collect();
        failures.extend(record.map(BufferedSender::finish).unwrap_or_default().failures);
        if summary.faults > 0 {
            failures.push(format!(
                "{}: a definition became undefined: {FAULT_REASONS}",
                args.monitoring.display()
            ));
        }
        Ok((summary.errors, failures))
    })
}

/// Feeds a checker with `feed` and reports the results.
fn check_and_report(
    args: &ResultArgs,
    script: medl::RequirementScript,
    interrupt: &InterruptFlag,
    terminal: &Terminal,
    feed: impl FnOnce(&mut dyn Sink) -> Result<(InputErrors, Vec<String>), CliError>,
) -> Result<ExitCode, CliError> {
    let declared: Vec<String> = script.actions.iter().map(|(name, _)| name.clone()).collect();
    let actions = Actions::new(&args.actions, &declared)?;
    if !args.quiet {
        for name in actions.without_command() {
            terminal.eprint(&format!("action `{name}` has no command; use `--action {name}=COMMAND`"));
        }
    }
    let check_run = CheckRun::new(script).map_err(CliError::new)?.undefined_violates(args.undefined_violates);
    let mut result_sink = ResultSink::new(args, terminal, actions, &check_run.outcome().requirements);
    let mut report_output = |output: &_| result_sink.report(output);
    let mut check_run = check_run.with_listener(&mut report_output);
    let (input_errors, mut failures) = feed(&mut check_run)?;
    let outcome: CheckOutcome = check_run.into_outcome();
    failures.extend(result_sink.actions.failures());
    if interrupt.is_set() {
        // Failures after Ctrl-C are its consequence.
        failures.clear();
    }

    let report = Report {
        outcome: &outcome,
        input_errors: &input_errors,
        failures: &failures,
        interrupted: interrupt.is_set(),
    };
    print_input_errors(&input_errors, terminal);
    failures.iter().for_each(|failure| terminal.error(failure));
    report.warnings().iter().for_each(|warning| terminal.eprint(warning));
    if args.json {
        terminal.print(&report.json())?;
    } else if !args.quiet {
        let gap = if result_sink.reported > 0 { "\n" } else { "" };
        terminal.print(&(gap.to_owned() + &report.text(&terminal.style)))?;
    }
    Ok(ExitCode::from(report.status()))
}
