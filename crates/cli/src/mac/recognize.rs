//! `invigil mac recognize`: the recogniser as a process of its own.

use super::args::Recognize;
use super::report::problems;
use super::scripts::{Scripts, unfit};
use super::source::{self, connect};
use crate::interrupt::Interrupt;
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, UNUSABLE};
use invigil_check::report::count;
use invigil_lang::pedl::Exported;
use invigil_mac::{Channel, Delivery, Format};
use std::process::ExitCode;

/// How many values an event carries.
fn values(export: &Exported) -> usize {
    export.values.as_ref().map_or(0, Vec::len)
}

pub(super) fn run(args: &Recognize, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let mut scripts = Scripts::new();
    let script = scripts.monitoring(&args.script, &args.program.constants)?;
    scripts.report(args.quiet, terminal)?;
    let (_, script) = script.ok_or_else(|| unfit(&args.script))?;
    if args.to_format == Format::Bytes
        && let Some(export) = script.exports.iter().find(|export| values(export) > 1)
    {
        return Err(Trouble::new(format_args!(
            "the event `{}` carries {} values, and the byte format has room for one; use `--to-format lines`",
            export.name,
            values(export)
        )));
    }
    let interrupt = Interrupt::listen();
    let patience = args.source.wait.patience;
    // The checker first: what comes must have somewhere to go.
    let to = connect(&args.to, patience, args.quiet, &interrupt, terminal, Channel::create)?;
    let mut delivery = Delivery::new(args.to_format, to, args.buffer, args.keep.clone());
    let mut record = recording(args.record.as_deref(), patience, &interrupt, terminal)?;
    let done = source::run(
        &args.source,
        args.quiet,
        script,
        &mut (&mut delivery, &mut record),
        &interrupt,
        terminal,
    )?;
    let delivered = delivery.finish();
    let recorded = record.map(Delivery::finish).unwrap_or_default();

    problems(&done.problems, terminal);
    let failures = done.failure.iter().chain(&delivered.failures).chain(&recorded.failures);
    failures.for_each(|failure| terminal.error(failure));
    if done.faults > 0 {
        terminal.complain(&format!(
            "{} in the script's definitions: something was divided by zero",
            count(done.faults, "fault")
        ));
    }
    if delivered.lost > 0 {
        let kept = match (&args.keep, delivered.kept) {
            (Some(path), kept) if kept > 0 => format!("; {} in {}", count(kept, "instant"), path.display()),
            _ => "; `--keep FILE` would keep them".to_owned(),
        };
        terminal.error(&format!("{} could not be delivered{kept}", count(delivered.lost, "instant")));
    }
    if !args.quiet {
        let (taken, sent) = (count(done.snapshots, "snapshot"), count(delivered.sent, "instant"));
        terminal.complain(&format!("{taken} read, {sent} told"));
    }
    let is_complete =
        done.is_complete() && delivered.is_complete() && recorded.is_complete() && done.faults == 0;
    Ok(ExitCode::from(match is_complete {
        _ if interrupt.is_set() => INTERRUPTED,
        true => 0,
        false => UNUSABLE,
    }))
}

/// A file that takes all that is recognised.
pub(super) fn recording(
    path: Option<&std::path::Path>,
    patience: std::time::Duration,
    interrupt: &Interrupt,
    terminal: &Terminal,
) -> Result<Option<Delivery>, Trouble> {
    let Some(path) = path else { return Ok(None) };
    let to = connect(&Channel::File(path.to_owned()), patience, true, interrupt, terminal, Channel::create)?;
    Ok(Some(Delivery::new(Format::Lines, to, 64 << 10, None)))
}
