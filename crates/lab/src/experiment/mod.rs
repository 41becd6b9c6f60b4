//! Experiments: every algorithm on every formula and trace, on all cores. Runs that are already in the store are
//! skipped.

mod list;
mod verify;
mod work;

pub use list::NamedFormula;
pub use verify::{DiscardReason, VerifiedFormulae, check_monitorable};

use crate::store::{Store, StoreError};
use invigil_decent::algorithm::Algorithm;
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

/// Encoding of histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EncodingKind {
    /// Expressions of [EH18 §5], simplified to sums of products where they are complex. Reproduces its counts and
    /// sizes.
    Expressions,
    /// Expressions of [EH18 §5], each passed to the simplifier.
    Quick,
    /// Possible states: equally sound, and faster.
    States,
}

impl EncodingKind {
    /// All encodings.
    pub const ALL: [EncodingKind; 3] = [EncodingKind::Expressions, EncodingKind::Quick, EncodingKind::States];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            EncodingKind::Expressions => "expressions",
            EncodingKind::Quick => "expressions-quick",
            EncodingKind::States => "states",
        }
    }
}

/// Error: no encoding has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEncoding(String);

impl fmt::Display for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = EncodingKind::ALL.map(EncodingKind::name).join(", ");
        write!(f, "unknown encoding `{}`; use one of {names}", self.0)
    }
}

impl std::error::Error for UnknownEncoding {}

impl FromStr for EncodingKind {
    type Err = UnknownEncoding;

    fn from_str(name: &str) -> Result<EncodingKind, UnknownEncoding> {
        let known = EncodingKind::ALL.into_iter().find(|encoding| encoding.name() == name);
        known.ok_or_else(|| UnknownEncoding(name.to_owned()))
    }
}

/// Trace of an experiment.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Distribution of its values, or its origin.
    pub distribution: String,
    /// Index among the traces of its workload.
    pub number: usize,
    /// The observations.
    pub trace: Trace,
}

/// System with formulae and traces.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The system.
    pub system: System,
    /// The formulae, as text.
    pub formulae: Vec<String>,
    /// The traces.
    pub trials: Vec<Trial>,
}

/// Algorithms and encodings to run on the formulae and traces of workloads.
///
/// ```
/// use invigil_decent::algorithm::Algorithm;
/// use invigil_decent::simulate::Trace;
/// use invigil_lab::experiment::{Experiment, EncodingKind, Workload, Trial};
/// use invigil_lab::generate::system;
/// use invigil_lab::store::Store;
/// use std::num::NonZeroUsize;
/// use std::ops::ControlFlow;
///
/// let system = system(3, 1)?;
/// let trace = Trace::from_fn(&system, 10, |_, at| at < 5);
/// let trials = vec![Trial { distribution: "none".into(), number: 0, trace }];
/// let workload = Workload { system, formulae: vec!["G (a0 & b0 & c0)".into()], trials };
/// let experiment = Experiment::new("first", Algorithm::ALL.to_vec(), vec![EncodingKind::States], vec![workload]);
/// let mut store = Store::in_memory()?;
/// let done = experiment.run(&mut store, NonZeroUsize::MIN, |_| ControlFlow::Continue(()))?;
/// assert_eq!((done.runs, done.stored), (6, 0));
/// // The second time all runs are in the store.
/// let again = experiment.run(&mut store, NonZeroUsize::MIN, |_| ControlFlow::Continue(()))?;
/// assert_eq!((again.runs, again.stored), (0, 6));
/// let table = store.query("SELECT DISTINCT verdict, comps FROM bench")?;
/// assert_eq!(table.rows, [["false", "3"]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Identifies the experiment in the store. Must encode everything that affects the results and is not a tag of a
    /// run.
    pub name: String,
    /// The algorithms, each with its encoding.
    pub variants: Vec<(Algorithm, EncodingKind)>,
    /// Network conditions.
    pub conditions: Conditions,
    /// The systems with their formulae and traces.
    pub workloads: Vec<Workload>,
    /// Budget for the monitors of a formula.
    pub budget: Budget,
}

/// Progress of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs in the store.
    pub done: usize,
    /// Total number of runs.
    pub total: usize,
}

/// Result of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExperimentReport {
    /// Number of new runs.
    pub runs: usize,
    /// Number of runs that were in the store before.
    pub stored: usize,
    /// Formulae that could not be run.
    pub failures: Vec<RunError>,
    /// Whether the experiment is complete; if not, it can be continued.
    pub is_complete: bool,
}

