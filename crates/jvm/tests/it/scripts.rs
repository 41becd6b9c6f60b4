//! PEDL and MEDL over live programs: the results that the examples document.

use crate::common::{compiled, printed};
use invigil_expr::diag::{SourceId, Sources, Span};
use invigil_jvm::{ClassPath, JavaTarget, Launch, Stream, constant, instrument};
use invigil_lang::mac::load;
use invigil_lang::medl::{self, MethodNaming, snapshots};
use invigil_lang::{pedl, report};
use invigil_monitor::event::{EventCatalog, EventId};
use invigil_session::{Listener, MessageSource, RunOutcome, Session, SessionOptions, SuspendReason};
use invigil_target::ResumeMode;
use invigil_target::prelude::*;
use invigil_test_support::language;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// What came of a run.
pub(crate) struct Story {
    /// What was printed by the scripts.
    pub(crate) said: Vec<String>,
    /// Each violation: the property or alarm, and the innermost frame as `app.Queue.push:12`.
    pub(crate) violations: Vec<String>,
    /// What the program printed.
    pub(crate) printed: String,
}

/// A program that is about to run under scripts.
pub(crate) struct Begun {
    pub(crate) session: Session,
    pub(crate) catalog: EventCatalog,
    names: Vec<String>,
    said: Rc<RefCell<Vec<String>>>,
    launch: Launch,
}

struct Said(Rc<RefCell<Vec<String>>>);

impl Listener for Said {
    fn message(&mut self, _: MessageSource, line: &str) {
        self.0.borrow_mut().push(line.to_owned());
    }
}

pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Runs a program of an example under two of its scripts.
#[track_caller]
pub(crate) fn run(name: &str, pedl: &str, medl: &str, command: &[&str]) -> Story {
    let folder = example(name);
    let read = |file: &str| fs::read_to_string(folder.join(file)).expect("the script is there");
    watched(&compiled(&folder, &["-g"]), &read(pedl), &read(medl), command)
}

/// Runs a program under scripts.
#[track_caller]
pub(crate) fn watched(classes: &Path, pedl: &str, medl: &str, command: &[&str]) -> Story {
    watched_in(&classes.display().to_string(), pedl, medl, command)
}

/// The same, with a whole class path.
#[track_caller]
pub(crate) fn watched_in(class_path: &str, pedl: &str, medl: &str, command: &[&str]) -> Story {
    begin(class_path, pedl, medl, None, command).run()
}

/// Prepares a program that runs under scripts, and maybe a scenario.
#[track_caller]
pub(crate) fn begin(
    class_path: &str,
    pedl: &str,
    medl: &str,
    scenario: Option<&str>,
    command: &[&str],
) -> Begun {
    let path = ClassPath::new(class_path, Path::new("/"));
    let (loaded, problems) =
        load((SourceId(0), pedl), (SourceId(1), medl), &|name| constant(&path, name).map(Into::into));
    let loaded = loaded.unwrap_or_else(|| {
        let mut sources = Sources::default();
        sources.add("pedl", pedl);
        sources.add("medl", medl);
        panic!("{}", report::render(&sources, &problems, false))
    });
    let mut catalog = EventCatalog::default();
    let watched =
        medl::connect(&loaded.pedl, &loaded.medl, MethodNaming::WithTypes, false, &mut catalog).unwrap();
    let mut launch = Launch::new("java")
        .args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xverify:all", "-cp"])
        .args([class_path])
        .args(command.iter().copied());
    launch.stdout = Stream::File(tempfile::tempfile().unwrap().into());
    let mut target = JavaTarget::launch(&launch).expect("it starts");
    let unknown = target.prepare(&catalog).expect("it can be prepared");
    assert!(unknown.iter().all(|unknown| unknown.pending), "{unknown:?}");
    let names: Vec<String> = watched.automata.iter().map(|automaton| automaton.name.clone()).collect();
    let automata: Vec<_> = watched.automata.into_iter().map(Arc::new).collect();
    let scenarios = scenario.map(|text| {
        let known: Vec<_> = automata.iter().map(|automaton| &**automaton).collect();
        Arc::new(language::scenario("test", text, &known))
    });
    let scenarios = scenarios.into_iter().collect();
    let known = catalog.clone();
    let mut session = Session::new(Box::new(target), automata, catalog, scenarios, SessionOptions::default());
    session.set_scripts(vec![watched.plan]).unwrap();
    let said = Rc::new(RefCell::new(Vec::new()));
    session.set_listener(Box::new(Said(Rc::clone(&said))));
    Begun { session, catalog: known, names, said, launch }
}

impl Begun {
    /// Runs it to its end.
    #[track_caller]
    pub(crate) fn run(self) -> Story {
        let Begun { mut session, names, said, launch, .. } = self;
        let mut violations = Vec::new();
        loop {
            match session.run(&ResumeMode::Continue).expect("it runs") {
                RunOutcome::Suspended(reasons) => {
                    let frames = session.target().frames(1).expect("it stands still");
                    let frame = frames.first().map_or(String::new(), |frame| {
                        format!("{}:{}", frame.function, frame.line.as_ref().map_or(0, |line| line.line))
                    });
                    for reason in reasons {
                        let SuspendReason::StateChange(change) = reason else { panic!("{reason:?}") };
                        violations.push(format!("{} at {frame}", names[change.property]));
                    }
                }
                RunOutcome::Ended(_) => break,
                outcome => panic!("{outcome:?}"),
            }
        }
        drop(session);
        let printed = printed(&launch);
        Story { said: Rc::try_unwrap(said).unwrap().into_inner(), violations, printed }
    }
}

