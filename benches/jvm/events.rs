//! Cost of an event: field writes, and calls of a method with an argument, without pauses.

use super::figures::{self, Figures, command, java};
use super::ours::Watching;
use super::programs::Programs;
use super::scripts::{REQUIREMENT, Reduction, condition, dormant, sliced, step};
use super::{Outcome, Size};
use crate::native::requirements::Requirements;
use crate::print_table;
use std::ffi::OsString;

/// The lengths of conditions, in operators.
const LENGTHS: [usize; 4] = [1, 50, 100, 150];
/// Required maximum for an event and a step, in nanoseconds.
const EVENT: f64 = 8.0;
/// Required minimum factor by which it is cheaper than a debugger's breakpoint.
const MIN_FACTOR: f64 = 10_000.0;

/// A program of the benchmark, which generates events and prints the time of each repetition.
#[derive(Clone, Copy)]
pub(crate) enum Program {
    /// `t.monitoredX = i`.
    Writes,
    /// `call(i)`.
    Calls,
    /// `items[k].x = i` for this number of items.
    Objects(u64),
}

impl Program {
    fn main(self, events: u64, times: u64) -> (&'static str, Vec<u64>) {
        match self {
            Program::Writes => ("Sweep empty", vec![events, 0, times]),
            Program::Calls => ("Calls", vec![events, times]),
            Program::Objects(count) => ("Objects", vec![events, count, times]),
        }
    }

    pub(crate) fn property(self) -> String {
        match self {
            Program::Writes => step("write Test.monitoredX(ret as value: int)"),
            Program::Calls => step("Calls.call(arg 1 as value: int)"),
            Program::Objects(_) => sliced("write Item.x(this as item, ret as value: int)"),
        }
    }
}

/// Number of events and repetitions, and the environment.
pub(crate) struct Bench<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) events: u64,
    pub(crate) times: u64,
}

impl Bench<'_> {
    fn args(&self, program: Program, options: &[OsString]) -> Vec<OsString> {
        let (main, args) = program.main(self.events, self.times);
        command(options, main, &args)
    }

    fn classes(&self) -> Vec<OsString> {
        vec!["-cp".into(), self.programs.path("classes")]
    }

    /// The program alone.
    pub(crate) fn alone(&self, program: Program) -> Outcome<Figures> {
        figures::read(&java(&self.args(program, &self.classes()))?)
    }

    /// The program under a peer, which counts its steps.
    pub(crate) fn peer(&self, program: Program, options: &[OsString]) -> Outcome<Figures> {
        let output = java(&self.args(program, options))?;
        match figures::count(&output, "steps ") {
            Some(steps) if steps == self.events * self.times => figures::read(&output),
            steps => Err(format!("the peer made {steps:?} steps, not {}", self.events * self.times)),
        }
    }

    /// The program under Invigil, without a needed event.
    fn silent(&self, program: Program, watching: &Watching) -> Outcome<Figures> {
        let watched = watching.run(self.args(program, &self.classes()))?;
        match watched.events {
            0 => figures::read(&watched.output),
            events => Err(format!("{events} events that no property needs")),
        }
    }

    /// The program under Invigil with counting properties.
    pub(crate) fn ours(&self, program: Program, watching: &Watching) -> Outcome<Figures> {
        let watched = watching.run(self.args(program, &self.classes()))?;
        // The constructors write no field, so all events are those of the loops.
        if let ([steps], false) = (&watched.steps[..], watching.has_scripts())
            && (watched.events, *steps) != (self.events * self.times, self.events * self.times)
        {
            return Err(format!(
                "{} events and {steps} steps of {}",
                watched.events,
                self.events * self.times
            ));
        }
        if let (Program::Objects(count), [slices]) = (program, &watched.slices[..])
            && *slices != count + 1
            && *slices != count
        {
            return Err(format!("there are {slices} slices of {count} objects"));
        }
        figures::read(&watched.output)
    }

    /// The program under a debugger client with a breakpoint that reads the argument.
    pub(crate) fn debugger(&self) -> Outcome<Figures> {
        let path = super::programs::path_of(&[self.programs.path("jdi"), self.programs.path("classes")]);
        let mut args: Vec<OsString> = vec!["-cp".into(), path, "Jdi".into(), "argument".into()];
        args.push(self.programs.path("classes"));
        args.extend(command(&[], "Calls", &[self.events, self.times]));
        let output = java(&args)?;
        match figures::count(&output, "stops ") {
            Some(stops) if stops == self.events * self.times => figures::read(&output),
            stops => Err(format!("the debugger stopped {stops:?} times, not {}", self.events * self.times)),
        }
    }
}

/// The rows of the table.
#[derive(Default)]
struct Rows(Vec<Vec<String>>);

