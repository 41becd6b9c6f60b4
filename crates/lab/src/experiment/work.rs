//! Work of one thread.

use super::{EncodingKind, Experiment, RunError, WorkItem};
use crate::store::{Measurement, Row};
use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::encoding::{Encoding, Expressions, Quick, States};
use invigil_decent::metrics::Metrics;
use invigil_decent::simulate::SimulationResult;
use invigil_ltl::Logic;
use invigil_ltl::moore::Truth;

/// Rows of all traces for one variant, or why there are none.
pub(super) type TrialResult = Result<Vec<Row>, RunError>;

/// Runs a work item. `on_result` receives the results and returns whether to continue; so does this function.
pub(super) fn run(
    experiment: &Experiment,
    item: &WorkItem<'_>,
    mut on_result: impl FnMut(TrialResult) -> bool,
) -> bool {
    let mut logic = Logic::new(experiment.budget);
    item.variants.iter().all(|(algorithm, encoding)| {
        on_result(match encoding {
            EncodingKind::Expressions => {
                rows::<Expressions>(experiment, item, &mut logic, *algorithm, *encoding)
            }
            EncodingKind::Quick => {
                rows::<Expressions<Quick>>(experiment, item, &mut logic, *algorithm, *encoding)
            }
            EncodingKind::States => rows::<States>(experiment, item, &mut logic, *algorithm, *encoding),
        })
    })
}

fn rows<E: Encoding>(
    experiment: &Experiment,
    item: &WorkItem<'_>,
    logic: &mut Logic,
    algorithm: Algorithm,
    encoding: EncodingKind,
) -> TrialResult {
    let system = &item.workload.system;
    let failure = |reason: String| RunError { algorithm, formula: item.formula.to_owned(), reason };
    let formula = logic.parse(item.formula).map_err(|error| failure(error.to_string()))?;
    let prepared = MonitorSet::<E>::new(algorithm, logic, formula, system)
        .map_err(|error| failure(error.to_string()))?;
    let word = |word: &str| Measurement::Text(word.to_owned());
    let count = |count: usize| Measurement::Count(count as i64);
    let tags = |trial: &super::Trial| {
        [
            ("experiment", word(&experiment.name)),
            ("alg", word(algorithm.name())),
            ("encoding", word(encoding.name())),
            ("comps", count(system.components().len())),
            ("formula", word(item.formula)),
            ("distribution", word(&trial.distribution)),
            ("trace", count(trial.number)),
            ("monitors", count(prepared.monitor_count())),
        ]
    };
    let mut trials = item.workload.trials.iter();
    let mut rows = Vec::with_capacity(trials.len());
    let traces = item.workload.trials.iter().map(|trial| &trial.trace);
    let result = prepared.run(system, experiment.conditions, traces, |outcome, figures| {
        if let Some(trial) = trials.next() {
            let measured = tags(trial).into_iter().chain(measures(&outcome, &figures));
            rows.push(measured.map(|(name, value)| (name.to_owned(), value)).collect());
        }
    });
    result.map(|()| rows).map_err(|error| failure(error.to_string()))
}

fn measures(
    outcome: &SimulationResult,
    figures: &Metrics,
) -> impl Iterator<Item = (&'static str, Measurement)> {
    let verdict = Measurement::Text(verdict(outcome.verdict).to_owned());
    let found = outcome.verdict_origin.map(|(at, _)| ("found", Measurement::Count(at.into())));
    // Integers take less space in the store.
    let number = |value: f64| match value as i64 {
        whole if whole as f64 == value => Measurement::Count(whole),
        _ => Measurement::Number(value),
    };
    let figures = figures.named().map(|(name, value)| (name, number(value)));
    [("verdict", verdict)].into_iter().chain(found).chain(figures)
}

/// Returns the name of a verdict in the store.
fn verdict(truth: Truth) -> &'static str {
    match truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "unknown",
    }
}
