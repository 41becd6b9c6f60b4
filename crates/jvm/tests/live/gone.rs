//! A program that makes very many objects: what monitors remember of those that are no more is forgotten, and the verdicts
//! are the same.

use crate::common::classes;
use invigil_expr::diag::SourceId;
use invigil_jvm::{Launch, Stream, Target};
use invigil_lang::prop;
use invigil_monitor::event::Catalog;
use invigil_session::subject::Resume;
use invigil_session::{Listener, Options, Outcome, Session, Speaker};
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
    fn line(&mut self, _: Speaker, line: &str) {
        panic!("{line}");
    }

    fn hears_events(&self) -> bool {
        self.0
    }
}

/// What came of a property: its violations, the slices that there were, and how many of them ended in each state.
type Told = (u64, u64, Vec<(String, u64)>);

/// Runs the program; gives also the most slices that there were when it stood still.
#[track_caller]
fn run(options: &[&str], bees: u32, outside: bool) -> (Vec<Told>, usize) {
    let mut catalog = Catalog::default();
    let properties = [("bees", BEES), ("numbers", NUMBERS)].map(|(name, text)| {
        let (property, problems) = prop::parse(SourceId(0), text);
        assert!(problems.is_empty(), "{problems:#?}");
        Arc::new(prop::lower::lower(name, &property, &[], &mut catalog).0.expect("it is right"))
    });
    let mut launch = Launch::new("java")
        .args(options.iter().copied())
        .args(["-cp"])
        .args([classes()])
        .args(["app.Swarm".to_owned(), bees.to_string()]);
    launch.stdout = Stream::Null;
    let target = Target::launch(&launch).expect("it starts");
    let mut session =
        Session::new(Box::new(target), properties.to_vec(), catalog, Vec::new(), Options::default());
    session.set_listener(Box::new(Hears(outside)));
    let mut most = 0;
    loop {
        let outcome = session.run(&Resume::Continue).expect("it runs");
        most = most.max(session.watches().map(|watch| watch.slices().len()).sum());
        match outcome {
            Outcome::Suspended(_) => {}
            Outcome::Ended(_) => break,
            outcome => panic!("{outcome:?}"),
        }
    }
    let report = session.report();
    let told = report.properties.iter().map(|property| {
        let states = property.states.iter().map(|(state, _, count)| (state.clone(), *count));
        (property.violations, property.slices, states.collect())
    });
    (told.collect(), most)
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
fn two_million_objects_inside() {
    let (story, most) = run(&SMALL, 2_000_000, false);
    assert_eq!(story, expected(2_000_000));
    assert!(most < 200_000, "{most}");
}

#[test]
fn many_objects_outside() {
    let (story, most) = run(&SMALL, 100_000, true);
    assert_eq!(story, expected(100_000));
    // The youngest objects fit into the heap: some ten thousand.
    assert!(most < 50_000, "{most}");
}

#[test]
fn as_if_nothing_had_been_forgotten() {
    let (story, most) = run(&LAZY, 20_000, true);
    assert_eq!(story, expected(20_000));
    assert!(most > 20_000, "{most}");
    let (story, most) = run(&LAZY, 200_000, false);
    assert_eq!(story, expected(200_000));
    assert!(most > 200_000, "{most}");
}
