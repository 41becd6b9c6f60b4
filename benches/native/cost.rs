//! Cost of an event [Jak19 §6.1.4]: a loop calls an empty function, with busy work between the calls.

use super::gdb::{self, Watch};
use super::plot::{self, Curve, Drawing};
use super::programs::{Programs, alone, take_number};
use super::properties::{CALLS, CALLS_BY_VALUE};
use super::requirements::Requirements;
use super::{Outcome, Size, ours};
use crate::{print_table, timed};
use invigil_native::ProbeMode;
use std::time::Duration;

/// The property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The call is instrumented without a property.
    Raw,
    /// A property counts the calls.
    Property,
    /// A property reads the argument, and counts the calls with each value of it.
    Argument,
}

pub(crate) const MODES: [Mode; 3] = [Mode::Raw, Mode::Property, Mode::Argument];

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Raw => "raw",
            Mode::Property => "property",
            Mode::Argument => "property with an argument",
        }
    }
}

/// The monitoring tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// None.
    Alone,
    /// Invigil.
    Ours,
    /// GDB, which reads the argument in this way.
    Gdb(Watch),
}

/// Microseconds between two calls.
const GAPS: [u64; 9] = [0, 10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000];

pub(crate) const DRAWING: Drawing<'_> = Drawing {
    file: "native-slowdown.svg",
    title: "slowdown by the gap between events",
    gaps: &[(10.0, "10 us"), (100.0, "0.1 ms"), (1_000.0, "1 ms"), (10_000.0, "10 ms")],
};

/// Up to this gap, in microseconds, the processor time of an event is distinguishable from the program's.
const MAX_MEASURABLE_GAP: u64 = 100;

/// Minimum of several runs, for each figure separately.
#[derive(Clone, Copy, Debug)]
struct Cell {
    calls: u64,
    /// Microseconds of a call and the gap after it, by the program's clock: the mean without a gap, otherwise the median,
    /// which excludes interference of other programs.
    each: f64,
    /// Processor time of debugger and target, from start to exit.
    cpu: Duration,
    /// Wall-clock time from start to exit.
    wall: Duration,
}

impl Cell {
    fn best(self, other: Cell) -> Cell {
        Cell {
            calls: self.calls,
            each: self.each.min(other.each),
            cpu: self.cpu.min(other.cpu),
            wall: self.wall.min(other.wall),
        }
    }

    /// Microseconds of processor time per call; `idle` is a run without calls.
    fn cpu_each(&self, idle: &Cell) -> f64 {
        self.cpu.saturating_sub(idle.cpu).as_secs_f64() * 1e6 / self.calls.max(1) as f64
    }
}

/// One row: the measurements at one gap for one mode.
struct Row {
    gap: u64,
    alone: Cell,
    ours: Cell,
    gdb: Option<Cell>,
}

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    let version = gdb::version();
    println!("cost of an event (6.1.4): an empty C function, busy work between the calls");
    match &version {
        Some(version) => println!("  compared with GDB {version}, breakpoints in Python"),
        None => println!("  gdb with Python is not installed: its columns are skipped"),
    }
    let reads = match version {
        Some(_) => Some(cheaper_read(programs, size)?),
        None => None,
    };
    let mut curves = Vec::new();
    for mode in MODES {
        let peer = reads.map(|reads| match mode {
            Mode::Raw => Watch::Raw,
            Mode::Property => Watch::Property,
            Mode::Argument => reads,
        });
        let idle = Idle::measure(programs, mode, peer)?;
        let mut rows = Vec::new();
        for gap in GAPS {
            rows.push(measure_row(programs, size, mode, gap, peer)?);
        }
        print(mode, &rows, &idle);
        add_requirement(mode, &rows, &idle, requirements);
        curves.push(curve(&format!("invigil, {}", mode.name()), &rows, |row| Some(row.ours)));
        if peer.is_some() {
            curves.push(curve(&format!("gdb, {}", mode.name()), &rows, |row| row.gdb));
        }
    }
    plot::print(DRAWING.title, &curves);
    match plot::write(&DRAWING, &curves) {
        Ok(path) => println!("  plot: {}\n", path.display()),
        Err(error) => println!("  cannot write the plot: {error}\n"),
    }
    Ok(())
}

