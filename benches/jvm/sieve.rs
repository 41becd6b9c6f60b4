//! The sieve of section 7.4.5, under its three scripts.

use super::figures::{command, java};
use super::ours::Watching;
use super::programs::{Programs, example};
use super::{Outcome, Size};
use crate::native::requirements::Requirements;
use crate::{print_table, timed};

/// Scripts, and the slowdowns of the thesis' prototype at 200,000 and 800,000.
const SCRIPTS: [(&str, &str, [Option<f64>; 2]); 3] = [
    ("all", "sieve.pedl", [Some(3.1), Some(1.5)]),
    ("delta", "delta.pedl", [None, None]),
    ("value", "value.pedl", [None, None]),
];

pub(crate) fn run(programs: &Programs, size: Size, _: &mut Requirements) -> Outcome {
    println!(
        "the sieve of 7.4.5: seconds of processor time of all threads and the debugger, minimum of the runs"
    );
    let times = size.pick(2, 3);
    let mut rows = vec![["n", "", "cpu", "wall", "slower", "events", "thesis"].map(String::from).to_vec()];
    let sizes = [200_000, 800_000];
    for (at, n) in sizes.into_iter().enumerate().take(size.pick(1, 2)) {
        let args = || command(&["-cp".into(), programs.path("sieve")], "SieveMain", &[n]);
        let mut alone = (f64::INFINITY, f64::INFINITY);
        let mut expected = String::new();
        for _ in 0..times {
            let (time, output) = timed(|| java(&args()));
            expected = output?;
            alone = (alone.0.min(time.cpu.as_secs_f64()), alone.1.min(time.wall.as_secs_f64()));
        }
        let seconds = |seconds: f64| format!("{seconds:.3}");
        let mut row = vec![n.to_string(), "alone".into(), seconds(alone.0), seconds(alone.1)];
        row.extend(["1.00x".into(), "-".into(), "-".into()]);
        rows.push(row);
        for (name, file, thesis) in SCRIPTS {
            let watching = Watching::scripts(&script(file)?, &quiet(&example("sieve/sieve.medl")?))?;
            let (mut cpu, mut wall, mut events) = (f64::INFINITY, f64::INFINITY, 0);
            for _ in 0..times {
                let (time, watched) = timed(|| watching.run(args()));
                let watched = watched?;
                if watched.output != expected {
                    return Err(format!("the monitored sieve printed `{}`", watched.output));
                }
                (cpu, wall) = (cpu.min(time.cpu.as_secs_f64()), wall.min(time.wall.as_secs_f64()));
                events = watched.events;
            }
            let mut row = vec![String::new(), name.into(), seconds(cpu), seconds(wall)];
            row.push(format!("{:.2}x", cpu / alone.0));
            row.push(events.to_string());
            row.push(thesis[at].map_or("-".to_owned(), |times| format!("{times}x")));
            rows.push(row);
        }
    }
    print_table(&rows);
    println!();
    Ok(())
}

/// A monitoring script of the example. The class identifies the sieve, which is its only object.
pub(crate) fn script(file: &str) -> Outcome<String> {
    Ok(example(&format!("sieve/{file}"))?.replace("SieveMain.sa.", "Sieve."))
}

/// The requirements without output.
pub(crate) fn quiet(requirements: &str) -> String {
    let lines = requirements.lines().filter(|line| !line.trim_start().starts_with("print "));
    lines.collect::<Vec<_>>().join("\n")
}
