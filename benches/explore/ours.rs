//! Our own search.

use crate::sketch::Sketch;
use invigil_benches::{Time, timed};
use invigil_compile::Compiled;
use invigil_explore::{Search, Wanted, breadth};
use invigil_expr::diag::SourceId;
use invigil_lang::{dve, model};
use invigil_model::Model;
use std::process::Command;
use std::time::Duration;

/// What our search found.
pub(crate) struct Ours {
    pub(crate) states: u64,
    pub(crate) bytes: u64,
    pub(crate) time: Time,
}

impl Ours {
    /// How many times as fast another run was.
    fn speedup(&self, other: &Ours) -> f64 {
        self.time.wall.as_secs_f64() / other.time.wall.as_secs_f64()
    }

    /// With the times of another run of the same where they are shorter.
    fn better(mut self, again: &Ours) -> Ours {
        self.time.cpu = self.time.cpu.min(again.time.cpu);
        self.time.wall = self.time.wall.min(again.time.wall);
        self
    }
}

/// What our search did on a model: by its DVE and its text in the language on one thread, and by the latter on two.
pub(crate) struct Found {
    pub(crate) dve: Ours,
    pub(crate) language: Ours,
    pub(crate) two: Ours,
    /// How many times as fast it is on two cores, by the clock on the wall.
    pub(crate) speedup: f64,
}

impl Found {
    /// Reads a round that [`search_alone`] printed.
    fn read(line: &str) -> Option<Found> {
        let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let mut all = numbers.chunks_exact(4).map(|numbers| Ours {
            states: numbers[0],
            bytes: numbers[1],
            time: Time { wall: Duration::from_nanos(numbers[2]), cpu: Duration::from_nanos(numbers[3]) },
        });
        let (dve, language, two) = (all.next()?, all.next()?, all.next()?);
        Some(Found { speedup: language.speedup(&two), dve, language, two })
    }

    fn better(self, again: Found) -> Found {
        Found {
            dve: self.dve.better(&again.dve),
            language: self.language.better(&again.language),
            two: self.two.better(&again.two),
            speedup: self.speedup,
        }
    }
}

/// How often each is done.
const ROUNDS: usize = 7;

/// What the benchmark is called with, to explore one model and say how that went.
pub(crate) const ALONE: &str = "--explore";

/// Explores a model in a process of its own, as SPIN's verifier is one: what others have left of the memory must not count.
pub(crate) fn search(sketch: &Sketch) -> Found {
    let program = std::env::current_exe().expect("the benchmark knows where it is");
    let output = Command::new(program).args([ALONE, sketch.name]).output();
    let output = output.expect("the benchmark can be run again");
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    // The best of each: other programs run, too. To compare one core with two, the first round does not count, in which the
    // system is yet to find the memory.
    let best = |from| words.lines().skip(from).filter_map(Found::read).reduce(Found::better);
    match (best(0), best(1)) {
        (Some(all), Some(later)) => Found { speedup: later.language.speedup(&later.two), ..all },
        _ => panic!("{}: {words}{}", sketch.name, String::from_utf8_lossy(&output.stderr)),
    }
}

/// What that process does: explores by each in turns, and prints each round.
pub(crate) fn search_alone(sketch: &Sketch) {
    let (dve, language) = (dve(&sketch.dve()), language(sketch.name));
    for _ in 0..ROUNDS {
        let round = [explore(&dve, 1), explore(&language, 1), explore(&language, 2)];
        let words = round.map(|Ours { states, bytes, time }| {
            format!("{states} {bytes} {} {}", time.wall.as_nanos(), time.cpu.as_nanos())
        });
        println!("{}", words.join(" "));
    }
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
