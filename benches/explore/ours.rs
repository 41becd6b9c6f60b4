//! Invigil's search.

use crate::sketch::Sketch;
use invigil_benches::{Time, timed};
use invigil_compile::CompiledModel;
use invigil_explore::{FindingKinds, SearchOptions, bfs};
use invigil_expr::diag::SourceId;
use invigil_lang::{dve, model};
use invigil_model::Model;
use std::process::Command;
use std::time::{Duration, Instant};

/// Result of a search.
#[derive(Clone)]
pub(crate) struct Ours {
    pub(crate) states: u64,
    pub(crate) bytes: u64,
    pub(crate) time: Time,
}

impl Ours {
    /// The minimum of the times of two runs.
    fn better(mut self, again: Ours) -> Ours {
        self.time.cpu = self.time.cpu.min(again.time.cpu);
        self.time.wall = self.time.wall.min(again.time.wall);
        self
    }
}

/// Results for a model: its DVE form and its `.model` form on one thread, and the speed-up of the latter on two threads by
/// wall-clock time.
pub(crate) struct Found {
    pub(crate) dve: Ours,
    pub(crate) language: Ours,
    pub(crate) speedup: f64,
    /// Throughput of two independent searches relative to one: the upper bound for the speed-up. Two processors may be
    /// hardware threads of one core.
    pub(crate) machine: f64,
}

/// Argument with which the benchmark runs itself to explore one model.
pub(crate) const EXPLORE_ARGUMENT: &str = "--explore";

/// The measurements in one process: form of the model, threads, minimum number of rounds and minimum total time. Short
/// searches need more rounds because a short disturbance affects them as a whole.
struct Way {
    name: &'static str,
    turns: &'static [(Text, Turn)],
    rounds: usize,
    seconds: u64,
}

const WAYS: [Way; 3] = [
    Way { name: "dve", turns: &[(Text::Dve, Turn::Threads(1))], rounds: 3, seconds: 2 },
    Way { name: "language", turns: &[(Text::Language, Turn::Threads(1))], rounds: 3, seconds: 2 },
    Way {
        name: "both",
        turns: &[
            (Text::Language, Turn::Threads(1)),
            (Text::Language, Turn::Threads(2)),
            (Text::Language, Turn::TwoAtOnce),
        ],
        rounds: 7,
        seconds: 12,
    },
];

/// A measurement.
#[derive(Clone, Copy)]
enum Turn {
    Threads(usize),
    /// Two concurrent searches on one thread each.
    TwoAtOnce,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Dve,
    Language,
}

/// Explores a model, each measurement in its own process, as SPIN's verifier is: earlier use of the memory must not matter.
pub(crate) fn search(sketch: &Sketch) -> Found {
    let program = std::env::current_exe().expect("the path of the benchmark");
    let run = |way: &str| -> Vec<Vec<Ours>> {
        let output = Command::new(&program).args([EXPLORE_ARGUMENT, sketch.name, way]).output();
        let output = output.expect("the benchmark can run itself");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let rounds: Vec<Vec<Ours>> = stdout.lines().map(read).collect();
        assert!(rounds.len() > 1, "{}: {stdout}{}", sketch.name, String::from_utf8_lossy(&output.stderr));
        rounds
    };
    // The best run: other programs may interfere.
    let best = |rounds: Vec<Vec<Ours>>, at: usize| {
        let all =
            rounds.into_iter().filter_map(|mut round| (at < round.len()).then(|| round.swap_remove(at)));
        all.reduce(Ours::better).expect("every round prints a result")
    };
    let wall = |rounds: &[Vec<Ours>], at: usize| best(rounds.to_vec(), at).time.wall.as_secs_f64();
    // The speed-up excludes the first round, in which the system allocates the memory.
    let both = run("both").split_off(1);
    Found {
        dve: best(run("dve"), 0),
        language: best(run("language"), 0),
        speedup: wall(&both, 0) / wall(&both, 1),
        machine: 2.0 * wall(&both, 0) / wall(&both, 2),
    }
}

/// Body of such a process: prints a line for each round.
pub(crate) fn search_alone(sketch: &Sketch, way: &str) {
    let way = WAYS.iter().find(|listed| listed.name == way).expect("a known measurement");
    let (dve, language) = (dve(&sketch.dve()), language(sketch.name));
    let started = Instant::now();
    let mut rounds = 0;
    while rounds < way.rounds || started.elapsed() < Duration::from_secs(way.seconds) {
        rounds += 1;
        let columns = way.turns.iter().map(|(text, turn)| {
            let model = if *text == Text::Dve { &dve } else { &language };
            let Ours { states, bytes, time } = match turn {
                Turn::Threads(threads) => explore(model, *threads),
                Turn::TwoAtOnce => explore_twice(model),
            };
            format!("{states} {bytes} {} {}", time.wall.as_nanos(), time.cpu.as_nanos())
        });
        println!("{}", columns.collect::<Vec<_>>().join(" "));
    }
}

/// Parses such a line.
fn read(line: &str) -> Vec<Ours> {
    let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let all = numbers.chunks_exact(4).map(|numbers| Ours {
        states: numbers[0],
        bytes: numbers[1],
        time: Time { wall: Duration::from_nanos(numbers[2]), cpu: Duration::from_nanos(numbers[3]) },
    });
    all.collect()
}

/// Compiles and explores a model, and measures both.
pub(crate) fn explore(model: &Model, threads: usize) -> Ours {
    let wanted = FindingKinds { deadlocks: false, bad: false, faults: false };
    let search = SearchOptions { threads, kinds: wanted, exhaustive: true, ..SearchOptions::default() };
    let (time, report) = timed(|| {
        let compiled = CompiledModel::new(model, &[])
            .unwrap_or_else(|why| panic!("the model cannot be compiled: {}", why.0));
        bfs(&compiled, &search, &())
    });
    Ours { states: report.totals.states, bytes: report.totals.memory, time }
}

/// Runs the same search on two threads concurrently and measures the time of both.
fn explore_twice(model: &Model) -> Ours {
    let (time, found) = timed(|| {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| explore(model, 1));
            explore(model, 1);
            other.join()
        })
    });
    Ours { time, ..found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) }
}

/// A model in DVE.
pub(crate) fn dve(text: &str) -> Model {
    let (loaded, diagnostics) = dve::load(SourceId(0), text, &dve::Options::default());
    loaded.unwrap_or_else(|| panic!("the model has errors: {diagnostics:?}")).model
}

/// The `.model` form of a model.
fn language(name: &str) -> Model {
    let text = match name {
        "peterson.4" => include_str!("models/peterson.model"),
        "buffer" => include_str!("models/buffer.model"),
        "at.4" => include_str!("models/at.model"),
        "bakery.5" => include_str!("models/bakery.model"),
        "phils.6" => include_str!("models/phils.model"),
        _ => include_str!("models/anderson.model"),
    };
    let (loaded, diagnostics) = model::load(SourceId(0), text);
    loaded.unwrap_or_else(|| panic!("the model has errors: {diagnostics:?}")).model
}
