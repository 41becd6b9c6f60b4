//! Properties: compiling, explaining, drawing, and stepping on some events.

use invigil_expr::diag::{Diagnostic, Sources};
use invigil_expr::value::Value;
use invigil_lang::prop::lower::lower;
use invigil_lang::{prop, report};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{EventBatch, EventCatalog, EventMeta, ParamType};
use invigil_monitor::observer::{NoopObserver, Observer};
use invigil_monitor::slices::SliceTable;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use std::ops::ControlFlow;

/// Separates a property from a file of functions in an input.
const SEPARATOR: &str = "\n%%\n";

/// Number of events.
const EVENTS: usize = 24;

/// No input causes a panic. A property that compiles can be explained and drawn. Its result on a sequence of events
/// is the same event by event and in a block, after a restore, and whether or not its output is observed.
pub(crate) fn run(data: &[u8]) {
    let input = String::from_utf8_lossy(data);
    let (text, functions) = input.split_once(SEPARATOR).unwrap_or((&input, ""));
    let mut sources = Sources::default();
    let file = sources.add("fuzz.prop", text);
    let functions_file = sources.add("functions.py", functions);
    let (property, diagnostics) = prop::parse(file, text);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return;
    }
    let mut catalog = EventCatalog::default();
    let (automaton, diagnostics) = lower("fuzz", &property, &[(functions_file, functions)], &mut catalog);
    report::render(&sources, &diagnostics, false);
    let Some(automaton) = automaton else {
        assert!(diagnostics.iter().any(Diagnostic::is_error), "no automaton and no error");
        return;
    };
    let graph = prop::explain::explain(&property, &automaton, &catalog, &sources).graph();
    assert!(graph.to_dot().starts_with("digraph") && graph.to_svg().contains("<svg"));
    check_runs(&automaton, &events(&catalog, data));
}

/// Events of the property, with values from small domains, so that slices recur.
fn events(catalog: &EventCatalog, data: &[u8]) -> EventBatch {
    let mut batch = EventBatch::default();
    batch.text.push_str("a text that is too long for an inline value");
    let mut number = data.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut next = |below: usize| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) as usize % below.max(1)
    };
    for line in 0..EVENTS {
        let at = next(catalog.len());
        let Some((id, decl)) = catalog.iter().nth(at) else { break };
        let text_length = batch.text.len() as u32;
        let params: Vec<Value> = decl
            .params
            .iter()
            .map(|param| match (param.ty, next(12)) {
                (_, 0) => Value::UNSET,
                (Some(ParamType::Int), n) => Value::int(n as i64 % 3),
                (Some(ParamType::Float), n) => Value::float(n as f64 / 2.0),
                (Some(ParamType::Bool), n) => Value::bool(n % 2 == 0),
                (Some(ParamType::Str), n) if n % 2 == 0 => Value::text(0, text_length),
                (Some(ParamType::Str), _) => Value::short("c").unwrap_or(Value::NONE),
                (None, 1) => Value::NONE,
                (None, 2) => Value::float(-0.0),
                (None, 3) => Value::float(f64::NAN),
                (None, 4) => Value::int(i64::MIN),
                (None, 5) => Value::text(2, text_length - 2),
                (None, n) => Value::int(n as i64 % 3),
            })
            .collect();
        batch.push(id, &params, EventMeta { time: line as f64, line: line as u32 });
    }
    batch
}

fn check_runs(automaton: &Automaton, batch: &EventBatch) {
    let (end, verdicts) = one_by_one(automaton, batch, &mut NoopObserver);
    let (observed, observed_verdicts) = one_by_one(automaton, batch, &mut OutputObserver);
    // Output counts against the budget, so one of the two may exceed it.
    if end.fault().is_none() && observed.fault().is_none() {
        assert_eq!(verdicts, observed_verdicts, "observing the output changes the verdicts");
        assert!(end == observed, "observing the output changes the state");
    }
    let (mut scratch, mut block_verdicts) = (Scratch::default(), Vec::new());
    let mut state = automaton.start(&mut scratch, &mut NoopObserver);
    automaton.run(&mut state, &mut scratch, batch, 0..batch.len(), &mut NoopObserver, |_, _, _, verdict| {
        block_verdicts.push(verdict);
        ControlFlow::Continue(())
    });
    assert_eq!(verdicts, block_verdicts, "a block of events yields different verdicts");
    assert!(end == state, "a block of events leads to a different state");
}

/// Steps on all events, with one restore of a checkpoint.
fn one_by_one<O: Observer>(
    automaton: &Automaton,
    batch: &EventBatch,
    observer: &mut O,
) -> (SliceTable, Vec<Option<Verdict>>) {
    let (mut scratch, mut verdicts) = (Scratch::default(), Vec::new());
    let mut state = automaton.start(&mut scratch, observer);
    let middle = batch.len() / 2;
    step_range(automaton, &mut state, &mut scratch, (batch, 0..middle), observer, &mut verdicts);
    let mut restored = state.clone();
    let mut again = verdicts.clone();
    step_range(automaton, &mut state, &mut scratch, (batch, middle..batch.len()), observer, &mut verdicts);
    step_range(automaton, &mut restored, &mut scratch, (batch, middle..batch.len()), observer, &mut again);
    assert_eq!(verdicts, again, "different verdicts after a restore");
    assert!(state == restored, "a different state after a restore");
    (state, verdicts)
}

fn step_range<O: Observer>(
    automaton: &Automaton,
    state: &mut SliceTable,
    scratch: &mut Scratch,
    (batch, range): (&EventBatch, std::ops::Range<usize>),
    observer: &mut O,
    verdicts: &mut Vec<Option<Verdict>>,
) {
    for at in range {
        let event = batch.event(at);
        if automaton.needs_event(state, event.id) {
            verdicts.push(automaton.step(state, scratch, &event, observer));
        }
    }
}

/// Observer of all output.
struct OutputObserver;

impl Observer for OutputObserver {
    fn wants_output(&self) -> bool {
        true
    }
}