fn counted(story: &Story, words: &str) -> usize {
    story.said.iter().filter(|line| *line == words).count()
}

#[test]
fn fields_and_methods_are_checked() {
    let story = run("first", "first.pedl", "first.medl", &["A"]);
    assert_eq!(story.violations, ["happened at A.main:9", "happened at A.main:12"]);
    let story = run("first", "values.pedl", "values.medl", &["A"]);
    assert_eq!(story.violations, [""; 0]);
    assert_eq!(story.said, ["10", "1", "2", "3", "right"]);
}

#[test]
fn method_arguments_and_field_changes_are_checked() {
    assert_eq!(run("railroad", "railroad.pedl", "railroad.medl", &["RRC", "good"]).violations, [""; 0]);
    let late = run("railroad", "railroad.pedl", "railroad.medl", &["RRC", "late"]);
    assert_eq!(late.violations, ["safeRRC at RRC.second:45"]);
    let early = run("railroad", "railroad.pedl", "railroad.medl", &["RRC", "early"]);
    assert_eq!(early.violations, ["safeRRC at Gate.gu:16"]);
}

#[test]
fn scoped_calls_and_writes_are_checked() {
    let good = run("savings", "savings.pedl", "savings.medl", &["Savings"]);
    assert_eq!(good.violations, [""; 0]);
    let largest: Vec<&str> =
        good.said.iter().map(String::as_str).filter(|line| line.ends_with(".0")).collect();
    assert_eq!((largest.len(), largest[0], largest[11]), (12, "3000.0", "19850.0"), "{:?}", good.said);
    let uncle = run("savings", "savings.pedl", "savings.medl", &["Savings", "uncle"]);
    assert_eq!(uncle.violations.len(), 1, "{:?}", uncle.violations);
    assert!(uncle.violations[0].starts_with("large at WireTransfer."), "{:?}", uncle.violations);
    assert!(uncle.violations[0].ends_with(":4"), "{:?}", uncle.violations);
    assert_eq!(counted(&uncle, "26220.0"), 1, "{:?}", uncle.said);
}

#[test]
fn locals_of_many_threads_are_checked() {
    // How many there are does not depend on the real time, as the alarm does.
    let counting = "ReqSpec  import event MAValert(), init(int);  var int n;
                    MAValert -> { n' = defined(n) ? n + 1 : 1; print n'; }  End";
    let folder = example("mav");
    let pedl = fs::read_to_string(folder.join("mav.pedl")).unwrap();
    for (mode, count) in [("good", "261"), ("bad", "1345")] {
        let story =
            watched(&compiled(&folder, &["-g"]), &pedl, counting, &["Console", mode, "12", "130", "1"]);
        assert_eq!(story.said.last().map(String::as_str), Some(count), "{mode}");
    }
}

#[test]
fn stock_client_raises_its_alarms() {
    let story = |medl: &str, command: &[&str]| run("stock", "stock.pedl", medl, command).violations;
    assert_eq!(story("stock.medl", &["Client", "both", "1"]), [""; 0]);
    assert_eq!(story("stock.medl", &["Client", "silent", "1"]), ["wrongFT at Client.processOldData:80"]);
    assert_eq!(story("corrected.medl", &["Client", "silent", "1"]), [""; 0]);
    assert_eq!(
        story("corrected.medl", &["Client", "impatient", "1"]),
        ["wrongFT at Client.processOldData:80"]
    );
}

#[test]
fn program_constants_are_available() {
    // Without ticks it would go unnoticed that the gate is stuck.
    for mode in ["good", "slow", "recall"] {
        assert_eq!(run("gate-java", "gate.pedl", "quick.medl", &["Main", mode]).violations, [""; 0]);
    }
    // Where no line causes the violation, the thread is stopped where it sleeps.
    let slow = run("gate-java", "ticks.pedl", "quick.medl", &["Main", "slow"]).violations;
    assert_eq!(slow.len(), 1, "{slow:?}");
}

#[test]
fn aliases_and_changed_references_are_tracked() {
    let story = run("aliases", "swap.pedl", "swap.medl", &["A"]);
    assert_eq!(story.violations, [""; 0]);
    assert_eq!(story.said, ["1", "1", "10", "10", "10", "swapped"]);
}

#[test]
fn growing_list_is_tracked() {
    let story = |mode| run("aliases", "sorted.pedl", "sorted.medl", &["Node", mode]).violations;
    assert_eq!(story("good"), [""; 0]);
    assert_eq!(story("unsorted"), ["second at Node.<init>:11"]);
    assert_eq!(story("late"), ["third at Node.insert:15"]);
}

