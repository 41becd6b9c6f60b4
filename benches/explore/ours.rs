//! Our own search.

use crate::sketch::Sketch;
use invigil_benches::{Time, timed};
use invigil_compile::Compiled;
use invigil_explore::{Search, Wanted, breadth};
use invigil_expr::diag::SourceId;
use invigil_lang::{dve, model};
use invigil_model::Model;
use std::process::Command;
use std::time::{Duration, Instant};

/// What our search found.
#[derive(Clone)]
pub(crate) struct Ours {
    pub(crate) states: u64,
    pub(crate) bytes: u64,
    pub(crate) time: Time,
}

impl Ours {
    /// With the times of another run of the same where they are shorter.
    fn better(mut self, again: Ours) -> Ours {
        self.time.cpu = self.time.cpu.min(again.time.cpu);
        self.time.wall = self.time.wall.min(again.time.wall);
        self
    }
}

/// What our search did on a model: by its DVE and its text in the language on one thread, and how many times as fast the
/// latter is on two, by the clock on the wall.
pub(crate) struct Found {
    pub(crate) dve: Ours,
    pub(crate) language: Ours,
    pub(crate) speedup: f64,
    /// How many searches on one thread are done by two at a time in the time of one alone: what the machine gives to two that
    /// have nothing to do with each other. Two of its processors may be one that does two things.
    pub(crate) machine: f64,
}

/// What the benchmark is called with, to explore one model and say how that went.
pub(crate) const ALONE: &str = "--explore";

/// In what ways a model is explored in one process: each text on so many threads, in turns, at least so often, and for at least
/// so long: what takes a quarter of a second is disturbed as a whole by what would not be noticed in a longer search.
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

/// How a model is explored.
#[derive(Clone, Copy)]
enum Turn {
    Threads(usize),
    /// On one thread, and at the same time once more on another.
    TwoAtOnce,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Dve,
    Language,
}

/// Explores a model, each way in a process of its own, as SPIN's verifier is one: what others have left of the memory must not
/// count.
pub(crate) fn search(sketch: &Sketch) -> Found {
    let program = std::env::current_exe().expect("the benchmark knows where it is");
    let run = |way: &str| -> Vec<Vec<Ours>> {
        let output = Command::new(&program).args([ALONE, sketch.name, way]).output();
        let output = output.expect("the benchmark can be run again");
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        let rounds: Vec<Vec<Ours>> = words.lines().map(read).collect();
        assert!(rounds.len() > 1, "{}: {words}{}", sketch.name, String::from_utf8_lossy(&output.stderr));
        rounds
    };
    // The best: other programs run, too.
    let best = |rounds: Vec<Vec<Ours>>, at: usize| {
        let all =
            rounds.into_iter().filter_map(|mut round| (at < round.len()).then(|| round.swap_remove(at)));
        all.reduce(Ours::better).expect("every round says how it went")
    };
    let wall = |rounds: &[Vec<Ours>], at: usize| best(rounds.to_vec(), at).time.wall.as_secs_f64();
    // To compare one core with two, the first round does not count, in which the system is yet to find the memory.
    let both = run("both").split_off(1);
    Found {
        dve: best(run("dve"), 0),
        language: best(run("language"), 0),
        speedup: wall(&both, 0) / wall(&both, 1),
        machine: 2.0 * wall(&both, 0) / wall(&both, 2),
    }
}

/// What such a process does: prints a line for each round.
pub(crate) fn search_alone(sketch: &Sketch, way: &str) {
    let way = WAYS.iter().find(|known| known.name == way).expect("there is such a way");
    let (dve, language) = (dve(&sketch.dve()), language(sketch.name));
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds < way.rounds || begun.elapsed() < Duration::from_secs(way.seconds) {
        rounds += 1;
        let words = way.turns.iter().map(|(text, turn)| {
            let model = if *text == Text::Dve { &dve } else { &language };
            let Ours { states, bytes, time } = match turn {
                Turn::Threads(threads) => explore(model, *threads),
                Turn::TwoAtOnce => explore_twice(model),
            };
            format!("{states} {bytes} {} {}", time.wall.as_nanos(), time.cpu.as_nanos())
        });
        println!("{}", words.collect::<Vec<_>>().join(" "));
    }
}

/// Reads such a line.
fn read(line: &str) -> Vec<Ours> {
    let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let all = numbers.chunks_exact(4).map(|numbers| Ours {
        states: numbers[0],
        bytes: numbers[1],
        time: Time { wall: Duration::from_nanos(numbers[2]), cpu: Duration::from_nanos(numbers[3]) },
    });
    all.collect()
}

/// Compiles and explores a model; both are timed.
pub(crate) fn explore(model: &Model, threads: usize) -> Ours {
    let wanted = Wanted { deadlocks: false, bad: false, faults: false };
    let search = Search { threads, wanted, whole: true, ..Search::default() };
    let (time, report) = timed(|| {
        let compiled =
            Compiled::new(model, &[]).unwrap_or_else(|why| panic!("the model cannot be compiled: {}", why.0));
        breadth(&compiled, &search, &())
    });
    Ours { states: report.totals.states, bytes: report.totals.memory, time }
}

/// Explores a model on two threads that do the same each; the time of both.
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
    let (loaded, problems) = dve::load(SourceId(0), text, &dve::Options::default());
    loaded.unwrap_or_else(|| panic!("the model is wrong: {problems:?}")).model
}

/// The model of this name in our language.
fn language(name: &str) -> Model {
    let text = match name {
        "peterson.4" => include_str!("models/peterson.model"),
        "buffer" => include_str!("models/buffer.model"),
        "at.4" => include_str!("models/at.model"),
        "bakery.5" => include_str!("models/bakery.model"),
        "phils.6" => include_str!("models/phils.model"),
        _ => include_str!("models/anderson.model"),
    };
    let (loaded, problems) = model::load(SourceId(0), text);
    loaded.unwrap_or_else(|| panic!("the model is wrong: {problems:?}")).model
}
