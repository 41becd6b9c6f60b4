//! Cost of checkpoints [Jak19 §6.1.8, table 6.1]: a program with much memory, together with its monitor.

use super::programs::Programs;
use super::properties::READY;
use super::requirements::Requirements;
use super::{Outcome, Size, on_own_thread, ours};
use crate::print_table;
use invigil_native::ProbeMode;
use invigil_session::Session;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode};
use std::time::{Duration, Instant};

/// Megabytes, and the milliseconds of Jak19 for a checkpoint and a restore, with images in memory.
const TABLE: [(u64, f64, f64); 11] = [
    (1, 20.5, 46.9),
    (5, 24.3, 49.0),
    (10, 23.7, 43.8),
    (25, 27.4, 52.4),
    (50, 34.8, 55.6),
    (75, 43.3, 67.8),
    (100, 49.4, 76.6),
    (250, 91.8, 108.6),
    (500, 173.2, 179.6),
    (750, 234.7, 245.4),
    (1000, 301.8, 309.8),
];

/// Page size of a program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pages {
    /// 4 KiB.
    Small,
    /// 2 MiB, if the system provides huge pages.
    Huge,
}

/// Times of several checkpoints and restores.
pub(crate) struct Series {
    /// Checkpoint of the program alone.
    program: Vec<Duration>,
    /// Checkpoint of program and monitor.
    joint: Vec<Duration>,
    /// Restore of program and monitor.
    restore: Vec<Duration>,
}

fn minimum(times: &[Duration]) -> f64 {
    times.iter().min().map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    let rounds = 10;
    println!("checkpoints (6.1.8): milliseconds, minimum and median of {rounds}; [Jak19] uses CRIU, images");
    println!(
        "  in memory. `program` is the program alone, the others are with the monitor; `first` is the first"
    );
    println!("  of a session; `thp` is with huge pages");
    let head =
        ["MB", "thesis", "program", "first", "joint", "median", "thp", "thesis", "restore", "median", "thp"];
    let mut table = vec![head.map(String::from).to_vec()];
    let free = available_megabytes();
    for (megabytes, thesis, thesis_restore) in TABLE {
        let is_skipped = size == Size::Quick && ![1, 10, 100, 1000].contains(&megabytes);
        if is_skipped {
            continue;
        }
        // Copies share unmodified pages; reserve memory for modified ones.
        if free < megabytes + megabytes / 2 + 200 {
            println!("  {megabytes} MB skipped: only {free} MB are free");
            continue;
        }
        let small = measure(programs, megabytes, Pages::Small, rounds)?;
        let huge = measure(programs, megabytes, Pages::Huge, rounds)?;
        let millis = |figure: f64| format!("{figure:.3}");
        table.push(vec![
            megabytes.to_string(),
            format!("{thesis:.1}"),
            millis(minimum(&small.program)),
            millis(small.joint.first().map_or(0.0, |time| time.as_secs_f64() * 1e3)),
            millis(minimum(&small.joint)),
            millis(median(&small.joint)),
            millis(minimum(&huge.joint)),
            format!("{thesis_restore:.1}"),
            millis(minimum(&small.restore)),
            millis(median(&small.restore)),
            millis(minimum(&huge.restore)),
        ]);
        let limit = match megabytes {
            1 => 0.3,
            1000 => 30.0,
            _ => continue,
        };
        requirements.at_most(&format!("a checkpoint at {megabytes} MB"), minimum(&small.joint), limit, " ms");
        requirements.at_most(
            &format!("a restore at {megabytes} MB"),
            minimum(&small.restore),
            2.0 * limit,
            " ms",
        );
    }
    print_table(&table);
    println!();
    Ok(())
}

/// Free memory of the system.
fn available_megabytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Takes and restores checkpoints of a program that has written to this much memory.
pub(crate) fn measure(programs: &Programs, megabytes: u64, pages: Pages, rounds: usize) -> Outcome<Series> {
    let page_size = if pages == Pages::Small { "small" } else { "huge" };
    let args = [megabytes.to_string(), page_size.to_owned()];
    on_own_thread(|| {
        let mut session = ours::session(&programs.path("memory"), &args, READY, ProbeMode::Trap)?;
        session
            .target()
            .set_breakpoint(Owner::User, &BreakpointSpec::new(BreakpointKind::Location("ready".into())))
            .map_err(|error| error.to_string())?;
        let mut series = Series { program: Vec::new(), joint: Vec::new(), restore: Vec::new() };
        for _ in 0..rounds {
            round(&mut session, &mut series)?;
        }
        session.kill().map_err(|error| error.to_string())?;
        Ok(series)
    })
}

/// Resumes, takes a checkpoint, resumes, restores, and checks that the state is the same.
fn round(session: &mut Session, series: &mut Series) -> Outcome {
    let message = |error: invigil_target::TargetError| error.to_string();
    run_to_breakpoint(session)?;
    let started = Instant::now();
    let alone =
        session.target().checkpoints().map_err(|why| why.to_string())?.take_checkpoint().map_err(message)?;
    series.program.push(started.elapsed());
    session
        .target()
        .checkpoints()
        .map_err(|why| why.to_string())?
        .drop_checkpoint(alone.id)
        .map_err(message)?;

    let started = Instant::now();
    let kept = session.take_checkpoint("").map_err(message)?;
    series.joint.push(started.elapsed());
    let then = (session.event_count(), session.target().evaluate("reached").map_err(message)?);
    run_to_breakpoint(session)?;
    run_to_breakpoint(session)?;
    let later = (session.event_count(), session.target().evaluate("reached").map_err(message)?);
    if later == then {
        return Err(format!("the program makes no progress: {then:?}"));
    }
    let started = Instant::now();
    session.restore_checkpoint(kept).map_err(message)?;
    series.restore.push(started.elapsed());
    let now = (session.event_count(), session.target().evaluate("reached").map_err(message)?);
    if now != then {
        return Err(format!("restored to {now:?} instead of {then:?}"));
    }
    session.drop_checkpoint(kept).map_err(message)
}

fn run_to_breakpoint(session: &mut Session) -> Outcome {
    match session.run(&ResumeMode::Continue) {
        Ok(invigil_session::RunOutcome::Breakpoints(_)) => Ok(()),
        Ok(other) => Err(format!("unexpected stop of the program: {other:?}")),
        Err(error) => Err(error.to_string()),
    }
}
