//! The evaluator alone: snapshots of one variable, and conditions of several lengths.

use super::programs::Programs;
use super::scripts::{Reduction, condition};
use super::{Outcome, Size};
use crate::native::requirements::Requirements;
use crate::{print_table, timed};
use invigil_expr::diag::SourceId;
use invigil_lang::pedl;
use invigil_monitor::mac::{Recogniser, Snapshot, Value, ValueFilter, VariableId};
use std::hint::black_box;

const LENGTHS: [usize; 4] = [1, 50, 100, 150];
/// Required maximum for a snapshot and 150 operators, in nanoseconds.
const SNAPSHOT: f64 = 1_000.0;

/// Time of the thesis' prototype in microseconds.
fn thesis(length: usize) -> &'static str {
    match length {
        50 => "124 us",
        150 => "360 us",
        _ => "-",
    }
}

/// Nanoseconds of processor time per snapshot, minimum of several rounds.
pub(crate) fn measure(length: usize, abstracts: bool, snapshots: u64) -> Outcome<f64> {
    let reduction = if abstracts { Reduction::Value } else { Reduction::None };
    let text = condition("Test.monitoredX", length, reduction);
    let (script, diagnostics) = pedl::parse(SourceId(0), &text);
    let (lowered, more) = pedl::lower(&script, &|_| None);
    let parts = lowered.ok_or_else(|| format!("the script has errors: {diagnostics:?} {more:?}"))?.parts;
    let mut filters: Vec<ValueFilter> = match abstracts {
        true => parts.abstractions().iter().map(ValueFilter::new).collect(),
        false => Vec::new(),
    };
    let mut recogniser = Recogniser::new(parts).map_err(|unfit| unfit.to_string())?;
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let (time, reported) = timed(|| -> Outcome<u64> {
            let mut reported = 0;
            for at in 0..snapshots {
                let value = Value::Int(black_box(at as i32));
                if filters.first_mut().is_some_and(|filter| !filter.passes(value)) {
                    continue;
                }
                let what = Snapshot::Update(VariableId(0), value);
                let group = recogniser.snapshot(what, 0).map_err(|misfit| misfit.to_string())?;
                reported += u64::from(!group.is_empty());
            }
            Ok(reported)
        });
        if reported? > 2 {
            return Err("the condition changes more often than it should".into());
        }
        best = best.min(time.cpu.as_secs_f64() * 1e9 / snapshots as f64);
    }
    Ok(best)
}

pub(crate) fn run(_: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    println!("the evaluator alone: nanoseconds of processor time per snapshot, minimum of the rounds");
    let mut rows = vec![["operators", "all", "valueabstract", "thesis"].map(String::from).to_vec()];
    let snapshots = size.pick(200_000, 1_000_000);
    let (mut all, mut reduced) = (Vec::new(), Vec::new());
    for length in LENGTHS {
        all.push(measure(length, false, snapshots)?);
        reduced.push(measure(length, true, 10 * snapshots)?);
        let last = |list: &[f64]| list.last().map_or(String::new(), |nanos| format!("{nanos:.1}"));
        rows.push(vec![length.to_string(), last(&all), last(&reduced), thesis(length).into()]);
    }
    print_table(&rows);
    println!();
    requirements.at_most("a snapshot and 150 operators", all[3], SNAPSHOT, " ns");
    requirements.at_most("150 operators beside 50 (linear is 3)", all[3] / all[1], 3.3, " times");
    requirements.at_most(
        "150 operators beside one, value abstraction",
        reduced[3] / reduced[0],
        1.2,
        " times",
    );
    Ok(())
}