/// Formula for which an algorithm has no monitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The formula.
    pub formula: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of `{}`: {}", self.algorithm, self.formula, self.reason)
    }
}

/// Unit of work of a thread: a formula with the variants that are not in the store.
struct WorkItem<'a> {
    workload: &'a Workload,
    formula: &'a str,
    variants: Vec<(Algorithm, EncodingKind)>,
}

impl Experiment {
    /// Creates an experiment under the conditions of [EH18 §8.2.3]: every algorithm with every encoding.
    pub fn new(
        name: &str,
        algorithms: Vec<Algorithm>,
        encodings: Vec<EncodingKind>,
        workloads: Vec<Workload>,
    ) -> Experiment {
        let with_all = |algorithm: Algorithm| encodings.iter().map(move |encoding| (algorithm, *encoding));
        let variants = algorithms.into_iter().flat_map(with_all).collect();
        let (conditions, budget) = (Conditions::default(), Budget::default());
        Experiment { name: name.to_owned(), variants, conditions, workloads, budget }
    }

    /// Returns the total number of runs.
    pub fn runs(&self) -> usize {
        let runs =
            |workload: &Workload| workload.formulae.len() * workload.trials.len() * self.variants.len();
        self.workloads.iter().map(runs).sum()
    }

    /// Runs what is not in the store. `on_progress` is called after each variant of a formula and decides whether to
    /// continue.
    ///
    /// # Errors
    /// Fails if measurements cannot be stored.
    pub fn run(
        &self,
        store: &mut Store,
        threads: NonZeroUsize,
        mut on_progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ExperimentReport, StoreError> {
        let (items, stored) = self.items(store)?;
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let mut report = ExperimentReport { stored, is_complete: true, ..ExperimentReport::default() };
        let mut progress = Progress { done: stored, total: self.runs() };
        let outcome = thread::scope(|scope| {
            // The channel is bounded: workers wait for the store.
            let (sender, receiver) = mpsc::sync_channel(64);
            for _ in 0..threads.get().min(items.len()) {
                let sender = sender.clone();
                scope.spawn(|| {
                    let sender = sender;
                    while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let continues = work::run(self, item, |done| {
                            !stop.load(Ordering::Relaxed) && sender.send(done).is_ok()
                        });
                        if !continues {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut result = Ok(());
            for done in receiver {
                match done {
                    Ok(rows) => {
                        result = store.add(&rows);
                        report.runs += rows.len();
                        progress.done += rows.len();
                    }
                    Err(failure) => report.failures.push(failure),
                }
                if result.is_err() || on_progress(progress).is_break() {
                    report.is_complete = false;
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
            result
        });
        outcome.map(|()| report)
    }

    /// Returns the work items, and the number of runs in the store.
    fn items(&self, store: &mut Store) -> Result<(Vec<WorkItem<'_>>, usize), StoreError> {
        let done = self.done(store)?;
        let mut stored = 0;
        let mut items = Vec::new();
        for workload in &self.workloads {
            let components = workload.system.components().len().to_string();
            for formula in &workload.formulae {
                let mut variants = Vec::new();
                for (algorithm, encoding) in &self.variants {
                    let key = [algorithm.name(), encoding.name(), &components, formula].map(str::to_owned);
                    match done.get(&key) {
                        Some(count) if *count == workload.trials.len() => stored += count,
                        // Incomplete results are from an experiment with fewer traces and are replaced.
                        found => {
                            if found.is_some() {
                                store.remove(&self.tags(&key))?;
                            }
                            variants.push((*algorithm, *encoding));
                        }
                    }
                }
                if !variants.is_empty() {
                    items.push(WorkItem { workload, formula, variants });
                }
            }
        }
        Ok((items, stored))
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

    /// Returns the number of runs of each variant in the store.
    fn done(&self, store: &Store) -> Result<HashMap<[String; 4], usize>, StoreError> {
        let mut done = HashMap::new();
        if !store.has_column("experiment") {
            return Ok(done);
        }
        let sql = format!(
            "SELECT alg, encoding, comps, formula, count(*) FROM bench WHERE experiment = {} GROUP BY 1, 2, 3, 4",
            crate::store::sql_text(&self.name)
        );
        for row in store.query(&sql)?.rows {
            if let Ok([algorithm, encoding, components, formula, count]) = <[String; 5]>::try_from(row) {
                done.insert([algorithm, encoding, components, formula], count.parse().unwrap_or(0));
            }
        }
        Ok(done)
    }
}