/// The cheaper way for GDB to read an argument on this machine.
fn cheaper_read(programs: &Programs, size: Size) -> Outcome<Watch> {
    let calls = if size == Size::Quick { 300 } else { 1_500 };
    let mut best: Option<(Duration, Watch)> = None;
    for _ in 0..2 {
        for watch in [Watch::ReadVar, Watch::ParseAndEval] {
            let cell = measure(programs, Mode::Argument, Tool::Gdb(watch), calls, 0)?;
            if best.is_none_or(|(known, _)| cell.cpu < known) {
                best = Some((cell.cpu, watch));
            }
        }
    }
    let watch = best.map_or(Watch::ReadVar, |(_, watch)| watch);
    let name = if watch == Watch::ReadVar { "read_var" } else { "parse_and_eval" };
    println!("  GDB reads the argument with {name}, which is cheaper here");
    Ok(watch)
}

/// Runs without calls: the cost of starting.
struct Idle {
    alone: Cell,
    ours: Cell,
    gdb: Option<Cell>,
}

impl Idle {
    fn measure(programs: &Programs, mode: Mode, peer: Option<Watch>) -> Outcome<Idle> {
        let best = |tool| -> Outcome<Cell> {
            let first = measure(programs, mode, tool, 0, 0)?;
            Ok(first.best(measure(programs, mode, tool, 0, 0)?).best(measure(programs, mode, tool, 0, 0)?))
        };
        Ok(Idle {
            alone: best(Tool::Alone)?,
            ours: best(Tool::Ours)?,
            gdb: peer.map(|watch| best(Tool::Gdb(watch))).transpose()?,
        })
    }
}

fn measure_row(programs: &Programs, size: Size, mode: Mode, gap: u64, peer: Option<Watch>) -> Outcome<Row> {
    // Without a gap, the cost itself is measured, which needs more time and runs.
    let (rounds, micros) = match (size, gap) {
        (Size::Quick, 0) => (3, 300_000),
        (Size::Quick, _) => (1, 60_000),
        (Size::Full, 0) => (7, 800_000),
        (Size::Full, _) => (4, 200_000),
    };
    // The number of calls for which a run takes this long at the expected cost of an event.
    let calls = |cost: u64| (micros / (gap + cost)).max(15);
    let tools = [Some((Tool::Alone, calls(12))), Some((Tool::Ours, calls(12)))];
    let gdb = peer.map(|watch| (Tool::Gdb(watch), calls(200)));
    let mut best: [Option<Cell>; 3] = [None; 3];
    // Interleaved, so that a temporary load does not affect only one of them.
    for _ in 0..rounds {
        for (at, tool) in tools.into_iter().chain([gdb]).enumerate() {
            let Some((tool, calls)) = tool else { continue };
            let cell = measure(programs, mode, tool, calls, gap)?;
            best[at] = Some(best[at].map_or(cell, |best| best.best(cell)));
        }
    }
    match best {
        [Some(alone), Some(ours), gdb] => Ok(Row { gap, alone, ours, gdb }),
        _ => Err("nothing was measured".into()),
    }
}

/// One run; the counts must be exact.
fn measure(programs: &Programs, mode: Mode, tool: Tool, calls: u64, gap: u64) -> Outcome<Cell> {
    let (time, each) = timed(|| run_once(programs, mode, tool, calls, gap));
    Ok(Cell { calls, each: each?, cpu: time.cpu, wall: time.wall })
}

/// One run: microseconds of a call and the gap after it. The counts must be exact.
pub(crate) fn run_once(
    programs: &Programs,
    mode: Mode,
    tool: Tool,
    calls: u64,
    gap_micros: u64,
) -> Outcome<f64> {
    let (program, result) = (programs.path("ticks"), programs.result());
    let args = [calls.to_string(), (gap_micros * 1000).to_string(), result.display().to_string()];
    let (events, steps) = match (tool, mode) {
        (Tool::Alone, _) => alone(&program, &args).map(|()| (calls, calls))?,
        (Tool::Ours, Mode::Raw) => ours::deliver(&program, &args, CALLS).map(|events| (events, calls))?,
        (Tool::Ours, _) => {
            let property = if mode == Mode::Property { CALLS } else { CALLS_BY_VALUE };
            let watched = ours::watch(&program, &args, property, ProbeMode::Trap)?;
            let slices = if mode == Mode::Property { 1 } else { calls.min(16) };
            if watched.slices != slices {
                return Err(format!("there are {} slices, not {slices}", watched.slices));
            }
            (watched.events, watched.steps)
        }
        (Tool::Gdb(watch), _) => {
            let hits = gdb::watch(&program, &args, watch)?;
            (hits.hits, if watch == Watch::Raw { calls } else { hits.steps })
        }
    };
    if (events, steps) != (calls, calls) {
        return Err(format!("{tool:?}, {}: {events} events and {steps} steps, not {calls}", mode.name()));
    }
    take_number(&result).map(|nanos| nanos / 1e3)
}

