//! The bank with its ten properties [Jak19 §6.2.2, table 6.2].

use super::figures::{command, java};
use super::ours::{Watched, Watching};
use super::programs::{Programs, example};
use super::{Outcome, Size};
use crate::native::requirements::Requirements;
use crate::{print_table, timed};

/// The properties, indexed by number.
const PROPERTIES: [&str; 10] = [
    "gold-from-here",
    "initialised-first",
    "no-overdraft",
    "unique-number",
    "disabled-stays-out",
    "three-before-white",
    "ten-requests",
    "reconcile",
    "three-sessions",
    "in-session",
];

/// Sets of properties, with the overhead of table 6.2, in percent.
const SETS: [(&str, &[usize], &str); 4] = [
    ("5", &[5], "+811 %"),
    ("4, 5, 6", &[4, 5, 6], "+3,341 %"),
    ("2, 4, 5, 6, 7, 9, 10", &[2, 4, 5, 6, 7, 9, 10], "+16,966 %"),
    ("all ten", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "-"),
];

/// Required maximum overhead in percent.
const OVERHEAD: f64 = 25.0;

/// Selects properties by number.
pub(crate) fn properties(numbers: &[usize]) -> Outcome<Watching> {
    let all = numbers.iter().filter_map(|number| PROPERTIES.get(number - 1));
    let all = all.map(|name| Ok((name.to_string(), example(&format!("bank/{name}.prop"))?)));
    Watching::properties(&all.collect::<Outcome<Vec<_>>>()?)
}

/// Output of the program for one day.
struct Day {
    /// Everything except the times.
    result: String,
    /// Wall-clock seconds while the bank is open.
    wall: f64,
    /// Seconds of processor time at the counters.
    cpu: f64,
}

fn day(output: &str) -> Outcome<Day> {
    let (result, times) =
        output.trim_end().rsplit_once('\n').ok_or_else(|| format!("the bank printed `{output}`"))?;
    let numbers: Vec<f64> = times.split(' ').filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [wall, cpu] => Ok(Day { result: result.to_owned(), wall: wall / 1e3, cpu: cpu / 1e3 }),
        _ => Err(format!("the bank printed no times: `{times}`")),
    }
}

/// Minimum of several days in seconds: at the counters, while the bank is open, and of the whole run with the debugger.
#[derive(Clone, Copy)]
struct Cost {
    cpu: f64,
    wall: f64,
    whole: f64,
}

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    let (requests, rounds) = size.pick((100_000, 3), (300_000, 5));
    println!("the bank: {requests} requests; seconds of processor time at the counters, minimum of the runs");
    println!(
        "  `whole` is the processor time of the whole run with start-up and debugger; percentages are overheads"
    );
    println!("  the figures of [Jak19] are those of its prototype over jdb, on a similar system");
    let mut args = command(&["-cp".into(), programs.path("bank")], "Bank --size", &[requests]);
    args.push("--time".into());
    let watchings: Vec<Watching> =
        SETS.iter().map(|(_, numbers, _)| properties(numbers)).collect::<Outcome<_>>()?;
    let none = Cost { cpu: f64::INFINITY, wall: f64::INFINITY, whole: f64::INFINITY };
    let mut costs = vec![none; 1 + SETS.len()];
    let mut events = vec![0; 1 + SETS.len()];
    let mut expected: Option<String> = None;
    // Interleaved, so that a temporary load does not affect only one of them.
    for _ in 0..rounds {
        for at in 0..costs.len() {
            let (time, watched) = timed(|| match at.checked_sub(1) {
                None => {
                    java(&args).map(|output| Watched { output, events: 0, steps: vec![], slices: vec![] })
                }
                Some(at) => watchings[at].run(args.clone()),
            });
            let watched = watched?;
            let day = day(&watched.output)?;
            if *expected.get_or_insert_with(|| day.result.clone()) != day.result {
                return Err(format!("monitored, the bank printed `{}`", day.result));
            }
            events[at] = watched.events;
            let cost = &mut costs[at];
            let whole = time.cpu.as_secs_f64();
            *cost = Cost {
                cpu: cost.cpu.min(day.cpu),
                wall: cost.wall.min(day.wall),
                whole: cost.whole.min(whole),
            };
        }
    }
    let alone = costs[0];
    let percent = |watched: f64, alone: f64| 100.0 * (watched / alone - 1.0);
    let head = ["properties", "events", "cpu", "more", "wall", "more", "whole", "more", "thesis"];
    let mut rows = vec![head.map(String::from).to_vec()];
    let names = ["none"].into_iter().chain(SETS.map(|(name, ..)| name));
    for (at, name) in names.enumerate() {
        let cost = costs[at];
        let mut row = vec![name.to_owned(), events[at].to_string()];
        for (watched, alone) in [(cost.cpu, alone.cpu), (cost.wall, alone.wall), (cost.whole, alone.whole)] {
            row.push(format!("{watched:.2}"));
            row.push(format!("{:+.1} %", percent(watched, alone)));
        }
        row.push(at.checked_sub(1).map_or("-".into(), |at| SETS[at].2.to_string()));
        rows.push(row);
    }
    print_table(&rows);
    println!();
    let all = costs[SETS.len()];
    requirements.at_most("the bank, all properties, overhead", percent(all.cpu, alone.cpu), OVERHEAD, " %");
    Ok(())
}
