//! One property, many uses: a live run has the same verdicts as the same run in memory, and as its own recording. The
//! rest of the matrix is in `crates/check/tests/it/verdict_matrix.rs`.

use invigil_check::{CheckOptions, NoopListener, check};
use invigil_expr::value::Value;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{EventBatch, EventCatalog, EventKind, EventMeta};
use invigil_monitor::interactive::InteractiveMonitor;
use invigil_monitor::slices::SliceTable;
use invigil_native::{Launch, NativeTarget, ProbeMode, Stream};
use invigil_session::{Recorder, RunOutcome, Session, SessionOptions};
use invigil_target::{ResumeMode, Termination};
use invigil_test_support::Folder;
use invigil_test_support::language::{self, compile};
use invigil_trace::{Format, Input};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Makes the calls that the lines of a file name: `name q x s`.
const DRIVER: &str = r#"
#include <stdio.h>
#include <string.h>
#define CALL(name) __attribute__((noinline)) void name(long q, long x, char *s) { __asm__ volatile("" :: "r"(q), "r"(x), "r"(s) : "memory"); }
CALL(make) CALL(use) CALL(drop) CALL(tick) CALL(other)
int main(int argc, char **argv) {
    FILE *run = fopen(argv[1], "r");
    char name[8], s[64];
    long q, x;
    while (fscanf(run, "%7s %ld %ld %63[^\n]", name, &q, &x, s) == 4) {
        if (!strcmp(name, "make")) make(q, x, s);
        if (!strcmp(name, "use")) use(q, x, s);
        if (!strcmp(name, "drop")) drop(q, x, s);
        if (!strcmp(name, "tick")) tick(q, x, s);
        if (!strcmp(name, "other")) other(q, x, s);
    }
    return 0;
}
"#;

const PROPERTIES: [&str; 5] = [
    "slice on q
     initialization { N = 0 }
     state init accepting {
         transition { event make(q, x: int) { N = x } success ready }
     }
     state ready accepting {
         transition { event use(q) { return N > 0 } success { N = N - 1 } ready failure bad }
         transition { event drop(q) success gone }
     }
     state gone accepting final
     state bad non-accepting {
         transition { event make(q, x: int) { N = x } success ready }
     }",
    "slice on q, s
     initialization { seen = set() }
     state init {
         transition { event make(q, x) success open }
     }
     state open accepting {
         transition { event use(q, s: str) { return s not in seen } success { seen.add(s) } open failure again }
         transition { event tick() success { seen = set() } open }
         transition { event drop(q) success init }
     }
     state again non-accepting {
         transition { event tick() success open }
     }",
    "initialization { open = {} }
     state init accepting {
         transition {
             event make(arg 1 as q, arg 2 as x) { if x < 3: return q not in open }
             success {
                 open[q] = x
                 if len(open) > 3: return \"many\"
             }
             failure twice
         }
         transition { event drop(q) success { open.pop(q, None) } init }
     }
     state many import transitions from state init
     state twice non-accepting import transitions from state init",
    "ltl[q]:G(use -> O make) & G(make -> \"x != 4\") & G(drop -> X !drop)",
    "ltlf:(G(make -> X(use R !make)) | F(tick & X \"x > 2\")) & G(\"event drop(arg 2 as x)\" -> F tick)",
];

const TEXTS: [&str; 4] = ["a", "b", "a text too long for a value", "another text too long for a value"];

#[derive(Clone, Debug)]
struct Step {
    name: &'static str,
    q: i64,
    x: i64,
    s: &'static str,
}

fn step() -> impl Strategy<Value = Step> {
    let names = proptest::sample::select(&["make", "use", "use", "drop", "tick", "other"][..]);
    (names, 0i64..4, 0i64..5, 0usize..4).prop_map(|(name, q, x, s)| Step { name, q, x, s: TEXTS[s] })
}

fn states(automaton: &Automaton, slices: &SliceTable) -> Vec<u64> {
    (0..automaton.states.len()).map(|state| u64::from(slices.count(state as u16))).collect()
}

