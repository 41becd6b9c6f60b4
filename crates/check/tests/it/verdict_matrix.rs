//! Every host computes the same verdicts for the same run. Each new subject is added to this matrix.

use invigil_check::{CheckOptions, NoopListener, check};
use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, EndVerdict};
use invigil_monitor::event::{EventBatch, EventCatalog, EventKind, EventMeta};
use invigil_monitor::interactive::InteractiveMonitor;
use invigil_monitor::property::{PropertySemantics, RecordedRun, RecordedSteps};
use invigil_monitor::slices::SliceTable;
use invigil_monitor::verdict::Verdict;
use invigil_semantics::{Accepting, Compose, Semantics};
use invigil_test_support::cases;
use invigil_test_support::language::compile;
use invigil_trace::{FieldValue, Format, Input, TraceEvent, TraceWriter};
use proptest::prelude::*;
use std::io::Cursor;
use std::sync::Arc;

/// Properties that together use every language feature that depends on how events arrive.
const PROPERTIES: [&str; 5] = [
    // One slice parameter, counters, final states.
    "slice on q
     initialization { N = 0 }
     state init accepting {
         transition { event new(q, x: int) { N = x } success ready }
     }
     state ready accepting {
         transition { event use(q) { return N > 0 } success { N = N - 1 } ready failure bad }
         transition { event free(q) success gone }
     }
     state gone accepting final
     state bad non-accepting {
         transition { event new(q, x: int) { N = x } success ready }
     }",
    // Two slice parameters, of which events bind one, both or none; strings and sets.
    "slice on q, s
     initialization { seen = set() }
     state init {
         transition { event new(q, x) success open }
     }
     state open accepting {
         transition { event use(q, s) { return s not in seen } success { seen.add(s) } open failure again }
         transition { event tick() success { seen = set() } open }
         transition { event free(q) success init }
     }
     state again non-accepting {
         transition { event tick() success open }
     }",
    // No slices, target states computed by `return`, and a guard that may return nothing.
    "initialization { open = {} }
     state init accepting {
         transition {
             event new(q, x) { if x < 3: return q not in open }
             success {
                 open[q] = x
                 if len(open) > 3: return \"many\"
             }
             failure twice
         }
         transition { event free(q) success { open.pop(q, None) } init }
     }
     state many import transitions from state init
     state twice non-accepting import transitions from state init",
    // Formulae: slices, past operators, expressions over parameters; infinite- and finite-trace semantics.
    "ltl[q]:G(use -> O new) & G(new -> \"x != 4\") & G(free -> X !free)",
    "ltlf:(G(new -> X(use R !new)) | F(tick & X \"len(s) > 1\")) & G(free -> F tick)",
];

#[derive(Clone, Debug)]
struct Step {
    name: &'static str,
    q: i64,
    x: i64,
    s: &'static str,
}

const TEXTS: [&str; 4] = ["a", "b", "a text too long for a value", "another text too long for a value"];

fn step() -> impl Strategy<Value = Step> {
    let names = proptest::sample::select(&["new", "use", "use", "free", "tick", "other"][..]);
    (names, 0i64..4, 0i64..5, 0usize..4).prop_map(|(name, q, x, s)| Step { name, q, x, s: TEXTS[s] })
}

/// The run as a batch in memory, as a live target delivers it.
fn batch(catalog: &EventCatalog, steps: &[Step]) -> EventBatch {
    let mut batch = EventBatch::default();
    for (line, step) in steps.iter().enumerate() {
        let Some(symbol) = catalog.find(step.name, EventKind::Before) else { continue };
        let mut params = Vec::new();
        for param in &catalog.get(symbol).unwrap().params {
            params.push(match param.name.as_str() {
                "q" => Value::int(step.q),
                "x" => Value::int(step.x),
                _ => Value::of_text(step.s, &mut batch.text),
            });
        }
        batch.push(symbol, &params, EventMeta { time: f64::NAN, line: line as u32 });
    }
    batch
}

/// The run as a trace file.
fn written(format: Format, steps: &[Step]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), format, &["q", "x", "s"]).unwrap();
    for step in steps {
        let params =
            [("q", FieldValue::Int(step.q)), ("x", FieldValue::Int(step.x)), ("s", FieldValue::Str(step.s))];
        let entry = TraceEvent {
            name: step.name,
            kind: EventKind::Before,
            time: None,
            thread: None,
            program: None,
            params: &params,
        };
        writer.write(&entry).unwrap();
    }
    writer.finish().unwrap()
}

/// Number of violations, and number of slices per state at the end.
type Result = (u64, Vec<u64>);

fn ending(automaton: &Automaton, slices: &SliceTable) -> Vec<u64> {
    (0..automaton.states.len()).map(|state| u64::from(slices.count(state as u16))).collect()
}

