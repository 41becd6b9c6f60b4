//! The work of one thread.

use super::{Cell, Experiment, Failure, History};
use crate::store::{Measured, Row};
use invigil_decent::algorithm::{Choice, Prepared};
use invigil_decent::encoding::{Encoding, Expressions, Quick, States};
use invigil_decent::measure::Figures;
use invigil_decent::simulate::Outcome;
use invigil_ltl::Logic;
use invigil_ltl::moore::Truth;

/// The rows of all traces in one way, or why there are none.
pub(super) type Done = Result<Vec<Row>, Failure>;

/// Runs a cell. `done` says whether to go on, and so does the answer.
pub(super) fn run(experiment: &Experiment, cell: &Cell<'_>, mut done: impl FnMut(Done) -> bool) -> bool {
    let mut logic = Logic::new(experiment.budget);
    cell.ways.iter().all(|(choice, history)| {
        done(match history {
            History::Expressions => rows::<Expressions>(experiment, cell, &mut logic, *choice, *history),
            History::Quick => rows::<Expressions<Quick>>(experiment, cell, &mut logic, *choice, *history),
            History::States => rows::<States>(experiment, cell, &mut logic, *choice, *history),
        })
    })
}

fn rows<E: Encoding>(
    experiment: &Experiment,
    cell: &Cell<'_>,
    logic: &mut Logic,
    algorithm: Choice,
    history: History,
) -> Done {
    let system = &cell.subject.system;
    let failure = |words: String| Failure { algorithm, formula: cell.formula.to_owned(), words };
    let formula = logic.parse(cell.formula).map_err(|wrong| failure(wrong.to_string()))?;
    let prepared =
        Prepared::<E>::new(algorithm, logic, formula, system).map_err(|wrong| failure(wrong.to_string()))?;
    let word = |word: &str| Measured::Word(word.to_owned());
    let count = |count: usize| Measured::Count(count as i64);
    let tags = |trial: &super::Trial| {
        [
            ("experiment", word(&experiment.name)),
            ("alg", word(algorithm.name())),
            ("encoding", word(history.name())),
            ("comps", count(system.components().len())),
            ("formula", word(cell.formula)),
            ("distribution", word(&trial.distribution)),
            ("trace", count(trial.number)),
            ("monitors", count(prepared.monitors())),
        ]
    };
    let mut trials = cell.subject.trials.iter();
    let mut rows = Vec::with_capacity(trials.len());
    let traces = cell.subject.trials.iter().map(|trial| &trial.trace);
    let ran = prepared.run(system, experiment.conditions, traces, |outcome, figures| {
        if let Some(trial) = trials.next() {
            let measured = tags(trial).into_iter().chain(measures(&outcome, &figures));
            rows.push(measured.map(|(name, value)| (name.to_owned(), value)).collect());
        }
    });
    ran.map(|()| rows).map_err(|wrong| failure(wrong.to_string()))
}

fn measures(outcome: &Outcome, figures: &Figures) -> impl Iterator<Item = (&'static str, Measured)> {
    let verdict = Measured::Word(verdict(outcome.verdict).to_owned());
    let found = outcome.found.map(|(at, _)| ("found", Measured::Count(at.into())));
    // Whole numbers take less room.
    let number = |value: f64| match value as i64 {
        whole if whole as f64 == value => Measured::Count(whole),
        _ => Measured::Number(value),
    };
    let figures = figures.named().map(|(name, value)| (name, number(value)));
    [("verdict", verdict)].into_iter().chain(found).chain(figures)
}

/// What a verdict is called in the store.
fn verdict(truth: Truth) -> &'static str {
    match truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "unknown",
    }
}