#[test]
fn members_of_all_instances_are_tracked() {
    for pedl in ["sieve.pedl", "value.pedl", "delta.pedl"] {
        let story = run("sieve", pedl, "sieve.medl", &["SieveMain", "100010"]);
        assert_eq!(story.violations, [""; 0]);
        assert_eq!(story.said.last().map(String::as_str), Some("9593"), "{pedl}: {:?}", story.said);
    }
    let pedl = "MonScr  export event tested, found;
        monobj int SieveMain.sa.numTested;  monobj int SieveMain.sa.numPrimes;
        event tested = update(SieveMain.sa.numTested);  event found = update(SieveMain.sa.numPrimes);  End";
    let medl = r#"ReqSpec  import event tested, found;  tested -> { print "tested"; }  found -> { print "found"; }  End"#;
    let story = watched(&compiled(&example("sieve"), &["-g"]), pedl, medl, &["SieveMain", "1000"]);
    assert_eq!((counted(&story, "tested"), counted(&story, "found")), (999, 168));
}

#[test]
fn members_of_static_field_are_tracked() {
    let simplex = run("pendulum", "ip.pedl", "ip.medl", &["CHARON", "simplex", "9"]);
    assert_eq!(simplex.violations, [""; 0]);
    let deaf = run("pendulum", "ip.pedl", "ip.medl", &["CHARON", "deaf", "2"]);
    assert_eq!(deaf.violations, ["fail at Controllers.sense:26"]);
    let expected = [
        "An expreiment controller is changed into a safe controller!",
        "A safe controller is changed into a basic controller!",
        "The cart have reached the goal with rod standing upright!",
    ];
    let said: Vec<&String> = simplex.said.iter().filter(|line| line.len() > 5).collect();
    assert_eq!(said, expected);
}

/// What is woven on disk tells the same as what is woven when it is loaded.
#[test]
fn offline_instrumentation_equals_load_time_weaving() {
    let cases = [
        ("aliases", "swap", "A", "1 1 10 10 10 swapped", ""),
        ("aliases", "sorted", "Node unsorted", "", "second at Node.<init>:11"),
        ("railroad", "railroad", "RRC late", "", "safeRRC at RRC.second:45"),
        ("first", "values", "A", "10 1 2 3 right", ""),
    ];
    for (name, scripts, command, said, violations) in cases {
        let (pedl, medl) = (format!("{scripts}.pedl"), format!("{scripts}.medl"));
        let folder = example(name);
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        let classes = compiled(&folder, &["-g"]);
        let path = ClassPath::new(".", &classes);
        let (script, _) = pedl::parse(SourceId(0), &read(&pedl));
        let recogniser = pedl::lower(&script, &|name| constant(&path, name).map(Into::into)).0.unwrap();
        let woven = tempfile::tempdir().unwrap();
        let mut catalog = EventCatalog::default();
        snapshots(&recogniser, MethodNaming::WithTypes, &mut catalog);
        let done = instrument(&catalog, &path, woven.path()).unwrap();
        assert_eq!((done.skipped.len(), done.unresolved.len()), (0, 0), "{done:?}");
        assert!(!done.classes.is_empty() && done.classes.iter().all(|class| class.after > class.before));
        let class_path = format!("{}:{}", woven.path().display(), classes.display());
        let command: Vec<&str> = command.split(' ').collect();
        let story = watched_in(&class_path, &read(&pedl), &read(&medl), &command);
        assert_eq!(
            (story.violations.join(" "), story.said.join(" ")),
            (violations.to_owned(), said.to_owned())
        );
    }
}

#[test]
fn missing_entities_are_reported() {
    let classes = compiled(&example("first"), &["-g"]);
    let path = ClassPath::new(".", &classes);
    let text = "MonScr  export event e, f, g;  monobj int A.xx;  monmeth void B.run();  monobj int A.main(String[]).lokal;
                event e = update(A.xx);  event f = startM(B.run());  event g = update(A.main(String[]).lokal);  End";
    let (script, _) = pedl::parse(SourceId(0), text);
    let recogniser = pedl::lower(&script, &|_| None).0.unwrap();
    let woven = tempfile::tempdir().unwrap();
    let mut catalog = EventCatalog::default();
    let spans = snapshots(&recogniser, MethodNaming::WithTypes, &mut catalog);
    let done = instrument(&catalog, &path, woven.path()).unwrap();
    assert_eq!(done.classes, []);
    let reported = |at: &str| {
        let is_it = |(_, span): &&(EventId, Span)| text[span.start as usize..].starts_with(at);
        let (event, _) = spans.iter().find(is_it).unwrap_or_else(|| panic!("{spans:?}"));
        let unresolved = done.unresolved.iter().find(|unresolved| unresolved.event == *event);
        let unresolved = unresolved.unwrap_or_else(|| panic!("{done:?}"));
        (unresolved.reason.as_str(), unresolved.help.as_str())
    };
    assert_eq!(reported("A.xx"), ("the class `A` has no field `xx`", "did you mean `x`?"));
    assert_eq!(reported("B.run()").0, "no class `B` is on the class path");
    assert!(reported("A.main").0.contains("no local variable `lokal`"));
}
