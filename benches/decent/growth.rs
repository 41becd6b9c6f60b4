//! Growth of the cost of a history with the delay of information and with the number of components.

use crate::{Requirement, draw};
use invigil_benches::{print_table, timed};
use invigil_decent::algorithm::{Algorithm, MonitorSet, compile_formula};
use invigil_decent::automaton::Machine;
use invigil_decent::encoding::{Encoding, Expressions, States, WorkCounters};
use invigil_decent::memory::{Atom, Memory};
use invigil_decent::simulate::{Conditions, Trace};
use invigil_decent::system::System;
use invigil_lab::generate::{Distribution, random, system, trace};
use invigil_lab::plot::{Axis, Plot, Series};
use invigil_ltl::{Budget, Logic};

/// Series with a slower step are not continued: the cost grows exponentially.
const MAX_STEP_SECONDS: f64 = 1.0;

/// Maximum number of components. EH18 stops at 6.
const MAX_COMPONENTS: usize = 12;

/// Cost for a size: seconds, and bytes as counted in EH18.
type Point = (usize, f64, f64);

pub(crate) fn run(quick: bool) -> Vec<Requirement> {
    vec![delay(quick), components()]
}

/// A history without the observations of two components for some instants.
fn delay(quick: bool) -> Requirement {
    println!(
        "\nA history while the observations of `b0` and `c0` are missing: `G(a0 -> X(b0 U c0)) & G(c0 -> X !a0)`\n"
    );
    let max_delay = if quick { 32 } else { 64 };
    let [states, expressions] = match prepared() {
        Ok((system, machine)) => {
            [grow::<States>(&machine, &system, max_delay), grow::<Expressions>(&machine, &system, max_delay)]
        }
        Err(error) => {
            println!("  no automaton: {error}");
            [Vec::new(), Vec::new()]
        }
    };
    print_rows("delay", "us", 1e6, &states, &expressions);
    picture("decent-delay", "delay in instants", &states, &expressions);
    let (small, large) = (at(&states, 8), at(&states, max_delay));
    Requirement {
        what: "size of a history by delay",
        required: "bounded where that of [EH18] is exponential",
        reached: format!("{small:.0} bytes at 8, {large:.0} at {max_delay}"),
        is_met: large > 0.0 && large <= small * max_delay as f64 / 4.0,
    }
}

/// The size at a delay.
fn at(points: &[Point], size: usize) -> f64 {
    points.iter().find(|(point_size, ..)| *point_size == size).map_or(0.0, |(_, _, bytes)| *bytes)
}

fn prepared() -> Result<(System, Machine), Box<dyn std::error::Error>> {
    let system = system(3, 1)?;
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse("G(a0 -> X(b0 U c0)) & G(c0 -> X !a0)").map_err(|error| error.to_string())?;
    let machine = compile_formula(&mut logic, formula, &system)?;
    Ok((system, machine))
}

fn grow<E: Encoding>(machine: &Machine, system: &System, max_delay: usize) -> Vec<Point> {
    let mut points = Vec::new();
    for instants in (1..=max_delay).filter(|delay| *delay <= 16 || delay % 4 == 0) {
        let mut memory = Memory::default();
        for instant in 1..=instants as u32 {
            // The observations of the other components are missing.
            for proposition in system.propositions().take(1) {
                memory.learn(instant, Atom::Observed(proposition), !instant.is_multiple_of(3));
            }
        }
        let (time, size) = timed(|| {
            let mut history = E::new(machine, 0);
            let mut work = WorkCounters::default();
            for instant in 1..=instants as u32 {
                history.extend(machine, instant);
                history.learn(machine, &memory, &mut work);
            }
            history.size(machine, &|_| 2)
        });
        points.push((instants, time.wall.as_secs_f64(), size as f64));
        if time.wall.as_secs_f64() > MAX_STEP_SECONDS {
            break;
        }
    }
    points
}

