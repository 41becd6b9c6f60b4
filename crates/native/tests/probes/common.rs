//! Programs compiled on the spot, watched by probes and by traps.

use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::{prop, scn};
use invigil_monitor::event::Catalog;
use invigil_native::{Launch, Probes, Stream, Target};
use invigil_session::subject::Resume;
use invigil_session::{Options, Outcome, Session};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

/// Both ways to notice events.
pub(crate) const BOTH: [Probes; 2] = [Probes::Inline, Probes::Trap];

/// A program in a directory of its own.
pub(crate) struct Built {
    _dir: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

/// Compiles a C or C++ program.
pub(crate) fn compiled(compiler: &str, source: &str, flags: &[&str]) -> Built {
    let dir = tempfile::tempdir().expect("a directory");
    let name = if compiler == "cc" { "program.c" } else { "program.cpp" };
    std::fs::write(dir.path().join(name), source).expect("the source is written");
    let done = Command::new(compiler)
        .current_dir(dir.path())
        .args([name, "-o", "program", "-g"])
        .args(flags)
        .output()
        .expect("there is a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Built { path: dir.path().join("program"), _dir: dir }
}

/// A session of a program under a property. With `stops`, it stops where that is violated; without, it never does.
pub(crate) fn session(built: &Built, property: &str, probes: Probes, stops: bool) -> Session {
    let text = if stops { "on entering non-accepting state { suspend_execution() }" } else { "" };
    session_of(built, property, probes, text)
}

/// The same under a scenario.
pub(crate) fn session_of(built: &Built, property: &str, probes: Probes, scenario: &str) -> Session {
    let (session, pending) = prepared(built, property, (probes, scenario, false));
    assert!(!pending);
    session
}

/// The same for what a library brings that is loaded later; it never stops.
pub(crate) fn session_with_later(built: &Built, property: &str, probes: Probes) -> Session {
    let (session, pending) = prepared(built, property, (probes, "", true));
    assert!(pending);
    session
}

/// A session, and whether something is expected from libraries.
fn prepared(built: &Built, property: &str, (probes, text, later): (Probes, &str, bool)) -> (Session, bool) {
    let mut catalog = Catalog::default();
    let (parsed, problems) = prop::parse(SourceId(0), property);
    assert!(problems.is_empty(), "{problems:#?}");
    let (automaton, problems) = prop::lower::lower("probes", &parsed, &[], &mut catalog);
    assert!(!problems.iter().any(Diagnostic::is_error), "{problems:#?}");
    let automaton = Arc::new(automaton.expect("the property is fine"));
    let mut launch = Launch::new(&built.path);
    launch.stdout = Stream::Null;
    launch.stderr = Stream::Null;
    launch.probes = probes;
    let mut target = Target::launch(&launch).expect("the program starts");
    target.expect_libraries(later);
    let (written, problems) = scn::parse(SourceId(1), text);
    assert!(problems.is_empty(), "{problems:#?}");
    let (scenario, problems) = scn::lower("none", &written, &[&automaton]);
    assert!(!problems.iter().any(Diagnostic::is_error), "{problems:#?}");
    let scenarios = vec![Arc::new(scenario.expect("the scenario is fine"))];
    let mut session = Session::new(Box::new(target), vec![automaton], catalog, scenarios, Options::default());
    let started = session.start().expect("the program has what the property is about");
    (session, !started.pending.is_empty())
}

/// Runs to the end, and gives how many transitions were taken.
pub(crate) fn steps_to_end(session: &mut Session) -> u64 {
    let outcome = session.run(&Resume::Continue).expect("the program runs");
    assert!(matches!(outcome, Outcome::Ended(_)), "{outcome:?}");
    assert!(!session.is_blind(), "what the monitors did is known");
    session.report().properties[0].steps
}

/// How the events of the property are noticed, each once.
pub(crate) fn how(session: &mut Session) -> Vec<(String, String)> {
    let mut all: Vec<_> =
        session.subject().probes().into_iter().map(|probe| (probe.event, probe.how)).collect();
    all.dedup();
    all
}
