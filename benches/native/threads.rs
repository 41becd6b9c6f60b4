//! Checkpoints of programs with threads: after each of ten restores from one checkpoint the program goes on
//! to its end, with its mutexes, condition variables and joins, and has the right result.

use super::asked::Asked;
use super::programs::{Programs, take_number};
use super::properties::TURNS;
use super::{Outcome, Size, on_own_thread, ours};
use crate::print_table;
use invigil_native::Probes;
use invigil_session::Session;
use invigil_session::subject::{Ending, Owner, PointSpec, Resume, What};
use std::time::{Duration, Instant};

/// What ten restores from one checkpoint came to.
pub(crate) struct Restored {
    /// The first checkpoint of the session, for which much is looked up in the program's files.
    first: Duration,
    /// Those that followed at the same place, of which the last was restored.
    checkpoints: Vec<Duration>,
    restores: Vec<Duration>,
    /// How many of the runs to the end had the right result.
    pub(crate) right: usize,
    /// What was wrong with the first of the others.
    pub(crate) trouble: Option<String>,
}

pub(crate) fn run(programs: &Programs, size: Size, asked: &mut Asked) -> Outcome {
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
        if let Some(trouble) = &restored.trouble {
            println!("  note: with {threads} threads: {trouble}");
        }
        let what = format!("{threads} threads go on after each of {restores} restores: {}", restored.right);
        asked.holds(&what, restored.right == restores);
    }
    print_table(&table);
    println!();
    Ok(())
}

/// Takes one checkpoint half-way, and runs from it to the end again and again.
pub(crate) fn measure(programs: &Programs, threads: u64, turns: u64, restores: usize) -> Outcome<Restored> {
    let result = programs.result();
    let args = [threads.to_string(), turns.to_string(), result.display().to_string()];
    on_own_thread(|| {
        let words = |trouble: invigil_session::subject::Trouble| trouble.to_string();
        let mut session = ours::session(&programs.path("threads"), &args, TURNS, Probes::Trap)?;
        let halfway = PointSpec::new(What::Reach("halfway".into()));
        session.subject().set_point(Owner::Developer, &halfway).map_err(words)?;
        match session.run(&Resume::Continue).map_err(words)? {
            invigil_session::Outcome::Points(_) => {}
            other => return Err(format!("the program stopped otherwise than expected: {other:?}")),
        }
        let take = |session: &mut Session| {
            let begun = Instant::now();
            session.checkpoint("").map(|kept| (kept, begun.elapsed())).map_err(words)
        };
        let (mut kept, first) = take(&mut session)?;
        let mut restored =
            Restored { first, checkpoints: Vec::new(), restores: Vec::new(), right: 0, trouble: None };
        for _ in 0..restores {
            session.forget(kept).map_err(words)?;
            let (next, time) = take(&mut session)?;
            restored.checkpoints.push(time);
            kept = next;
        }
        for _ in 0..restores {
            let begun = Instant::now();
            session.restore(kept).map_err(words)?;
            restored.restores.push(begun.elapsed());
            let outcome = session.run(&Resume::Continue).map_err(words)?;
            let sum = take_number(&result);
            // The property has seen every turn, too: those before the checkpoint once.
            let right = outcome == invigil_session::Outcome::Ended(Ending::Exited(0))
                && sum == Ok((turns * (turns - 1) / 2) as f64)
                && session.event_count() == turns;
            if right {
                restored.right += 1;
            } else if restored.trouble.is_none() {
                let events = session.event_count();
                restored.trouble = Some(format!("{outcome:?}, result {sum:?}, {events} of {turns} events"));
            }
        }
        Ok(restored)
    })
}
