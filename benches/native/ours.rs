//! Invigil on a live program: the same calls that `invigil run` makes.

use super::properties::compile;
use super::{Outcome, on_own_thread};
use invigil_monitor::event::EventSet;
use invigil_native::{Launch, NativeTarget, ProbeMode, Stream};
use invigil_session::{MessageSource, Session, SessionOptions};
use invigil_target::prelude::*;
use invigil_target::{ResumeMode, StopReason, Termination};
use std::path::Path;

/// Result of a monitored run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    /// Number of events.
    pub(crate) events: u64,
    /// Number of transitions.
    pub(crate) steps: u64,
    /// Number of created slices.
    pub(crate) slices: u64,
    /// Number of violations.
    pub(crate) violations: u64,
}

/// Starts a program, stopped before its first instruction.
fn launch(program: &Path, args: &[String], probes: ProbeMode) -> Outcome<NativeTarget> {
    let mut launch = Launch::new(program).args(args);
    launch.stdin = Stream::Null;
    launch.stdout = Stream::Null;
    launch.probes = probes;
    NativeTarget::launch(&launch).map_err(|error| error.to_string())
}

/// Starts a session with a program and a property.
pub(crate) fn session(
    program: &Path,
    args: &[String],
    property: &str,
    probes: ProbeMode,
) -> Outcome<Session> {
    let (automaton, catalog) = compile(property)?;
    let target = launch(program, args, probes)?;
    // The checkpoints of the largest program must fit.
    let options = SessionOptions { max_checkpoint_memory: 8 << 30, ..SessionOptions::default() };
    let mut session = Session::new(Box::new(target), vec![automaton], catalog, Vec::new(), options);
    session.set_listener(Box::new(PrintingListener));
    let started = session.start().map_err(|error| error.to_string())?;
    match started.outcome {
        None => Ok(session),
        Some(outcome) => Err(format!("the session did not start: {outcome:?}")),
    }
}

/// Prints the messages of the session, which a benchmark must not hide.
struct PrintingListener;

impl invigil_session::Listener for PrintingListener {
    fn message(&mut self, _: MessageSource, line: &str) {
        println!("  note: {line}");
    }
}

/// Runs a program under a property until it exits.
pub(crate) fn watch(program: &Path, args: &[String], property: &str, probes: ProbeMode) -> Outcome<Watched> {
    on_own_thread(|| {
        let mut session = session(program, args, property, probes)?;
        let mut go_on = || session.run(&ResumeMode::Continue).map_err(|error| error.to_string());
        let mut outcome = go_on()?;
        // Violations are only counted.
        while matches!(outcome, invigil_session::RunOutcome::Suspended(_)) {
            outcome = go_on()?;
        }
        if outcome != invigil_session::RunOutcome::Ended(Termination::Exited(0)) {
            return Err(format!("the monitored program did not end normally: {outcome:?}"));
        }
        let report = session.report();
        let property = report.properties.first().ok_or("the report has no property")?;
        Ok(Watched {
            events: report.events,
            steps: property.steps,
            slices: property.slices,
            violations: property.violations,
        })
    })
}

/// Runs a program with the instrumentation of a property but without a monitor. Returns the number of events.
pub(crate) fn deliver(program: &Path, args: &[String], property: &str) -> Outcome<u64> {
    on_own_thread(|| {
        let (_, catalog) = compile(property)?;
        let mut target = launch(program, args, ProbeMode::Trap)?;
        let message = |error: invigil_target::TargetError| error.to_string();
        let unknown = target.prepare(&catalog).map_err(message)?;
        if !unknown.is_empty() {
            return Err(format!("the program has no such events: {unknown:?}"));
        }
        let mut needs = EventSet::default();
        for (symbol, _) in catalog.iter() {
            needs.insert(symbol);
        }
        target.instrument(&needs).map_err(message)?;
        let mut events = 0;
        loop {
            match target.resume(&ResumeMode::Continue).map_err(message)? {
                StopReason::Events => events += target.events().len() as u64,
                StopReason::Ended(Termination::Exited(0)) => return Ok(events),
                other => return Err(format!("unexpected stop of the program: {other:?}")),
            }
        }
    })
}