/// Cost of an event in microseconds of wall-clock and processor time.
fn cost(row: &Row, cell: &Cell, idle: &Cell, alone: &Cell) -> (f64, f64) {
    let wall = cell.each - row.alone.each;
    let cpu = cell.cpu_each(idle) - row.alone.cpu_each(alone);
    (wall, cpu)
}

fn print(mode: Mode, rows: &[Row], idle: &Idle) {
    let name = mode.name();
    println!("\n  {name}: microseconds per event, wall-clock (processor time); minimum of the runs");
    let head = [
        "gap us", "invigil", "(cpu)", "hits/s", "slower", "gdb", "(cpu)", "hits/s", "slower", "cheaper",
        "(cpu)",
    ];
    let mut table = vec![head.map(String::from).to_vec()];
    for row in rows {
        let (wall, cpu) = cost(row, &row.ours, &idle.ours, &idle.alone);
        let mut cells = vec![row.gap.to_string()];
        let mut add_cells = |wall: f64, cpu: f64, cell: &Cell| {
            cells.push(format!("{wall:.1}"));
            // With long gaps, the program's own time dominates and the difference is noise.
            cells.push(if row.gap <= MAX_MEASURABLE_GAP { format!("({cpu:.1})") } else { "-".into() });
            cells.push(format!("{:.0}", 1e6 / cell.each));
            cells.push(slower(cell.each / row.alone.each));
        };
        add_cells(wall, cpu, &row.ours);
        if let (Some(gdb), Some(gdb_idle)) = (&row.gdb, &idle.gdb) {
            let (gdb_wall, gdb_cpu) = cost(row, gdb, gdb_idle, &idle.alone);
            add_cells(gdb_wall, gdb_cpu, gdb);
            cells.push(format!("{:.1}x", gdb_wall / wall));
            cells.push(if row.gap <= MAX_MEASURABLE_GAP {
                format!("({:.1}x)", gdb_cpu / cpu)
            } else {
                "-".into()
            });
        }
        table.push(cells);
    }
    print_table(&table);
    let seconds = |cell: &Cell| format!("{:.3} s", cell.wall.as_secs_f64());
    print!("  start and exit take {} (alone {})", seconds(&idle.ours), seconds(&idle.alone));
    match &idle.gdb {
        Some(gdb) => println!("; in GDB {}", seconds(gdb)),
        None => println!(),
    }
    if let Some(row) = rows.first() {
        let whole = |cell: &Cell| format!("{} calls {}", cell.calls, seconds(cell));
        print!("  whole runs without a gap: {}", whole(&row.ours));
        match &row.gdb {
            Some(gdb) => println!("; in GDB {}", whole(gdb)),
            None => println!(),
        }
    }
}

fn slower(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.2}x") } else { format!("{factor:.0}x") }
}

fn add_requirement(mode: Mode, rows: &[Row], idle: &Idle, requirements: &mut Requirements) {
    let what = format!("an event, {}, costs less than in GDB", mode.name());
    let Some(row) = rows.first() else { return };
    let (Some(gdb), Some(gdb_idle)) = (&row.gdb, &idle.gdb) else {
        requirements.unknown(&format!("{what}: gdb is not installed"));
        return;
    };
    // By wall-clock time, as a user experiences it; the table also has the processor time.
    let (wall, _) = cost(row, &row.ours, &idle.ours, &idle.alone);
    let (gdb_wall, _) = cost(row, gdb, gdb_idle, &idle.alone);
    requirements.at_least(&what, gdb_wall / wall, 15.0, "x");
}

/// Slowdown at each gap.
fn curve(name: &str, rows: &[Row], cell: impl Fn(&Row) -> Option<Cell>) -> Curve {
    let points = rows.iter().filter_map(|row| {
        let cell = cell(row)?;
        // A gap of 0 has no position on a logarithmic axis.
        (row.gap > 0).then(|| (row.gap as f64, cell.each / row.alone.each))
    });
    Curve { name: name.to_owned(), points: points.collect() }
}