/// A history that migrates between all components in turn.
fn components() -> Requirement {
    println!("\nRound-robin migration by components: `G((a0 & b0 & …) -> X X(a1 | b1 | …))`, 60 rounds\n");
    let [states, expressions] = [measure_migration::<States>(), measure_migration::<Expressions>()];
    print_rows("|C|", "us/round", 1e6, &states, &expressions);
    picture("decent-components", "components", &states, &expressions);
    let reached = states.last().map_or(0, |(components, ..)| *components);
    Requirement {
        what: "components",
        required: "12 (the document stops at 6)",
        reached: format!("{reached}"),
        is_met: reached == MAX_COMPONENTS,
    }
}

fn measure_migration<E: Encoding>() -> Vec<Point> {
    let mut points = Vec::new();
    for components in 3..=MAX_COMPONENTS {
        let Some((seconds, bytes)) = round_trip::<E>(components) else { break };
        points.push((components, seconds, bytes));
        if seconds * 60.0 * 5.0 > MAX_STEP_SECONDS {
            break;
        }
    }
    points
}

/// Seconds per round and bytes per message.
fn round_trip<E: Encoding>(components: usize) -> Option<(f64, f64)> {
    let system = system(components, 2).ok()?;
    let names = |number: usize, between: &str| {
        let names: Vec<String> =
            system.components().map(|at| format!("{}{number}", system.component_name(at))).collect();
        names.join(between)
    };
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(&format!("G(({}) -> X X({}))", names(0, " & "), names(1, " | "))).ok()?;
    let prepared =
        MonitorSet::<E>::new(Algorithm::RoundRobin { active: 1 }, &mut logic, formula, &system).ok()?;
    let values = Distribution::Normal(0.5, 1.0).sampler().ok()?;
    let mut random = random(1, components as u64);
    let traces: Vec<Trace> =
        (0..5).map(|_| Trace::from_run(&trace(&system, 60, &values, &mut random))).collect();
    let (mut rounds, mut data, mut messages) = (0.0, 0.0, 0.0);
    let (time, ran) = timed(|| {
        prepared.run(&system, Conditions::default(), &traces, |_, figures| {
            rounds += figures.rounds;
            data += figures.data;
            messages += figures.messages;
        })
    });
    ran.ok()?;
    Some((time.wall.as_secs_f64() / f64::max(rounds, 1.0), data / f64::max(messages, 1.0)))
}

fn print_rows(size: &str, unit: &str, times: f64, states: &[Point], expressions: &[Point]) {
    let head = [size, &format!("states, {unit}"), "bytes", &format!("expressions, {unit}"), "bytes"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (at, seconds, bytes) in states {
        let mut row = vec![at.to_string(), format!("{:.1}", times * seconds), format!("{bytes:.0}")];
        match expressions.iter().find(|(known, ..)| known == at) {
            Some((_, seconds, bytes)) => {
                row.extend([format!("{:.1}", times * seconds), format!("{bytes:.0}")])
            }
            None => row.extend(["-", "-"].map(str::to_owned)),
        }
        rows.push(row);
    }
    print_table(&rows);
    println!("  -: not measured; an earlier step took more than {MAX_STEP_SECONDS} s");
}

fn picture(name: &str, across: &str, states: &[Point], expressions: &[Point]) {
    let series = |name: &str, colour, points: &[Point], of: fn(&Point) -> f64| Series {
        name: name.to_owned(),
        points: points.iter().map(|point| (point.0 as f64, of(point))).collect(),
        colour,
        is_dashed: false,
    };
    for (what, of) in [("seconds", (|point| point.1) as fn(&Point) -> f64), ("bytes", |point| point.2)] {
        let plot = Plot {
            title: format!("{what} by {across}"),
            x: Axis { name: across.to_owned(), is_logarithmic: false },
            y: Axis { name: what.to_owned(), is_logarithmic: true },
            series: vec![series("states", 0, states, of), series("expressions [EH18]", 1, expressions, of)],
        };
        draw(&format!("{name}-{what}.svg"), &plot.svg());
    }
}
