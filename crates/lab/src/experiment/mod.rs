//! Experiments: every algorithm on every formula on every trace, on all cores. What is in the store already is not run again.

mod list;
mod verify;
mod work;

pub use list::Listed;
pub use verify::{Discarded, Verified, verify};

use crate::store::{Store, Unkept};
use invigil_decent::algorithm::Choice;
use invigil_decent::simulate::{Conditions, Trace};
use invigil_decent::system::System;
use invigil_ltl::Budget;
use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// How monitors keep what they know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum History {
    /// The document's expressions, simplified to sums of products where they are complex. For its counts and sizes.
    Expressions,
    /// The document's expressions, each given to the simplifier.
    Quick,
    /// States that are possible: as sound, and faster.
    States,
}

impl History {
    /// All of them.
    pub const ALL: [History; 3] = [History::Expressions, History::Quick, History::States];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            History::Expressions => "expressions",
            History::Quick => "expressions-quick",
            History::States => "states",
        }
    }
}

/// There is no encoding of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownHistory(String);

impl fmt::Display for UnknownHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = History::ALL.map(History::name).join(", ");
        write!(f, "there is no encoding `{}`: take one of {names}", self.0)
    }
}

impl std::error::Error for UnknownHistory {}

impl FromStr for History {
    type Err = UnknownHistory;

    fn from_str(name: &str) -> Result<History, UnknownHistory> {
        let known = History::ALL.into_iter().find(|history| history.name() == name);
        known.ok_or_else(|| UnknownHistory(name.to_owned()))
    }
}

/// A trace of an experiment.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What its values are distributed like, or where it comes from.
    pub distribution: String,
    /// Its number among those of the same subject.
    pub number: usize,
    /// What is observed.
    pub trace: Trace,
}

/// A system, what is to hold of it, and what it did.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The system.
    pub system: System,
    /// The formulae, as text.
    pub formulae: Vec<String>,
    /// The traces.
    pub trials: Vec<Trial>,
}

/// An experiment.
///
/// ```
/// use invigil_decent::algorithm::Choice;
/// use invigil_decent::simulate::Trace;
/// use invigil_lab::experiment::{Experiment, History, Subject, Trial};
/// use invigil_lab::generate::system;
/// use invigil_lab::store::Store;
/// use std::num::NonZeroUsize;
/// use std::ops::ControlFlow;
///
/// let system = system(3, 1)?;
/// let trace = Trace::whole(&system, 10, |_, at| at < 5);
/// let trials = vec![Trial { distribution: "none".into(), number: 0, trace }];
/// let subject = Subject { system, formulae: vec!["G (a0 & b0 & c0)".into()], trials };
/// let experiment = Experiment::new("first", Choice::ALL.to_vec(), vec![History::States], vec![subject]);
/// let mut store = Store::in_memory()?;
/// let done = experiment.run(&mut store, NonZeroUsize::MIN, |_| ControlFlow::Continue(()))?;
/// assert_eq!((done.runs, done.known), (6, 0));
/// // Another time, nothing is left to do.
/// let again = experiment.run(&mut store, NonZeroUsize::MIN, |_| ControlFlow::Continue(()))?;
/// assert_eq!((again.runs, again.known), (0, 6));
/// let table = store.query("SELECT DISTINCT verdict, comps FROM bench")?;
/// assert_eq!(table.rows, [["false", "3"]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What tells it from others in the same store: whatever decides on the figures and is in no tag of a run.
    pub name: String,
    /// The algorithms, each with its encoding.
    pub ways: Vec<(Choice, History)>,
    /// How messages travel.
    pub conditions: Conditions,
    /// The systems with their formulae and traces.
    pub subjects: Vec<Subject>,
    /// What the monitors of a formula may cost.
    pub budget: Budget,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs that are in the store.
    pub done: usize,
    /// Of how many.
    pub of: usize,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Runs that were made.
    pub runs: usize,
    /// Runs that were in the store before.
    pub known: usize,
    /// What could not be run.
    pub failures: Vec<Failure>,
    /// Whether all was looked at; if not, the next time goes on.
    pub is_whole: bool,
}

/// An algorithm that has no monitors for a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The algorithm.
    pub algorithm: Choice,
    /// The formula.
    pub formula: String,
    /// Why.
    pub words: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of `{}`: {}", self.algorithm, self.formula, self.words)
    }
}

