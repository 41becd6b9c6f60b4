//! One property, many uses: the same run gives the same verdicts however it reaches the property. This
//! matrix grows with every subject.

use invigil_check::{Options, Quiet, check};
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_expr::value::Value;
use invigil_lang::{ltl, prop};
use invigil_monitor::automaton::{AtEnd, Automaton};
use invigil_monitor::event::{Batch, Catalog, Kind, Stamp};
use invigil_monitor::property::{Property, Recorded, Steps};
use invigil_monitor::slices::Slices;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::watch::Watch;
use invigil_semantics::{Accepting, Compose, Semantics};
use invigil_trace::{Entry, Field, Format, Input, Writer};
use proptest::prelude::*;
use std::io::Cursor;
use std::sync::Arc;

/// Properties that between them use every part of the language that matters to how events arrive.
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
    // Two slice parameters, of which events bind one, both or none; text and sets.
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
    // No slices, an unknown number of states by `return`, and a guard that may say nothing.
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
    // Formulae: slices, the past, expressions over parameters; a run of which more may come, and one that ends.
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

fn compile(text: &str) -> (Automaton, Catalog) {
    let mut catalog = Catalog::default();
    if let Some(formula) = ltl::Argument::parse(text) {
        let manner = formula.manner(SourceId(0), text);
        let (properties, problems) = ltl::parse(SourceId(0), text, formula.formula, manner);
        assert!(problems.is_empty(), "{text}\n{problems:#?}");
        let (automaton, problems) = properties[0].lower(&[], &mut catalog);
        return (automaton.unwrap_or_else(|| panic!("{text}\n{problems:#?}")), catalog);
    }
    let (property, problems) = prop::parse(SourceId(0), text);
    assert!(problems.is_empty(), "{text}\n{problems:#?}");
    let (automaton, problems) = prop::lower::lower("matrix", &property, &[], &mut catalog);
    assert!(!problems.iter().any(Diagnostic::is_error), "{text}\n{problems:#?}");
    (automaton.unwrap(), catalog)
}

/// The run as a batch in memory, as a live subject would hand it over.
fn batch(catalog: &Catalog, steps: &[Step]) -> Batch {
    let mut batch = Batch::default();
    for (line, step) in steps.iter().enumerate() {
        let Some(symbol) = catalog.find(step.name, Kind::Before) else { continue };
        let mut params = Vec::new();
        for param in &catalog.get(symbol).unwrap().params {
            params.push(match param.name.as_str() {
                "q" => Value::int(step.q),
                "x" => Value::int(step.x),
                _ => Value::short(step.s).unwrap_or_else(|| {
                    batch.text.push_str(step.s);
                    Value::text((batch.text.len() - step.s.len()) as u32, step.s.len() as u32)
                }),
            });
        }
        batch.push(symbol, &params, Stamp { time: f64::NAN, line: line as u32 });
    }
    batch
}

/// The run as a file.
fn written(format: Format, steps: &[Step]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format, &["q", "x", "s"]).unwrap();
    for step in steps {
        let params = [("q", Field::Int(step.q)), ("x", Field::Int(step.x)), ("s", Field::Str(step.s))];
        let entry = Entry {
            name: step.name,
            kind: Kind::Before,
            time: None,
            thread: None,
            program: None,
            params: &params,
        };
        writer.write(&entry).unwrap();
    }
    writer.finish().unwrap()
}

/// How often a slice entered a non-accepting state, and how many slices are in each state at the end.
type Result = (u64, Vec<u64>);

fn ending(automaton: &Automaton, slices: &Slices) -> Vec<u64> {
    (0..automaton.states.len()).map(|state| u64::from(slices.count(state as u16))).collect()
}

