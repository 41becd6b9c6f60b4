//! Monitors that step inside the program see every event, in the one order that there is, whichever thread it is of.

use crate::common::{launch, printed};
use invigil_expr::diag::SourceId;
use invigil_jvm::Target;
use invigil_lang::prop;
use invigil_monitor::event::Catalog;
use invigil_session::subject::{Ending, Resume};
use invigil_session::{Options, Outcome, Session};
use std::sync::Arc;

/// Each call is the next one; and, so that someone has to react, every so often it is too much.
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

/// Runs the program under properties; gives how often it stopped, and the events, and the steps of each property.
fn run(properties: &[&str], unstepped: bool) -> (usize, u64, Vec<u64>) {
    let mut catalog = Catalog::default();
    let automata = properties.iter().map(|text| {
        let (property, problems) = prop::parse(SourceId(0), text);
        let (automaton, more) = prop::lower::lower("race", &property, &[], &mut catalog);
        Arc::new(automaton.unwrap_or_else(|| panic!("{problems:?} {more:?}")))
    });
    let automata = automata.collect();
    let mut launch = launch("Race", &["20000", "5000"]);
    launch.unstepped = unstepped;
    let target = Target::launch(&launch).expect("it starts");
    let mut session = Session::new(Box::new(target), automata, catalog, Vec::new(), Options::default());
    let started = session.start().expect("it starts");
    assert!(started.outcome.is_none(), "{:?}", started.outcome);
    let mut stops = 0;
    loop {
        match session.run(&Resume::Continue).expect("it runs") {
            Outcome::Suspended(_) => stops += 1,
            outcome => {
                assert_eq!(outcome, Outcome::Ended(Ending::Exited(0)));
                break;
            }
        }
    }
    assert_eq!(printed(&launch), "total 60000\n");
    let report = session.report();
    (stops, report.events, report.properties.iter().map(|property| property.steps).collect())
}

#[test]
fn a_property_alone() {
    assert_eq!(run(&[NEXT], true), (0, 60_000, vec![60_000]));
}

#[test]
fn a_property_that_stops_the_program_now_and_then() {
    let (stops, events, steps) = run(&[OFTEN], false);
    assert_eq!((stops, events, steps), (60_000 / 2502, 60_000, vec![60_000]));
}

#[test]
fn several_properties() {
    let (stops, events, steps) = run(&[NEXT, OFTEN], false);
    assert_eq!((stops, events, steps), (60_000 / 2502, 60_000, vec![60_000, 60_000]));
}
