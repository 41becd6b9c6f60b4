//! Invigil on a live program: the same calls that `invigil run` makes.

use super::properties::compile;
use super::{Outcome, on_own_thread};
use invigil_monitor::event::EventSet;
use invigil_native::{Launch, Probes, Stream, Target};
use invigil_session::subject::{Ending, Resume, Stop, Subject};
use invigil_session::{Options, Session, Speaker};
use std::path::Path;

/// What became of a watched run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    /// How many events there were.
    pub(crate) events: u64,
    /// How many transitions were taken.
    pub(crate) steps: u64,
    /// How many slices came into being.
    pub(crate) slices: u64,
    /// How many violations there were.
    pub(crate) violations: u64,
}

/// A program that stands before its first instruction.
fn launch(program: &Path, args: &[String], probes: Probes) -> Outcome<Target> {
    let mut launch = Launch::new(program).args(args);
    launch.stdin = Stream::Null;
    launch.stdout = Stream::Null;
    launch.probes = probes;
    Target::launch(&launch).map_err(|trouble| trouble.to_string())
}

/// A program with a monitor.
pub(crate) fn session(program: &Path, args: &[String], property: &str, probes: Probes) -> Outcome<Session> {
    let (automaton, catalog) = compile(property)?;
    let target = launch(program, args, probes)?;
    // The checkpoints of the largest program must fit.
    let options = Options { max_checkpoint_memory: 8 << 30, ..Options::default() };
    let mut session = Session::new(Box::new(target), vec![automaton], catalog, Vec::new(), options);
    session.set_listener(Box::new(Aloud));
    let started = session.start().map_err(|error| error.to_string())?;
    match started.outcome {
        None => Ok(session),
        Some(outcome) => Err(format!("the session did not start: {outcome:?}")),
    }
}

/// Says what the session has to say: a benchmark must not hide it.
struct Aloud;

impl invigil_session::Listener for Aloud {
    fn line(&mut self, _: Speaker, line: &str) {
        println!("  note: {line}");
    }
}

/// Runs a program to its end under a property.
pub(crate) fn watch(program: &Path, args: &[String], property: &str, probes: Probes) -> Outcome<Watched> {
    on_own_thread(|| {
        let mut session = session(program, args, property, probes)?;
        let mut go_on = || session.run(&Resume::Continue).map_err(|trouble| trouble.to_string());
        let mut outcome = go_on()?;
        // Violations are counted, and nobody looks at them.
        while matches!(outcome, invigil_session::Outcome::Suspended(_)) {
            outcome = go_on()?;
        }
        if outcome != invigil_session::Outcome::Ended(Ending::Exited(0)) {
            return Err(format!("the watched program did not end well: {outcome:?}"));
        }
        let report = session.report();
        let property = report.properties.first().ok_or("there is no property in the report")?;
        Ok(Watched {
            events: report.events,
            steps: property.steps,
            slices: property.slices,
            violations: property.violations,
        })
    })
}

/// Runs a program to its end; the events of a property happen, but nobody is told. Gives how many there were.
pub(crate) fn deliver(program: &Path, args: &[String], property: &str) -> Outcome<u64> {
    on_own_thread(|| {
        let (_, catalog) = compile(property)?;
        let mut target = launch(program, args, Probes::Trap)?;
        let words = |trouble: invigil_session::subject::Trouble| trouble.to_string();
        let unknown = target.prepare(&catalog).map_err(words)?;
        if !unknown.is_empty() {
            return Err(format!("the program lacks events: {unknown:?}"));
        }
        let mut needs = EventSet::default();
        for (symbol, _) in catalog.iter() {
            needs.insert(symbol);
        }
        target.instrument(&needs).map_err(words)?;
        let mut events = 0;
        loop {
            match target.resume(&Resume::Continue).map_err(words)? {
                Stop::Events => events += target.events().len() as u64,
                Stop::Ended(Ending::Exited(0)) => return Ok(events),
                other => return Err(format!("the program stopped otherwise than expected: {other:?}")),
            }
        }
    })
}