fn watched(automaton: &Automaton, batch: &Batch) -> Result {
    let mut watch = Watch::new(Arc::new(automaton.clone()));
    let bad = |slices: &Slices| -> Vec<_> {
        let verdict = |slice| automaton.states[usize::from(slices.state(slice))].verdict;
        slices.iter().filter(|slice| verdict(*slice) == Verdict::NonAccepting).collect()
    };
    let mut violations = 0;
    for at in 0..batch.len() {
        let before = bad(watch.slices());
        watch.apply(&batch.event(at));
        violations += bad(watch.slices()).iter().filter(|slice| !before.contains(slice)).count() as u64;
    }
    // The end may be one, too.
    let last = |slice| &automaton.states[usize::from(watch.slices().state(slice))];
    let is_bad_end =
        |slice| last(slice).at_end == AtEnd::Decided(false) && last(slice).verdict == Verdict::Undecided;
    violations += watch.slices().iter().filter(|slice| is_bad_end(*slice)).count() as u64;
    (violations, ending(automaton, watch.slices()))
}

/// Through the semantic interface: the product of the recorded run with the property.
fn as_product(automaton: &Automaton, batch: &Batch) -> Vec<u64> {
    let product = Recorded(batch).product(Property { automaton, emit: Steps });
    let mut at = product.initial().into_iter().next().unwrap();
    for _ in 0..batch.len() {
        let action = product.actions(&at).into_iter().next().unwrap();
        let next = product.execute(&at, &action).into_iter().next().unwrap();
        at = next;
    }
    ending(automaton, &at.1)
}

fn checked(automaton: &Automaton, catalog: &Catalog, file: &[u8], threads: usize, again: bool) -> Result {
    let open = || vec![Input::reader("run", Cursor::new(file.to_vec()))];
    // Small blocks, so that even a short run has many.
    let trace = invigil_trace::Options { threads, block: 64, ..invigil_trace::Options::default() };
    let options = Options { again, limit: 1_000, trace, ..Options::default() };
    let outcome = check(std::slice::from_ref(automaton), catalog, open, &options, &mut Quiet);
    let property = &outcome.properties[0];
    assert!(property.failure.is_none() && property.missing.is_empty());
    assert_eq!(outcome.findings.len() as u64, property.violations);
    for finding in &outcome.findings {
        let last = finding.path.last().map(|step| step.verdict);
        assert_eq!(last, Some(if finding.at_end { Verdict::Undecided } else { Verdict::NonAccepting }));
    }
    let count = |name: &str| {
        property.states.iter().find(|(known, _, _)| known == name).map_or(0, |(_, _, count)| *count)
    };
    (property.violations, automaton.states.iter().map(|state| count(&state.name)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_way_gives_the_same_verdicts(steps in proptest::collection::vec(step(), 0..60)) {
        for text in PROPERTIES {
            let (automaton, catalog) = compile(text);
            let batch = batch(&catalog, &steps);
            let (violations, states) = watched(&automaton, &batch);
            prop_assert_eq!(&as_product(&automaton, &batch), &states);
            // Reports leave out the root of a sliced property.
            let mut reported = states.clone();
            if !automaton.slice_on.is_empty() {
                reported[usize::from(automaton.initial)] -= 1;
            }
            for format in [Format::JsonLines, Format::Csv, Format::Line] {
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
fn a_violation_is_seen_though_its_slice_is_forgotten() {
    let text = "slice on q
        state init accepting { transition { event free(q) success bad } }
        state bad non-accepting final";
    let (automaton, catalog) = compile(text);
    let steps = [Step { name: "free", q: 1, x: 0, s: "a" }];
    let batch = batch(&catalog, &steps);
    let product = Recorded(&batch).product(Property { automaton: &automaton, emit: Steps });
    let start = product.initial().into_iter().next().unwrap();
    let action = product.actions(&start).into_iter().next().unwrap();
    let end = product.execute(&start, &action).into_iter().next().unwrap();
    assert!(!product.is_accepting(&start) && product.is_accepting(&end));
    let file = written(Format::Line, &steps);
    assert_eq!(checked(&automaton, &catalog, &file, 1, true).0, 1);
}

/// With several slice parameters, a slice that took no transition may still be what a later one is copied
/// from: no event that could create one may be left out, whatever other slices there are.
#[test]
fn unrelated_slices_change_nothing() {
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