fn watched(automaton: &Automaton, batch: &EventBatch) -> Result {
    let mut watch = InteractiveMonitor::new(Arc::new(automaton.clone()));
    let bad = |slices: &SliceTable| -> Vec<_> {
        let verdict = |slice| automaton.states[usize::from(slices.state(slice))].verdict;
        slices.iter().filter(|slice| verdict(*slice) == Verdict::NonAccepting).collect()
    };
    let mut violations = 0;
    for at in 0..batch.len() {
        let before = bad(watch.slices());
        watch.apply(&batch.event(at));
        violations += bad(watch.slices()).iter().filter(|slice| !before.contains(slice)).count() as u64;
    }
    // The end of the run may be a violation, too.
    let last = |slice| &automaton.states[usize::from(watch.slices().state(slice))];
    let is_bad_end =
        |slice| last(slice).at_end == EndVerdict::Decided(false) && last(slice).verdict == Verdict::Undecided;
    violations += watch.slices().iter().filter(|slice| is_bad_end(*slice)).count() as u64;
    (violations, ending(automaton, watch.slices()))
}

/// Through the semantic interface: the product of the recorded run with the property.
fn as_product(automaton: &Automaton, batch: &EventBatch) -> Vec<u64> {
    let product = RecordedRun(batch).product(PropertySemantics { automaton, emit: RecordedSteps });
    let mut at = product.initial().into_iter().next().unwrap();
    for _ in 0..batch.len() {
        let action = product.actions(&at).into_iter().next().unwrap();
        let next = product.execute(&at, &action).into_iter().next().unwrap();
        at = next;
    }
    ending(automaton, &at.1)
}

fn checked(
    automaton: &Automaton,
    catalog: &EventCatalog,
    file: &[u8],
    threads: usize,
    can_reread: bool,
) -> Result {
    let open = || vec![Input::reader("run", Cursor::new(file.to_vec()))];
    // Small blocks, so that even short runs have several.
    let trace =
        invigil_trace::ReadOptions { threads, chunk_bytes: 64, ..invigil_trace::ReadOptions::default() };
    let options = CheckOptions { can_reread, limit: 1_000, trace, ..CheckOptions::default() };
    let outcome = check(std::slice::from_ref(automaton), catalog, open, &options, &mut NoopListener);
    let property = &outcome.properties[0];
    assert!(property.failure.is_none() && property.skipped.is_empty());
    assert_eq!(outcome.violations.len() as u64, property.violations);
    for violation in &outcome.violations {
        let last = violation.path.last().map(|step| step.verdict);
        assert_eq!(last, Some(if violation.at_end { Verdict::Undecided } else { Verdict::NonAccepting }));
    }
    let count = |name: &str| {
        property.states.iter().find(|(known, _, _)| known == name).map_or(0, |(_, _, count)| *count)
    };
    (property.violations, automaton.states.iter().map(|state| count(&state.name)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_hosts_compute_the_same_verdicts(steps in proptest::collection::vec(step(), 0..60)) {
        for text in PROPERTIES {
            let (automaton, catalog) = compile(text);
            let batch = batch(&catalog, &steps);
            let (violations, states) = watched(&automaton, &batch);
            prop_assert_eq!(&as_product(&automaton, &batch), &states);
            // Reports omit the root of a sliced property.
            let mut reported = states.clone();
            if !automaton.slice_on.is_empty() {
                reported[usize::from(automaton.initial)] -= 1;
            }
            for format in [Format::JsonLines, Format::Csv, Format::PlainLines] {
                let file = written(format, &steps);
                for (threads, again) in [(1, true), (2, true), (1, false)] {
                    let result = checked(&automaton, &catalog, &file, threads, again);
                    prop_assert_eq!(&result, &(violations, reported.clone()), "{} {}", format, text);
                }
            }
        }
    }
}

#[test]
fn violation_of_a_collected_slice_is_reported() {
    let text = "slice on q
        state init accepting { transition { event free(q) success bad } }
        state bad non-accepting final";
    let (automaton, catalog) = compile(text);
    let steps = [Step { name: "free", q: 1, x: 0, s: "a" }];
    let batch = batch(&catalog, &steps);
    let product =
        RecordedRun(&batch).product(PropertySemantics { automaton: &automaton, emit: RecordedSteps });
    let start = product.initial().into_iter().next().unwrap();
    let action = product.actions(&start).into_iter().next().unwrap();
    let end = product.execute(&start, &action).into_iter().next().unwrap();
    assert!(!product.is_accepting(&start) && product.is_accepting(&end));
    let file = written(Format::PlainLines, &steps);
    assert_eq!(checked(&automaton, &catalog, &file, 1, true).0, 1);
}

/// With several slice parameters, a slice without transitions may be the parent of a later slice: no event that could
/// create a slice may be omitted, whatever other slices exist.
#[test]
fn unrelated_slices_do_not_change_verdicts() {
    let text = "slice on q, x
        state init accepting { transition { event new(x) success waiting } }
        state waiting accepting { transition { event use(q, x) success bad } }
        state bad non-accepting";
    let (automaton, catalog) = compile(text);
    let step = |name, q, x| Step { name, q, x, s: "a" };
    let steps = [step("use", 1, 1), step("new", 0, 1), step("use", 2, 1)];
    let mut more = vec![step("new", 0, 99)];
    more.extend(steps.clone());
    let violations = |steps: &[Step]| {
        let file = written(Format::JsonLines, steps);
        checked(&automaton, &catalog, &file, 1, true).0
    };
    assert_eq!(violations(&steps), violations(&more));
}