/// The run in memory.
fn watched(automaton: &Arc<Automaton>, catalog: &EventCatalog, steps: &[Step]) -> Vec<u64> {
    let mut batch = EventBatch::default();
    for step in steps {
        let Some(symbol) = catalog.find(step.name, EventKind::Before) else { continue };
        let mut params = Vec::new();
        for param in &catalog.get(symbol).unwrap().params {
            params.push(match param.name.as_str() {
                "q" => Value::int(step.q),
                "x" => Value::int(step.x),
                _ => Value::of_text(step.s, &mut batch.text),
            });
        }
        batch.push(symbol, &params, EventMeta { time: f64::NAN, line: 0 });
    }
    let mut watch = InteractiveMonitor::new(Arc::clone(automaton));
    for at in 0..batch.len() {
        watch.apply(&batch.event(at));
    }
    states(automaton, watch.slices())
}

/// The run of a real program, and its recording, for which monitors step in the debugger. Without a recording they
/// are embedded in the target, where there may be probes.
fn live(
    program: &Path,
    dir: &Path,
    automaton: &Arc<Automaton>,
    catalog: &EventCatalog,
    (steps, probes, records): (&[Step], ProbeMode, bool),
) -> (Vec<u64>, u64) {
    let mut lines = String::new();
    for step in steps {
        writeln!(lines, "{} {} {} {}", step.name, step.q, step.x, step.s).unwrap();
    }
    std::fs::write(dir.join("run"), lines).unwrap();
    let mut launch = Launch::new(program).arg(dir.join("run"));
    launch.stdout = Stream::Null;
    launch.probes = probes;
    let target = NativeTarget::launch(&launch).unwrap();
    // An empty scenario: run to the end, whatever the verdicts.
    let scenario = Arc::new(language::scenario("none", "", &[automaton]));
    let properties = vec![Arc::clone(automaton)];
    let mut session = Session::new(
        Box::new(target),
        properties,
        catalog.clone(),
        vec![scenario],
        SessionOptions::default(),
    );
    if records {
        let out = Box::new(File::create(dir.join("trace.jsonl")).unwrap());
        session.set_recorder(Recorder::new(out, Format::JsonLines, catalog).unwrap());
    }
    session.start().unwrap();
    let outcome = session.run(&ResumeMode::Continue).unwrap();
    assert!(matches!(outcome, RunOutcome::Ended(Termination::Exited(0))), "{outcome:?}");
    let violations = session.violations().len() as u64;
    (states(automaton, session.monitor(0).unwrap().slices()), violations)
}

/// The recording, checked.
fn checked(dir: &Path, automaton: &Automaton, catalog: &EventCatalog) -> u64 {
    let open = || vec![Input::reader("trace.jsonl", File::open(dir.join("trace.jsonl")).unwrap())];
    let one = std::slice::from_ref(automaton);
    let outcome = check(
        one,
        catalog,
        open,
        &CheckOptions { limit: 1_000, ..CheckOptions::default() },
        &mut NoopListener,
    );
    outcome.properties[0].violations
}

#[test]
fn live_run_and_recorded_run_have_same_verdicts() {
    let dir = Folder::new();
    let mut runner = TestRunner::deterministic();
    let runs = proptest::collection::vec(step(), 0..60);
    for optimised in ["-O0", "-O2"] {
        let program = dir.c(DRIVER, &["-g", optimised]);
        for text in PROPERTIES {
            let (automaton, catalog) = compile(text);
            let automaton = Arc::new(automaton);
            for _ in 0..8 {
                let steps = runs.new_tree(&mut runner).unwrap().current();
                let run = |probes, records| {
                    live(&program, dir.path(), &automaton, &catalog, (&steps, probes, records))
                };
                let (states, violations) = run(ProbeMode::Trap, true);
                assert_eq!(states, watched(&automaton, &catalog, &steps), "{text}\n{steps:#?}");
                assert_eq!(violations, checked(dir.path(), &automaton, &catalog), "{text}\n{steps:#?}");
                assert_eq!(run(ProbeMode::Inline, false), (states, violations), "{text}\n{steps:#?}");
            }
        }
    }
}
