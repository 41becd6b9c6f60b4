//! Invigil on the workload: the same calls that `invigil check` makes.

use crate::workload::{Op, PROPERTY, Workload};
use crate::{Row, hand};
use invigil_benches::best_of;
use invigil_check::{CheckOptions, NoopListener, check};
use invigil_expr::diag::SourceId;
use invigil_expr::value::Value;
use invigil_lang::prop;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{EventBatch, EventCatalog, EventKind, EventMeta};
use invigil_monitor::observer::{Observer, TransitionTaken};
use invigil_monitor::slices::SliceTable;
use invigil_monitor::{Monitor, Scratch};
use invigil_trace::Input;
use std::ops::ControlFlow;
use std::path::Path;

/// Number of measurements, of which the fastest counts.
const ROUNDS: usize = 5;

/// The compiled property and the events that it needs.
pub(crate) fn property() -> (Automaton, EventCatalog) {
    let mut catalog = EventCatalog::default();
    let (property, diagnostics) = prop::parse(SourceId(0), PROPERTY);
    let (automaton, more) = prop::lower::lower("queue", &property, &[], &mut catalog);
    match automaton {
        Some(automaton) => (automaton, catalog),
        None => panic!("the property of the benchmark has errors: {diagnostics:?} {more:?}"),
    }
}

pub(crate) fn run(workload: &Workload) -> Vec<Row> {
    let events = workload.ops.len() as u64;
    let expected = Some(hand::violations(&workload.ops));
    let files = [("JSON Lines", &workload.jsonl), ("CSV", &workload.csv), ("lines", &workload.lines)];
    let mut rows: Vec<Row> = Vec::new();
    // Interleaved, so that a temporary load does not affect only one of them.
    for _ in 0..ROUNDS {
        for threads in [1, 2] {
            for (input, path) in files {
                let (time, violations) = best_of(1, || file(path, threads));
                let s = if threads > 1 { "s" } else { "" };
                let tool = format!("invigil, {threads} thread{s}");
                let row = Row { tool, input, events, time, violations: Some(violations), expected };
                match rows.iter_mut().find(|best| best.tool == row.tool && best.input == row.input) {
                    Some(best) if best.time.wall > row.time.wall => *best = row,
                    Some(_) => {}
                    None => rows.push(row),
                }
            }
        }
    }
    rows.insert(0, memory(workload));
    rows
}

fn file(path: &Path, threads: usize) -> u64 {
    let (automaton, catalog) = property();
    let trace = invigil_trace::ReadOptions { threads, ..invigil_trace::ReadOptions::default() };
    let options = CheckOptions { trace, ..CheckOptions::default() };
    let outcome = check(&[automaton], &catalog, || vec![Input::file(path)], &options, &mut NoopListener);
    outcome.violation_count()
}

struct Violations<'a>(&'a Automaton, u64);

impl Observer for Violations<'_> {
    #[inline(always)]
    fn transition_taken(&mut self, _: &SliceTable, taken: TransitionTaken) {
        if taken.from != taken.to && self.0.states[usize::from(taken.to)].name == "sink" {
            self.1 += 1;
        }
    }
}

/// Events that are already in memory.
fn memory(workload: &Workload) -> Row {
    let (automaton, catalog) = property();
    let batch = batch(&workload.ops, &catalog);
    let (time, violations) = best_of(ROUNDS, || {
        let mut scratch = Scratch::default();
        let mut violations = Violations(&automaton, 0);
        let mut slices = automaton.start(&mut scratch, &mut violations);
        automaton.run(&mut slices, &mut scratch, &batch, 0..batch.len(), &mut violations, |_, _, _, _| {
            ControlFlow::Continue(())
        });
        violations.1
    });
    Row {
        tool: "invigil, 1 thread".into(),
        input: "memory",
        events: batch.len() as u64,
        time,
        violations: Some(violations),
        expected: Some(hand::violations(&workload.ops)),
    }
}

/// The operations as the monitors see them.
pub(crate) fn batch(ops: &[Op], catalog: &EventCatalog) -> EventBatch {
    let symbol = |name| catalog.find(name, EventKind::Before).unwrap_or_else(|| panic!("no event {name}"));
    let (new, push, pop) = (symbol("queue_new"), symbol("queue_push"), symbol("queue_pop"));
    let mut batch = EventBatch::default();
    for op in ops {
        let stamp = EventMeta { time: f64::NAN, line: 0 };
        match *op {
            Op::New { queue, size } => {
                batch.push(new, &[Value::int(queue as i64), Value::int(size as i64)], stamp);
            }
            Op::Push { queue } => batch.push(push, &[Value::int(queue as i64)], stamp),
            Op::Pop { queue } => batch.push(pop, &[Value::int(queue as i64)], stamp),
        }
    }
    batch
}
