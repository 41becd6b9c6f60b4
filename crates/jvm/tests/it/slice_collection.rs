//! A program that creates very many objects: slices of collected objects are dropped, and the verdicts are the same.

use crate::common::classes;
use invigil_jvm::{JavaTarget, Launch, Stream};
use invigil_monitor::event::EventCatalog;
use invigil_session::{Listener, MessageSource, RunOutcome, Session, SessionOptions};
use invigil_target::ResumeMode;
use invigil_test_support::language;
use std::sync::Arc;

/// No bee flies twice.
const BEES: &str = "
slice on bee
state init accepting { transition { after event Swarm.Bee.new(this as bee) success born } }
state born accepting { transition { event Swarm.Bee.fly(this as bee) success flies } }
state flies accepting {
    transition { event Swarm.Bee.land(this as bee) success born }
    transition { event Swarm.Bee.fly(this as bee) success twice }
}
state twice non-accepting
";

/// No number is counted twice; numbers are no objects, though there are objects with the same numbers.
const NUMBERS: &str = "
slice on id
state init accepting { transition { event Swarm.count(id) success once } }
state once accepting { transition { event Swarm.count(id) success twice } }
state twice non-accepting
";

struct Hears(bool);

impl Listener for Hears {
    fn message(&mut self, _: MessageSource, line: &str) {
        panic!("{line}");
    }

    fn wants_events(&self) -> bool {
        self.0
    }
}

/// What came of a property: its violations, the slices that there were, and how many of them ended in each state.
type Told = (u64, u64, Vec<(String, u64)>);

/// Runs the program. Also returns the largest number of slices at a stop.
#[track_caller]
fn run(options: &[&str], bees: u32, outside: bool) -> (Vec<Told>, usize) {
    let mut catalog = EventCatalog::default();
    let properties = [("bees", BEES), ("numbers", NUMBERS)]
        .map(|(name, text)| Arc::new(language::property(name, text, &mut catalog)));
    let mut launch = Launch::new("java")
        .args(options.iter().copied())
        .args(["-cp"])
        .args([classes()])
        .args(["app.Swarm".to_owned(), bees.to_string()]);
    launch.stdout = Stream::Null;
    let target = JavaTarget::launch(&launch).expect("it starts");
    let mut session =
        Session::new(Box::new(target), properties.to_vec(), catalog, Vec::new(), SessionOptions::default());
    session.set_listener(Box::new(Hears(outside)));
    let mut most = 0;
    loop {
        let outcome = session.run(&ResumeMode::Continue).expect("it runs");
        most = most.max(session.monitors().map(|watch| watch.slices().len()).sum());
        match outcome {
            RunOutcome::Suspended(_) => {}
            RunOutcome::Ended(_) => break,
            outcome => panic!("{outcome:?}"),
        }
    }
    let report = session.report();
    let reported = report.properties.iter().map(|property| {
        let states = property.states.iter().map(|(state, _, count)| (state.clone(), *count));
        (property.violations, property.slices, states.collect())
    });
    (reported.collect(), most)
}

const SMALL: [&str; 3] = ["-Xmx24m", "-Xmn8m", "-XX:+UseSerialGC"];
/// A machine that never collects anything.
const LAZY: [&str; 3] = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xmx300m"];

fn expected(bees: u64) -> Vec<Told> {
    let state = |name: &str, count| (name.to_owned(), count);
    vec![
        (4, bees, vec![state("born", bees / 2 - 4), state("flies", bees / 2), state("twice", 4)]),
        (20, 20, vec![state("twice", 20)]),
    ]
}

#[test]
fn embedded_monitors_drop_slices_of_two_million_objects() {
    let (story, most) = run(&SMALL, 2_000_000, false);
    assert_eq!(story, expected(2_000_000));
    assert!(most < 200_000, "{most}");
}

#[test]
fn session_monitors_drop_slices_of_collected_objects() {
    let (story, most) = run(&SMALL, 100_000, true);
    assert_eq!(story, expected(100_000));
    // The youngest objects fit into the heap: some ten thousand.
    assert!(most < 50_000, "{most}");
}

#[test]
fn collecting_slices_preserves_verdicts() {
    let (story, most) = run(&LAZY, 20_000, true);
    assert_eq!(story, expected(20_000));
    assert!(most > 20_000, "{most}");
    let (story, most) = run(&LAZY, 200_000, false);
    assert_eq!(story, expected(200_000));
    assert!(most > 200_000, "{most}");
}
