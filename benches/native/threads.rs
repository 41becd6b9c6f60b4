//! Checkpoints of multi-threaded programs: after each of ten restores from one checkpoint, the program runs until it exits,
//! with mutexes, condition variables and joins, and has the correct result.

use super::programs::{Programs, take_number};
use super::properties::TURNS;
use super::requirements::Requirements;
use super::{Outcome, Size, on_own_thread, ours};
use crate::print_table;
use invigil_native::ProbeMode;
use invigil_session::Session;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode, Termination};
use std::time::{Duration, Instant};

/// Results of ten restores from one checkpoint.
pub(crate) struct Restored {
    /// The first checkpoint of the session, which also reads the program's files.
    first: Duration,
    /// The following checkpoints at the same location, of which the last was restored.
    checkpoints: Vec<Duration>,
    restores: Vec<Duration>,
    /// Number of runs with the correct result.
    pub(crate) right: usize,
    /// The error of the first other run.
    pub(crate) error: Option<String>,
}

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    let turns = if size == Size::Quick { 200 } else { 2_000 };
    let restores = 10;
    println!(
        "checkpoints of threads that take turns (mutex, condition variable, join), {restores} restores of one"
    );
    let head = ["threads", "first ms", "checkpoint ms", "median", "restore ms", "median", "right results"];
    let mut table = vec![head.map(String::from).to_vec()];
    for threads in [2, 8, 32] {
        let mut restored = measure(programs, threads, turns, restores)?;
        restored.checkpoints.sort();
        restored.restores.sort();
        let millis = |time: Option<&Duration>| {
            time.map_or("-".into(), |time| format!("{:.3}", time.as_secs_f64() * 1e3))
        };
        table.push(vec![
            threads.to_string(),
            millis(Some(&restored.first)),
            millis(restored.checkpoints.first()),
            millis(restored.checkpoints.get(restored.checkpoints.len() / 2)),
            millis(restored.restores.first()),
            millis(restored.restores.get(restored.restores.len() / 2)),
            format!("{} of {restores}", restored.right),
        ]);
        if let Some(error) = &restored.error {
            println!("  note: with {threads} threads: {error}");
        }
        let what = format!("{threads} threads go on after each of {restores} restores: {}", restored.right);
        requirements.holds(&what, restored.right == restores);
    }
    print_table(&table);
    println!();
    Ok(())
}

/// Takes a checkpoint half-way and repeatedly runs from it until the program exits.
pub(crate) fn measure(programs: &Programs, threads: u64, turns: u64, restores: usize) -> Outcome<Restored> {
    let result = programs.result();
    let args = [threads.to_string(), turns.to_string(), result.display().to_string()];
    on_own_thread(|| {
        let message = |error: invigil_target::TargetError| error.to_string();
        let mut session = ours::session(&programs.path("threads"), &args, TURNS, ProbeMode::Trap)?;
        let halfway = BreakpointSpec::new(BreakpointKind::Location("halfway".into()));
        session.target().set_breakpoint(Owner::User, &halfway).map_err(message)?;
        match session.run(&ResumeMode::Continue).map_err(message)? {
            invigil_session::RunOutcome::Breakpoints(_) => {}
            other => return Err(format!("unexpected stop of the program: {other:?}")),
        }
        let take = |session: &mut Session| {
            let started = Instant::now();
            session.take_checkpoint("").map(|kept| (kept, started.elapsed())).map_err(message)
        };
        let (mut kept, first) = take(&mut session)?;
        let mut restored =
            Restored { first, checkpoints: Vec::new(), restores: Vec::new(), right: 0, error: None };
        for _ in 0..restores {
            session.drop_checkpoint(kept).map_err(message)?;
            let (next, time) = take(&mut session)?;
            restored.checkpoints.push(time);
            kept = next;
        }
        for _ in 0..restores {
            let started = Instant::now();
            session.restore_checkpoint(kept).map_err(message)?;
            restored.restores.push(started.elapsed());
            let outcome = session.run(&ResumeMode::Continue).map_err(message)?;
            let sum = take_number(&result);
            // The property has also observed every turn, those before the checkpoint once.
            let right = outcome == invigil_session::RunOutcome::Ended(Termination::Exited(0))
                && sum == Ok((turns * (turns - 1) / 2) as f64)
                && session.event_count() == turns;
            if right {
                restored.right += 1;
            } else if restored.error.is_none() {
                let events = session.event_count();
                restored.error = Some(format!("{outcome:?}, result {sum:?}, {events} of {turns} events"));
            }
        }
        Ok(restored)
    })
}