/// What one thread does at a time: a formula, in the ways that are not in the store.
struct Cell<'a> {
    subject: &'a Subject,
    formula: &'a str,
    ways: Vec<(Choice, History)>,
}

impl Experiment {
    /// An experiment under the document's conditions: every algorithm with every encoding.
    pub fn new(
        name: &str,
        algorithms: Vec<Choice>,
        histories: Vec<History>,
        subjects: Vec<Subject>,
    ) -> Experiment {
        let with_all = |choice: Choice| histories.iter().map(move |history| (choice, *history));
        let ways = algorithms.into_iter().flat_map(with_all).collect();
        let (conditions, budget) = (Conditions::default(), Budget::default());
        Experiment { name: name.to_owned(), ways, conditions, subjects, budget }
    }

    /// How many runs it has.
    pub fn runs(&self) -> usize {
        let runs = |subject: &Subject| subject.formulae.len() * subject.trials.len() * self.ways.len();
        self.subjects.iter().map(runs).sum()
    }

    /// Runs what is not in the store, on so many threads. `told` hears how far it is and says whether to go on.
    ///
    /// # Errors
    /// If measures cannot be kept.
    pub fn run(
        &self,
        store: &mut Store,
        threads: NonZeroUsize,
        mut told: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Report, Unkept> {
        let (cells, known) = self.cells(store)?;
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let mut report = Report { known, is_whole: true, ..Report::default() };
        let mut progress = Progress { done: known, of: self.runs() };
        let outcome = thread::scope(|scope| {
            // Whoever is faster than the store waits.
            let (sender, receiver) = mpsc::sync_channel(64);
            for _ in 0..threads.get().min(cells.len()) {
                let sender = sender.clone();
                scope.spawn(|| {
                    let sender = sender;
                    while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let is_wanted = work::run(self, cell, |done| {
                            !stop.load(Ordering::Relaxed) && sender.send(done).is_ok()
                        });
                        if !is_wanted {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut kept = Ok(());
            for done in receiver {
                match done {
                    Ok(rows) => {
                        kept = store.add(&rows);
                        report.runs += rows.len();
                        progress.done += rows.len();
                    }
                    Err(failure) => report.failures.push(failure),
                }
                if kept.is_err() || told(progress).is_break() {
                    report.is_whole = false;
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
            kept
        });
        outcome.map(|()| report)
    }

    /// What is to be done, and how many runs are in the store.
    fn cells(&self, store: &mut Store) -> Result<(Vec<Cell<'_>>, usize), Unkept> {
        let done = self.done(store)?;
        let mut known = 0;
        let mut cells = Vec::new();
        for subject in &self.subjects {
            let components = subject.system.components().len().to_string();
            for formula in &subject.formulae {
                let mut ways = Vec::new();
                for (choice, history) in &self.ways {
                    let key = [choice.name(), history.name(), &components, formula].map(str::to_owned);
                    match done.get(&key) {
                        Some(count) if *count == subject.trials.len() => known += count,
                        // A part of them is of an experiment with fewer traces.
                        found => {
                            if found.is_some() {
                                store.remove(&self.tags(&key))?;
                            }
                            ways.push((*choice, *history));
                        }
                    }
                }
                if !ways.is_empty() {
                    cells.push(Cell { subject, formula, ways });
                }
            }
        }
        Ok((cells, known))
    }

    fn tags<'k>(
        &'k self,
        [algorithm, encoding, components, formula]: &'k [String; 4],
    ) -> [(&'k str, &'k str); 5] {
        [
            ("experiment", self.name.as_str()),
            ("alg", algorithm),
            ("encoding", encoding),
            ("comps", components),
            ("formula", formula),
        ]
    }

    /// How many runs of each way are in the store.
    fn done(&self, store: &Store) -> Result<HashMap<[String; 4], usize>, Unkept> {
        let mut done = HashMap::new();
        if !store.has("experiment") {
            return Ok(done);
        }
        let question = format!(
            "SELECT alg, encoding, comps, formula, count(*) FROM bench WHERE experiment = {} GROUP BY 1, 2, 3, 4",
            crate::store::text(&self.name)
        );
        for row in store.query(&question)?.rows {
            if let Ok([algorithm, encoding, components, formula, count]) = <[String; 5]>::try_from(row) {
                done.insert([algorithm, encoding, components, formula], count.parse().unwrap_or(0));
            }
        }
        Ok(done)
    }
}
