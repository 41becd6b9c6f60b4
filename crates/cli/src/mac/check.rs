//! `invigil mac check` and `invigil mac run`: the checker, alone or behind a recogniser.

use super::actions::Actions;
use super::args::{Check, Judging, Run};
use super::judge::Judge;
use super::recognize::recording;
use super::report::{Report, problems};
use super::scripts::{Scripts, unfit};
use super::source::{self, connect};
use crate::Trouble;
use crate::interrupt::{Interrupt, Stream};
use crate::terminal::Terminal;
use invigil_lang::medl;
use invigil_mac::{Channel, Checking, Delivery, GroupReader, Outcome, Problems, Sink, check};
use std::process::ExitCode;

pub(super) fn run(args: &Check, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let mut scripts = Scripts::new();
    let script = scripts.requirements(&args.script, None)?;
    scripts.report(args.judging.quiet, terminal)?;
    let (_, script) = script.ok_or_else(|| unfit(&args.script))?;
    let interrupt = Interrupt::listen();
    judged(&args.judging, script, &interrupt, terminal, |checking| {
        let quiet = args.judging.quiet;
        let from = connect(&args.from, args.wait.patience, quiet, &interrupt, terminal, Channel::open)?;
        let mut from = Stream::new(from.into_file(), interrupt.clone());
        let done = check(&mut from, &mut GroupReader::new(args.format), checking, args.strict);
        Ok((done.problems, done.failure.into_iter().collect()))
    })
}

pub(super) fn run_both(args: &Run, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let quiet = args.judging.quiet;
    let mut scripts = Scripts::new();
    let monitoring = scripts.monitoring(&args.monitoring, &args.program.constants)?;
    let exports = monitoring.as_ref().map(|(_, lowered)| lowered.exports.as_slice());
    let requirements = scripts.requirements(&args.requirements, exports)?;
    scripts.report(quiet, terminal)?;
    let (_, monitoring) = monitoring.ok_or_else(|| unfit(&args.monitoring))?;
    let (_, requirements) = requirements.ok_or_else(|| unfit(&args.requirements))?;
    let interrupt = Interrupt::listen();
    judged(&args.judging, requirements, &interrupt, terminal, |checking| {
        let mut record = recording(args.record.as_deref(), args.source.wait.patience, &interrupt, terminal)?;
        let done =
            source::run(&args.source, quiet, monitoring, &mut (checking, &mut record), &interrupt, terminal)?;
        let mut failures: Vec<String> = done.failure.into_iter().collect();
        failures.extend(record.map(Delivery::finish).unwrap_or_default().failures);
        if done.faults > 0 {
            failures.push(format!("a definition of {} divided by zero", args.monitoring.display()));
        }
        Ok((done.problems, failures))
    })
}

/// Checks what `feed` gives to the checker, and reports.
fn judged(
    args: &Judging,
    script: medl::Lowered,
    interrupt: &Interrupt,
    terminal: &Terminal,
    feed: impl FnOnce(&mut dyn Sink) -> Result<(Problems, Vec<String>), Trouble>,
) -> Result<ExitCode, Trouble> {
    let declared: Vec<String> = script.actions.iter().map(|(name, _)| name.clone()).collect();
    let actions = Actions::new(&args.actions, &declared)?;
    if !args.quiet {
        for name in actions.idle() {
            terminal.complain(&format!(
                "action `{name}` does nothing here; `--action {name}=COMMAND` says what it does"
            ));
        }
    }
    let checking = Checking::new(script).map_err(Trouble::new)?.strict(args.undefined_violates);
    let mut judge = Judge::new(args, terminal, actions, &checking.outcome().requirements);
    let mut tell = |findings: &_| judge.tell(findings);
    let mut checking = checking.telling(&mut tell);
    let (unread, mut failures) = feed(&mut checking)?;
    let outcome: Outcome = checking.into_outcome();
    failures.extend(judge.actions.failures().iter().cloned());
    if interrupt.is_set() {
        // That the user stopped it is no news.
        failures.clear();
    }

    let report =
        Report { outcome: &outcome, problems: &unread, failures: &failures, interrupted: interrupt.is_set() };
    problems(&unread, terminal);
    failures.iter().for_each(|failure| terminal.error(failure));
    report.doubts().iter().for_each(|doubt| terminal.complain(doubt));
    if args.json {
        terminal.print(&report.json())?;
    } else if !args.quiet {
        let gap = if judge.told > 0 { "\n" } else { "" };
        terminal.print(&(gap.to_owned() + &report.text(&terminal.style)))?;
    }
    Ok(ExitCode::from(report.status()))
}
