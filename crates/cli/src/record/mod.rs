//! `invigil record`: records the events of a program while it runs.

pub(crate) mod args;
mod output;
mod summary;

use crate::files::is_standard;
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED, INVALID_INPUT, SUBJECT_FAILED, run};
use args::Record;
use invigil_cockpit::{
    Files, InterruptHandle, LoadedFiles, missing_probes_note, pending_note, render_unresolved,
};
use invigil_native::{NativeTarget, RecordingOptions};
use invigil_target::prelude::*;
use invigil_target::{ResumeMode, StopReason, TargetError, TargetResult, UnresolvedEvent};
use output::Output;
use std::path::Path;
use std::process::ExitCode;
use summary::{RecordSummary, RecordingEnd};

pub(crate) fn run(args: &Record, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let output = Output::named(args)?;
    if output.is_standard() && args.json {
        return Err(CliError::new(
            "the events and the summary cannot both be written to standard output; use `-o FILE`",
        ));
    }
    let taken = args.properties.iter().chain(&args.functions).any(|path| is_standard(path));
    run::check_stdin_is_free(taken, args.launch.stdin.is_some() || args.process.is_some())?;
    let files =
        Files { properties: args.properties.clone(), functions: args.functions.clone(), ..Files::default() };
    let loaded = run::load_files(&files, &run::ProgramInfo::default(), terminal.errors.colour)
        .map_err(CliError::rendered)?;
    if !loaded.warnings.is_empty() && !args.quiet {
        terminal.eprint(&loaded.warnings);
    }
    let interrupt = InterruptHandle::default();
    let _terminal_guard = run::install_signal_handlers(&interrupt);
    let mut target = start(args, &output)?;
    // Dropping the target terminates the program or detaches from it on every error path.
    interrupt.set_interrupter(NativeTarget::interrupter(&target));
    prepare(&mut target, &loaded, args, terminal)?;
    let sink = output.open(&loaded)?;
    let options = RecordingOptions { bytes: args.ring, lossy: args.lossy, timed: args.time };
    target.record(options, sink).map_err(target_error)?;
    let summary = record(&mut target, &interrupt, &output, args.process.is_none());
    summary.print(args, terminal)?;
    Ok(ExitCode::from(match (&summary.end, summary.write_error.is_some()) {
        (_, true) => INVALID_INPUT,
        (RecordingEnd::Interrupted, _) => INTERRUPTED,
        (RecordingEnd::Broken(_), _) => SUBJECT_FAILED,
        (RecordingEnd::Ended(_), _) => 0,
    }))
}

/// An invalid request of the user, or a failure to control the target.
fn target_error(error: TargetError) -> CliError {
    let status = if matches!(error, TargetError::Request(_)) { INVALID_INPUT } else { SUBJECT_FAILED };
    CliError { status, ..CliError::new(error) }
}

/// Starts the program or attaches to it.
fn start(args: &Record, output: &Output) -> Result<NativeTarget, CliError> {
    let is_java = match args.process {
        Some(process) => invigil_jvm::is_java_vm(process),
        None => args.program.first().is_some_and(|program| invigil_jvm::is_java(Path::new(program))),
    };
    if is_java {
        return Err(CliError::new(
            "`invigil record` supports native programs only; for Java programs, use `invigil run --record FILE`",
        ));
    }
    let probes = args.probing.probes()?;
    let mut target = match args.process {
        Some(process) => NativeTarget::attach(process),
        None => {
            let taken = args.properties.iter().chain(&args.functions).any(|path| is_standard(path));
            let streams = run::streams(&args.launch, taken, args.json || output.is_standard())?;
            NativeTarget::launch(&run::native_launch(&args.program, &args.launch, streams)?)
        }
    }
    .map_err(target_error)?;
    target.set_probe_mode(probes);
    target.allow_pending_events(args.probing.later);
    if !target.is_alive() {
        return Err(target_error(TargetError::Control(
            "the program exited before it could be instrumented".to_owned(),
        )));
    }
    Ok(target)
}

/// Resolves the events of the properties in the program and prints notes.
fn prepare(
    target: &mut NativeTarget,
    loaded: &LoadedFiles,
    args: &Record,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let unknown = target.prepare(&loaded.catalog).map_err(target_error)?;
    let (pending, unknown): (Vec<UnresolvedEvent>, Vec<UnresolvedEvent>) =
        unknown.into_iter().partition(|unknown| unknown.pending);
    if !unknown.is_empty() {
        return Err(CliError::rendered(render_unresolved(loaded, &unknown, &terminal.errors)));
    }
    let mut notes: Vec<String> = pending.iter().map(pending_note).collect();
    // Entry and exit of one function are two events with the same note.
    notes.dedup();
    notes.extend(target.probe_failure().map(|why| missing_probes_note(&why)));
    if !args.quiet {
        notes.iter().for_each(|note| terminal.eprint(&format!("note: {note}")));
    }
    Ok(())
}

/// Runs the program until it ends, the user interrupts, or the events cannot be written.
fn record(
    target: &mut NativeTarget,
    interrupt: &InterruptHandle,
    output: &Output,
    was_launched: bool,
) -> RecordSummary {
    let end = loop {
        if interrupt.was_interrupted() {
            break RecordingEnd::Interrupted;
        }
        match interrupt.while_running(|| target.resume(&ResumeMode::Continue)) {
            Ok(StopReason::Ended(ending)) | Err(TargetError::Ended(ending)) => {
                break RecordingEnd::Ended(ending);
            }
            Ok(StopReason::Interrupted) => break RecordingEnd::Interrupted,
            // Other stops, such as a fatal signal: resume; a termination is reported by a later stop.
            Ok(_) => {}
            Err(error) => break RecordingEnd::Broken(error.to_string()),
        }
    };
    let probes = target.probes();
    // An error is harmless here: the program may have exited in the meantime.
    let result: TargetResult = if was_launched { target.kill() } else { target.detach() };
    let end = match (end, result) {
        (RecordingEnd::Interrupted, Err(error)) if !was_launched => RecordingEnd::Broken(error.to_string()),
        (end, _) => end,
    };
    let recorded = target.finish_recording().unwrap_or_default();
    RecordSummary {
        output: output.name(),
        events: recorded.events,
        lost: recorded.lost,
        write_error: recorded.error.map(|error| output.explain(&error)),
        end,
        was_launched,
        probes,
    }
}