impl Rows {
    fn add(&mut self, what: &str, figures: Figures) {
        let nanos = |value: f64| if value < 1_000.0 { format!("{value:.2}") } else { format!("{value:.0}") };
        self.0.push(vec![what.to_owned(), nanos(figures.cpu), nanos(figures.wall)]);
    }
}

fn head() -> Rows {
    Rows(vec![["", "cpu", "wall"].map(String::from).to_vec()])
}

fn bench(programs: &Programs, size: Size) -> Bench<'_> {
    Bench { programs, events: size.pick(3_000_000, 10_000_000), times: size.pick(6, 9) }
}

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    println!("cost of an event: nanoseconds of the thread's processor time, minimum of the repetitions");
    let bench = bench(programs, size);
    let mut rows = head();
    let probe = writes_and_calls(&bench, &mut rows)?;
    peers(&bench, &mut rows, requirements)?;
    let slow = Bench { events: size.pick(2_000, 10_000), times: 3, ..bench };
    let reported = Watching::property(&Program::Writes.property())?.recorded();
    rows.add("sent to the debugger one by one", slow.ours(Program::Writes, &reported)?);
    let slow = Bench { events: size.pick(500, 2_000), ..slow };
    let debugger = slow.debugger()?;
    rows.add("JDI: breakpoint, argument read", debugger);
    print_table(&rows.0);
    println!();
    requirements.at_most("write to a field and a step, overhead", probe.0.cpu, EVENT, " ns");
    requirements.at_most("method with an argument and a step, overhead", probe.1.cpu, EVENT, " ns");
    // A debugger client waits for round trips, so its cost is wall-clock time.
    requirements.at_least(
        "cheaper than a JDI breakpoint",
        debugger.wall / probe.1.wall,
        MIN_FACTOR,
        " times",
    );
    Ok(())
}

/// A property with a slice per object.
pub(crate) fn run_objects(programs: &Programs, size: Size, _: &mut Requirements) -> Outcome {
    println!("cost of an event and a step for its object: nanoseconds");
    let (bench, mut rows) = (bench(programs, size), head());
    for count in [1, 100_000] {
        let program = Program::Objects(count);
        rows.add(&format!("field of {count} objects, alone"), bench.alone(program)?);
        let watching = Watching::property(&program.property())?;
        rows.add(&format!("field of {count} objects, a slice per object"), bench.ours(program, &watching)?);
    }
    print_table(&rows.0);
    println!();
    Ok(())
}

/// Monitoring and requirement scripts.
pub(crate) fn run_scripts(programs: &Programs, size: Size, _: &mut Requirements) -> Outcome {
    println!("cost of a write to a field under scripts that step inside the program: nanoseconds");
    let (bench, mut rows) = (bench(programs, size), head());
    for (reduction, words) in
        [(Reduction::None, "operators"), (Reduction::Value, "comparisons, valueabstract")]
    {
        for length in LENGTHS {
            let script = condition("Test.monitoredX", length, reduction);
            let watching = Watching::scripts(&script, REQUIREMENT)?;
            rows.add(&format!("{length} {words}"), bench.ours(Program::Writes, &watching)?);
        }
    }
    print_table(&rows.0);
    println!();
    Ok(())
}

/// Overhead of a write and a call under a property.
fn writes_and_calls(bench: &Bench<'_>, rows: &mut Rows) -> Outcome<(Figures, Figures)> {
    let mut found = Vec::new();
    for (program, name) in [(Program::Writes, "field written"), (Program::Calls, "method called")] {
        let alone = bench.alone(program)?;
        rows.add(&format!("{name}, alone"), alone);
        rows.add(&format!("{name}, agent without probes"), bench.ours(program, &Watching::nothing())?);
        let silent = Watching::property(&dormant(&program.property()))?;
        rows.add(&format!("{name}, property that waits for something else"), bench.silent(program, &silent)?);
        let figures = bench.ours(program, &Watching::property(&program.property())?)?;
        rows.add(&format!("{name}, property"), figures);
        found.push(Figures { cpu: figures.cpu - alone.cpu, wall: figures.wall - alone.wall });
    }
    match found[..] {
        [write, call] => Ok((write, call)),
        _ => Err("nothing was measured".into()),
    }
}

fn peers(bench: &Bench<'_>, rows: &mut Rows, requirements: &mut Requirements) -> Outcome {
    let Some(aspectj) = bench.programs.aspectj() else {
        requirements.unknown("AspectJ is not installed (libaspectj-java): its rows are skipped");
        return Ok(());
    };
    let options = [
        ("woven when compiled", aspectj.compiled(bench.programs)),
        ("woven when loaded", aspectj.loaded(bench.programs)),
    ];
    for (how, options) in options {
        rows.add(&format!("AspectJ, {how}: field written"), bench.peer(Program::Writes, &options)?);
        rows.add(&format!("AspectJ, {how}: method called"), bench.peer(Program::Calls, &options)?);
    }
    Ok(())
}
