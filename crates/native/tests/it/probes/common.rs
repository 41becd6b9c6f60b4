//! Programs compiled by the tests, observed by probes and by traps.

use invigil_monitor::event::EventCatalog;
use invigil_native::{Launch, NativeTarget, ProbeMode, Stream};
use invigil_session::{RunOutcome, Session, SessionOptions};
use invigil_target::ResumeMode;
use invigil_test_support::Program;
use invigil_test_support::language;
use std::sync::Arc;

/// Both probe modes.
pub(crate) const BOTH: [ProbeMode; 2] = [ProbeMode::Inline, ProbeMode::Trap];

/// Compiles a C program with debug information, unless the flags say `-g0`.
pub(crate) fn c(source: &str, flags: &[&str]) -> Program {
    Program::c(source, &[&["-g"], flags].concat())
}

/// Compiles a C++ program in the same way.
pub(crate) fn cpp(source: &str, flags: &[&str]) -> Program {
    Program::cpp(source, &[&["-g"], flags].concat())
}

/// A session of a program under a property. With `stops`, it stops at violations.
pub(crate) fn session(built: &Program, property: &str, probes: ProbeMode, stops: bool) -> Session {
    let text = if stops { "on entering non-accepting state { suspend_execution() }" } else { "" };
    session_of(built, property, probes, text)
}

/// The same under a scenario.
pub(crate) fn session_of(built: &Program, property: &str, probes: ProbeMode, scenario: &str) -> Session {
    let (session, pending) = prepared(built, property, (probes, scenario, false));
    assert!(!pending);
    session
}

/// The same for functions of a library that is loaded later; it never stops.
pub(crate) fn session_with_later(built: &Program, property: &str, probes: ProbeMode) -> Session {
    let (session, pending) = prepared(built, property, (probes, "", true));
    assert!(pending);
    session
}

/// Prepares a session. Returns whether events are pending for later libraries.
fn prepared(
    built: &Program,
    property: &str,
    (probes, text, later): (ProbeMode, &str, bool),
) -> (Session, bool) {
    let mut catalog = EventCatalog::default();
    let automaton = Arc::new(language::property("probes", property, &mut catalog));
    let mut launch = Launch::new(&built.path);
    launch.stdout = Stream::Null;
    launch.stderr = Stream::Null;
    launch.probes = probes;
    let mut target = NativeTarget::launch(&launch).expect("the program starts");
    target.allow_pending_events(later);
    let scenarios = vec![Arc::new(language::scenario("none", text, &[&automaton]))];
    let mut session =
        Session::new(Box::new(target), vec![automaton], catalog, scenarios, SessionOptions::default());
    let started = session.start().expect("all events are resolved");
    (session, !started.pending.is_empty())
}

/// Runs to the end. Returns the number of transitions taken.
pub(crate) fn steps_to_end(session: &mut Session) -> u64 {
    let outcome = session.run(&ResumeMode::Continue).expect("the program runs");
    assert!(matches!(outcome, RunOutcome::Ended(_)), "{outcome:?}");
    assert!(!session.monitors_lost(), "the replay log is complete");
    session.report().properties[0].steps
}

/// Mechanisms of the property's events, each once.
pub(crate) fn mechanisms(session: &mut Session) -> Vec<(String, String)> {
    let mut all: Vec<_> =
        session.target().probes().into_iter().map(|probe| (probe.event, probe.mechanism)).collect();
    all.dedup();
    all
}
