//! Cost of an event at a probe, compared with a trap, GDB and other tools in the same run.

use super::gdb::{self, Watch};
use super::peers::{Figure, PEERS, Peer};
use super::programs::{Programs, alone, take_number};
use super::properties::{QUEUE_CALLS, QUEUE_CALLS_AND_ENDS, QUEUES, QUEUES_BEGIN_AND_END};
use super::requirements::Requirements;
use super::{Outcome, Size, ours};
use crate::print_table;
use invigil_native::ProbeMode;

/// How a row is measured.
struct Row {
    name: &'static str,
    queues: u64,
    /// The property and its instrumentation; none for the program alone.
    watched: Option<(&'static str, ProbeMode)>,
    /// In each thread.
    calls: u64,
    threads: u64,
}

pub(crate) const MANY: u64 = 100_000;

const ROWS: [Row; 11] = [
    Row { name: "alone, 64 queues", queues: 64, watched: None, calls: 50_000_000, threads: 1 },
    Row { name: "alone, 100,000 queues", queues: MANY, watched: None, calls: 50_000_000, threads: 1 },
    Row {
        name: "probe, calls counted",
        queues: 64,
        watched: Some((QUEUE_CALLS, ProbeMode::Inline)),
        calls: 20_000_000,
        threads: 1,
    },
    Row {
        name: "probe, calls and returns counted",
        queues: 64,
        watched: Some((QUEUE_CALLS_AND_ENDS, ProbeMode::Inline)),
        calls: 20_000_000,
        threads: 1,
    },
    Row {
        name: "probe, 64 queues",
        queues: 64,
        watched: Some((QUEUES, ProbeMode::Inline)),
        calls: 20_000_000,
        threads: 1,
    },
    Row {
        name: "probe, 100,000 queues",
        queues: MANY,
        watched: Some((QUEUES, ProbeMode::Inline)),
        calls: 20_000_000,
        threads: 1,
    },
    Row {
        name: "probe, 64 queues, entry and exit",
        queues: 64,
        watched: Some((QUEUES_BEGIN_AND_END, ProbeMode::Inline)),
        calls: 20_000_000,
        threads: 1,
    },
    Row {
        name: "trap, 64 queues",
        queues: 64,
        watched: Some((QUEUES, ProbeMode::Trap)),
        calls: 100_000,
        threads: 1,
    },
    Row {
        name: "trap, 100,000 queues",
        queues: MANY,
        watched: Some((QUEUES, ProbeMode::Trap)),
        calls: 100_000,
        threads: 1,
    },
    Row { name: "alone, two threads", queues: 64, watched: None, calls: 50_000_000, threads: 2 },
    Row {
        name: "probe, two threads with 32 queues each",
        queues: 64,
        watched: Some((QUEUES, ProbeMode::Inline)),
        calls: 20_000_000,
        threads: 2,
    },
];

/// The row of the program alone with two threads.
const TWO: usize = 9;

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    println!("cost of an event at a probe: nanoseconds per call by the program's clock, minimum of the runs");
    let runs = if size == Size::Quick { 3 } else { 5 };
    let mut figures = Vec::new();
    for row in &ROWS {
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            best = best.min(measure(programs, row, size)?);
        }
        figures.push(best);
    }
    let mut peers = Vec::new();
    for peer in &PEERS {
        peers.push(measure_peer(programs, peer, size)?);
    }
    let gdb = gdb_each(programs)?;
    let mut rows = vec![vec!["how".to_owned(), "ns a call".to_owned(), "more than alone".to_owned()]];
    let alone_with = |queues: u64| if queues == MANY { figures[1] } else { figures[0] };
    let alone_of = |row: &Row| if row.threads == 1 { alone_with(row.queues) } else { figures[TWO] };
    for (row, figure) in ROWS.iter().zip(&figures) {
        rows.push(vec![
            row.name.to_owned(),
            format!("{figure:.1}"),
            format!("{:.1}", figure - alone_of(row)),
        ]);
    }
    for (peer, figure) in PEERS.iter().zip(&peers) {
        rows.push(match figure {
            Ok(each) => {
                let more = each - alone_with(peer.queues);
                vec![peer.name.to_owned(), format!("{each:.1}"), format!("{more:.1}")]
            }
            Err(why) => vec![peer.name.to_owned(), "-".to_owned(), why.clone()],
        });
    }
    if let Some(gdb) = gdb {
        rows.push(vec![
            "GDB, breakpoint in Python, argument read".to_owned(),
            format!("{gdb:.0}"),
            String::new(),
        ]);
    }
    print_table(&rows);
    println!();
    let more = |at: usize| figures[at] - alone_of(&ROWS[at]);
    requirements.at_most("probe and a step, 64 queues", more(4), 60.0, " ns");
    requirements.at_most("probe and a step, 100,000 queues", more(5), 200.0, " ns");
    requirements.at_most("entry and exit, more than entry", more(3) - more(2), 20.0, " ns");
    for (peer, figure) in PEERS.iter().zip(&peers).filter(|(peer, _)| peer.is_equal) {
        let ours = more(if peer.queues == MANY { 5 } else { 4 });
        let what = format!("cheaper than {}", peer.name);
        match figure {
            Ok(each) => {
                requirements.at_least(&what, (each - alone_with(peer.queues)) / ours.max(0.1), 1.0, " times")
            }
            Err(why) => requirements.unknown(&format!("{what}: {why}")),
        }
    }
    match gdb {
        Some(gdb) => {
            requirements.at_least("cheaper than GDB with Python", gdb / more(4).max(0.1), 1_000.0, " times")
        }
        None => requirements.unknown("cheaper than GDB with Python: gdb with Python is not installed"),
    }
    Ok(())
}

fn measure(programs: &Programs, row: &Row, size: Size) -> Outcome<f64> {
    let calls = if size == Size::Quick { row.calls / 10 } else { row.calls };
    let (program, result) = (programs.path("queues"), programs.result());
    let [each, queues, threads] = [calls, row.queues, row.threads].map(|number| number.to_string());
    let args = [each, queues, result.display().to_string(), threads];
    match row.watched {
        None => alone(&program, &args)?,
        Some((property, probes)) => {
            let watched = ours::watch(&program, &args, property, probes)?;
            let ends = property == QUEUES_BEGIN_AND_END || property == QUEUE_CALLS_AND_ENDS;
            let expected = if ends { 2 } else { 1 } * (row.threads * calls + row.queues);
            if watched.steps != expected {
                return Err(format!(
                    "{}: {} steps, and there were {expected} events",
                    row.name, watched.steps
                ));
            }
        }
    }
    take_number(&result)
}

/// Minimum of several runs, or why there is none.
fn measure_peer(programs: &Programs, peer: &Peer, size: Size) -> Outcome<Figure> {
    let mut best = peer.measure(programs, size)?;
    for _ in 1..3 {
        let Ok(known) = best else { break };
        best = peer.measure(programs, size)?.map(|each| each.min(known));
    }
    Ok(best)
}

/// Nanoseconds of a call under GDB, if it is installed.
fn gdb_each(programs: &Programs) -> Outcome<Option<f64>> {
    const CALLS: u64 = 2_000;
    if gdb::version().is_none() {
        return Ok(None);
    }
    let (program, result) = (programs.path("ticks"), programs.result());
    let args = [CALLS.to_string(), "0".to_owned(), result.display().to_string()];
    gdb::watch(&program, &args, Watch::ReadVar)?;
    take_number(&result).map(Some)
}
