//! Embedded monitors see every event of every thread, in one order.

use crate::common::{launch, printed};
use invigil_jvm::JavaTarget;
use invigil_monitor::event::EventCatalog;
use invigil_session::{RunOutcome, Session, SessionOptions};
use invigil_target::{ResumeMode, Termination};
use invigil_test_support::language;
use std::sync::Arc;

/// Each call continues the sequence; every so often its value is too large, so that a reaction is due.
const NEXT: &str = "initialization { N = 0 }
state init accepting {
    transition { event Race.hit(before: int) { return before == N } success { N = N + 1 } init failure lost }
}
state lost non-accepting";
const OFTEN: &str = "initialization { N = 0 }
state init accepting {
    transition { event Race.hit(before: int) { return N < 2500 } success { N = N + 1 } init failure { N = 0 } much }
}
state much non-accepting { transition { event Race.hit(before: int) success init } }";

/// Runs the program under properties. Returns the number of stops, of events, and of steps of each property.
fn run(properties: &[&str], no_stepping: bool) -> (usize, u64, Vec<u64>) {
    let mut catalog = EventCatalog::default();
    let automata = properties.iter().map(|text| Arc::new(language::property("race", text, &mut catalog)));
    let automata = automata.collect();
    let mut launch = launch("Race", &["20000", "5000"]);
    launch.no_stepping = no_stepping;
    let target = JavaTarget::launch(&launch).expect("it starts");
    let mut session =
        Session::new(Box::new(target), automata, catalog, Vec::new(), SessionOptions::default());
    let started = session.start().expect("it starts");
    assert!(started.outcome.is_none(), "{:?}", started.outcome);
    let mut stops = 0;
    loop {
        match session.run(&ResumeMode::Continue).expect("it runs") {
            RunOutcome::Suspended(_) => stops += 1,
            outcome => {
                assert_eq!(outcome, RunOutcome::Ended(Termination::Exited(0)));
                break;
            }
        }
    }
    assert_eq!(printed(&launch), "total 60000\n");
    let report = session.report();
    (stops, report.events, report.properties.iter().map(|property| property.steps).collect())
}

#[test]
fn single_embedded_property_sees_all_events_in_order() {
    assert_eq!(run(&[NEXT], true), (0, 60_000, vec![60_000]));
}

#[test]
fn embedded_property_with_violations_stays_in_order() {
    let (stops, events, steps) = run(&[OFTEN], false);
    assert_eq!((stops, events, steps), (60_000 / 2502, 60_000, vec![60_000]));
}

#[test]
fn several_embedded_properties_see_all_events() {
    let (stops, events, steps) = run(&[NEXT, OFTEN], false);
    assert_eq!((stops, events, steps), (60_000 / 2502, 60_000, vec![60_000, 60_000]));
}
