//! `invigil mac recognize`: the recogniser as a separate process.

use super::args::Recognize;
use super::report::{FAULT_REASONS, print_input_errors};
use super::scripts::{ScriptSet, unusable_script};
use super::source::{self, connect};
use crate::interrupt::InterruptFlag;
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED, INVALID_INPUT};
use invigil_check::report::count;
use invigil_lang::pedl::ScriptExport;
use invigil_mac::{BufferedSender, Channel, StreamFormat};
use std::process::ExitCode;

/// Number of values of an event.
fn values(export: &ScriptExport) -> usize {
    export.values.as_ref().map_or(0, Vec::len)
}

pub(super) fn run(args: &Recognize, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let mut scripts = ScriptSet::new();
    let script = scripts.monitoring(&args.script, &args.program.constants)?;
    scripts.report(args.quiet, terminal)?;
    let (_, script) = script.ok_or_else(|| unusable_script(&args.script))?;
    if args.to_format == StreamFormat::Bytes
        && let Some(export) = script.exports.iter().find(|export| values(export) > 1)
    {
        return Err(CliError::new(format_args!(
            "the event `{}` has {} values, but the byte format supports one; use `--to-format lines`",
            export.name,
            values(export)
        )));
    }
    let interrupt = InterruptFlag::install();
    let timeout = args.source.wait.timeout;
    // Connect to the checker first, so that no output is lost.
    let to = connect(&args.to, timeout, args.quiet, &interrupt, terminal, Channel::create)?;
    let mut delivery = BufferedSender::new(args.to_format, to, args.buffer, args.keep.clone());
    let mut record = recording(args.record.as_deref(), timeout, &interrupt, terminal)?;
    let summary = source::run(
        &args.source,
        args.quiet,
        script,
        &mut (&mut delivery, &mut record),
        &interrupt,
        terminal,
    )?;
    let delivered = delivery.finish();
    let recorded = record.map(BufferedSender::finish).unwrap_or_default();

    print_input_errors(&summary.errors, terminal);
    let failures = summary.failure.iter().chain(&delivered.failures).chain(&recorded.failures);
    failures.for_each(|failure| terminal.error(failure));
    if summary.faults > 0 {
        terminal.eprint(&format!(
            "{} in the script's definitions: {FAULT_REASONS}",
            count(summary.faults, "fault")
        ));
    }
    if delivered.lost > 0 {
        let kept = match (&args.keep, delivered.saved) {
            (Some(path), kept) if kept > 0 => {
                format!("; {} saved in {}", count(kept, "instant"), path.display())
            }
            _ => "; use `--keep FILE` to save them".to_owned(),
        };
        terminal.error(&format!("{} could not be delivered{kept}", count(delivered.lost, "instant")));
    }
    if !args.quiet {
        let (taken, sent) = (count(summary.snapshots, "snapshot"), count(delivered.sent, "instant"));
        terminal.eprint(&format!("{taken} read, {sent} sent"));
    }
    let is_complete =
        summary.is_complete() && delivered.is_complete() && recorded.is_complete() && summary.faults == 0;
    Ok(ExitCode::from(match is_complete {
        _ if interrupt.is_set() => INTERRUPTED,
        true => 0,
        false => INVALID_INPUT,
    }))
}

/// Opens the file of `--record`, which receives everything that is recognised.
pub(super) fn recording(
    path: Option<&std::path::Path>,
    timeout: std::time::Duration,
    interrupt: &InterruptFlag,
    terminal: &Terminal,
) -> Result<Option<BufferedSender>, CliError> {
    let Some(path) = path else { return Ok(None) };
    let to = connect(&Channel::File(path.to_owned()), timeout, true, interrupt, terminal, Channel::create)?;
    Ok(Some(BufferedSender::new(StreamFormat::Lines, to, 64 << 10, None)))
}
