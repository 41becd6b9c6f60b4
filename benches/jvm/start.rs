//! Cost of starting: an empty program.

use super::figures::java;
use super::ours::Watching;
use super::programs::Programs;
use super::scripts::step;
use super::{Outcome, Size};
use crate::native::requirements::Requirements;
use crate::{print_table, timed};
use std::ffi::OsString;

/// Required maximum overhead of the start in milliseconds.
const MAX_OVERHEAD: f64 = 10.0;

/// Milliseconds of wall-clock time, and of processor time of target and debugger.
type Millis = (f64, f64);

fn best_of(times: usize, run: impl Fn() -> Outcome) -> Outcome<Millis> {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..times {
        let (time, done) = timed(&run);
        done?;
        best = (best.0.min(time.wall.as_secs_f64() * 1e3), best.1.min(time.cpu.as_secs_f64() * 1e3));
    }
    Ok(best)
}

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    println!(
        "start and exit of an empty program: milliseconds, minimum of the runs; processor time includes the debugger"
    );
    let times = size.pick(9, 15);
    let empty = |mut options: Vec<OsString>| {
        options.push("Empty".into());
        options
    };
    let classes = || empty(vec!["-cp".into(), programs.path("classes")]);
    let property = Watching::property(&step("write Test.monitoredX(ret as value: int)"))?;
    let alone = best_of(times, || java(&classes()).map(drop))?;
    let agent = best_of(times, || Watching::nothing().run(classes()).map(drop))?;
    let watched = best_of(times, || property.run(classes()).map(drop))?;
    let mut rows = vec![["", "wall", "more", "cpu", "more"].map(String::from).to_vec()];
    let mut add = |what: &str, (wall, cpu): Millis| {
        let cells = [wall, wall - alone.0, cpu, cpu - alone.1].map(|millis| format!("{millis:.1}"));
        rows.push([what.to_owned()].into_iter().chain(cells).collect());
    };
    add("alone", alone);
    add("with the agent", agent);
    add("with the agent and a property", watched);
    if let Some(aspectj) = programs.aspectj() {
        let options = empty(aspectj.loaded(programs));
        add("AspectJ, weaving when classes are loaded", best_of(times.min(5), || java(&options).map(drop))?);
    }
    print_table(&rows);
    println!();
    requirements.at_most("start with the agent, overhead", agent.0 - alone.0, MAX_OVERHEAD, " ms");
    requirements.at_most(
        "start with the agent, overhead in processor time",
        agent.1 - alone.1,
        MAX_OVERHEAD,
        " ms",
    );
    Ok(())
}
