//! `invigil record`: the events of a program, written down as they happen.

pub(crate) mod args;
mod output;
mod told;

use crate::files::is_standard;
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, UNRUNNABLE, UNUSABLE, run};
use args::Record;
use invigil_cockpit::{Bell, Files, Loaded, pending, point_out};
use invigil_native::{Recording, Target};
use invigil_session::subject::{Done, Resume, Stop, Subject, Trouble as Unwell, Unknown};
use output::Output;
use std::path::Path;
use std::process::ExitCode;
use told::{End, Told};

pub(crate) fn run(args: &Record, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let output = Output::named(args)?;
    if output.is_standard() && args.json {
        return Err(Trouble::new(
            "both the events and the document would go to standard output; give `-o FILE`",
        ));
    }
    let taken = args.properties.iter().chain(&args.functions).any(|path| is_standard(path));
    run::check_taken(taken, args.starting.stdin.is_some() || args.process.is_some())?;
    let files =
        Files { properties: args.properties.clone(), functions: args.functions.clone(), ..Files::default() };
    let loaded =
        run::read(&files, &run::Program::default(), terminal.errors.colour).map_err(Trouble::rendered)?;
    if !loaded.warnings.is_empty() && !args.quiet {
        terminal.complain(&loaded.warnings);
    }
    let bell = Bell::default();
    let _restored = run::listen(&bell);
    let mut target = begin(args, &output)?;
    // Dropping it ends the program, or lets it go: nothing is left behind, whatever goes wrong.
    bell.attach(Subject::interrupter(&target));
    prepare(&mut target, &loaded, args, terminal)?;
    let sink = output.open(&loaded)?;
    let how = Recording { bytes: args.ring, lossy: args.lossy, timed: args.time };
    target.record(how, sink).map_err(unwell)?;
    let told = follow(&mut target, &bell, &output, args.process.is_none());
    told.tell(args, terminal)?;
    Ok(ExitCode::from(match (&told.end, told.trouble.is_some()) {
        (_, true) => UNUSABLE,
        (End::Interrupted, _) => INTERRUPTED,
        (End::Broken(_), _) => UNRUNNABLE,
        (End::Ended(_), _) => 0,
    }))
}

fn unwell(trouble: Unwell) -> Trouble {
    let status = if matches!(trouble, Unwell::Request(_)) { UNUSABLE } else { UNRUNNABLE };
    Trouble { status, ..Trouble::new(trouble) }
}

/// Starts the program, or takes hold of it.
fn begin(args: &Record, output: &Output) -> Result<Target, Trouble> {
    let is_java = match args.process {
        Some(process) => invigil_jvm::is_machine(process),
        None => args.program.first().is_some_and(|program| invigil_jvm::is_java(Path::new(program))),
    };
    if is_java {
        return Err(Trouble::new(
            "only native programs can be recorded like this; for Java there is `invigil run --record FILE`",
        ));
    }
    let probes = args.noticing.probes()?;
    let mut target = match args.process {
        Some(process) => Target::attach(process),
        None => {
            let taken = args.properties.iter().chain(&args.functions).any(|path| is_standard(path));
            let streams = run::streams(&args.starting, taken, args.json || output.is_standard())?;
            Target::launch(&run::native(&args.program, &args.starting, streams)?)
        }
    }
    .map_err(unwell)?;
    target.notice_by(probes);
    target.expect_libraries(args.noticing.later);
    if !target.is_alive() {
        return Err(unwell(Unwell::Subject("the program has ended before it could be watched".to_owned())));
    }
    Ok(target)
}

/// Finds in the program what the properties are about.
fn prepare(target: &mut Target, loaded: &Loaded, args: &Record, terminal: &Terminal) -> Result<(), Trouble> {
    let unknown = target.prepare(&loaded.catalog).map_err(unwell)?;
    let (later, unknown): (Vec<Unknown>, Vec<Unknown>) =
        unknown.into_iter().partition(|unknown| unknown.pending);
    if !unknown.is_empty() {
        return Err(Trouble::rendered(point_out(loaded, &unknown, &terminal.errors)));
    }
    let mut notes: Vec<String> = later.iter().map(pending).collect();
    // The begin and the end of one function are two events.
    notes.dedup();
    if !args.quiet {
        notes.iter().for_each(|note| terminal.complain(&format!("note: {note}")));
    }
    Ok(())
}

/// Runs the program to its end, or until someone or something wants to end the recording.
fn follow(target: &mut Target, bell: &Bell, output: &Output, is_ours: bool) -> Told {
    let end = loop {
        if bell.was_rung() {
            break End::Interrupted;
        }
        match bell.running(|| target.resume(&Resume::Continue)) {
            Ok(Stop::Ended(ending)) | Err(Unwell::Ended(ending)) => break End::Ended(ending),
            Ok(Stop::Interrupted) => break End::Interrupted,
            // A signal that will end the program, say: it goes on, and its end is told.
            Ok(_) => {}
            Err(trouble) => break End::Broken(trouble.to_string()),
        }
    };
    let probes = target.probes();
    // It may be gone in the meantime, which is as well.
    let left: Done = if is_ours { target.kill() } else { target.detach() };
    let end = match (end, left) {
        (End::Interrupted, Err(trouble)) if !is_ours => End::Broken(trouble.to_string()),
        (end, _) => end,
    };
    let recorded = target.end_recording().unwrap_or_default();
    Told {
        output: output.name(),
        events: recorded.events,
        lost: recorded.lost,
        trouble: recorded.trouble.map(|error| output.explain(&error)),
        end,
        is_ours,
        probes,
    }
}
