//! The sweep of section 7.4: `TestMain` with gaps of 100 to a million bytecodes between two writes, under scripts with
//! and without reductions, and with conditions of several lengths.

use super::figures::{self, command, java};
use super::ours::Watching;
use super::programs::Programs;
use super::scripts::{REQUIREMENT, Reduction, condition};
use super::{Outcome, Size};
use crate::native::plot::{self, Curve, Drawing};
use crate::native::requirements::Requirements;
use crate::print_table;
use std::ffi::OsString;

/// Bytecodes of one run without its events, and the number of repetitions.
const WORK: u64 = 60_000_000;
const TIMES: u64 = 5;

/// Bytecodes between two writes.
const GAPS: [u64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// The thesis' figures at a gap of 100: its prototype evaluates in another process on a faster machine.
const CONFIGURATIONS: [(&str, Reduction, usize, Option<f64>); 11] = [
    ("none", Reduction::None, 1, Some(13.0)),
    ("delta", Reduction::Delta, 1, Some(11.0)),
    ("value", Reduction::Value, 1, Some(10.0)),
    ("ticks of 20 ms", Reduction::Ticks, 1, None),
    ("lock", Reduction::Lock, 1, None),
    ("none, 50 operators", Reduction::None, 50, None),
    ("none, 100 operators", Reduction::None, 100, None),
    ("none, 150 operators", Reduction::None, 150, Some(609.0)),
    ("value, 50 operators", Reduction::Value, 50, Some(10.0)),
    ("value, 100 operators", Reduction::Value, 100, Some(10.0)),
    ("value, 150 operators", Reduction::Value, 150, Some(10.0)),
];

const DRAWING: Drawing<'_> = Drawing {
    file: "jvm-sweep.svg",
    title: "slowdown against the bytecodes between two writes",
    gaps: &[
        (100.0, "100"),
        (1_000.0, "1,000"),
        (10_000.0, "10,000"),
        (100_000.0, "100,000"),
        (1_000_000.0, "1,000,000"),
    ],
};

fn program(programs: &Programs, gap: u64) -> Vec<OsString> {
    // About the same work for each gap.
    let events = (WORK / gap).max(20);
    let classes = ["-cp".into(), programs.path("classes")];
    command(&classes, "Sweep work", &[events, gap, TIMES])
}

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    println!("the sweep of 7.4: slowdown by the processor time of the program's thread");
    println!("  the thesis' prototype sends events to another machine");
    let gaps = &GAPS[..size.pick(3, GAPS.len())];
    let mut head: Vec<String> = vec!["bytecodes between writes".into()];
    head.extend(gaps.iter().map(u64::to_string));
    head.push("thesis, 100".into());
    let mut rows = vec![head];
    let mut alone = Vec::new();
    for gap in gaps {
        alone.push(figures::read(&java(&program(programs, *gap))?)?.cpu);
    }
    let nanos = alone.iter().map(|nanos| format!("{nanos:.0} ns"));
    rows.push(["alone".to_owned()].into_iter().chain(nanos).collect());
    let mut curves = Vec::new();
    let mut first = Vec::new();
    for (name, reduction, operators, thesis) in CONFIGURATIONS {
        let watching = Watching::scripts(&condition("Work.monitoredX", operators, reduction), REQUIREMENT)?;
        let mut points = Vec::new();
        for (gap, alone) in gaps.iter().zip(&alone) {
            let watched = watching.run(program(programs, *gap))?;
            points.push((*gap as f64, figures::read(&watched.output)?.cpu / alone));
        }
        let mut row = vec![name.to_owned()];
        row.extend(points.iter().map(|(_, slower)| format!("{slower:.2}x")));
        row.push(thesis.map_or("-".to_owned(), |times| format!("{times}x")));
        rows.push(row);
        first.push((operators, reduction, points.first().map_or(1.0, |(_, slower)| *slower)));
        curves.push(Curve { name: name.to_owned(), points });
    }
    print_table(&rows);
    match plot::write(&DRAWING, &curves) {
        Ok(path) => println!("  plot: {}\n", path.display()),
        Err(error) => println!("  cannot write the plot: {error}\n"),
    }
    let at = |operators, reduction| {
        first
            .iter()
            .find(|(length, how, _)| (*length, *how) == (operators, reduction))
            .map_or(1.0, |each| each.2)
    };
    let grows = at(150, Reduction::Value) / at(1, Reduction::Value);
    requirements.at_most("150 operators beside one, under value abstraction", grows, 1.25, " times");
    Ok(())
}
