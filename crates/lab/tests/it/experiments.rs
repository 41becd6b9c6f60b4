//! Experiments: the same results on any number of threads, resumable after an interruption.

use invigil_lab::experiment::{Experiment, Progress};
use invigil_lab::store::Store;
use invigil_lab::synthetic::thesis::SYNTHETIC;
use invigil_lab::synthetic::{SyntheticBenchmark, by_components, compare, components_table};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

fn small() -> (SyntheticBenchmark, Experiment) {
    let size = SyntheticBenchmark {
        components: 3..=4,
        formulae: 3,
        traces: 1,
        length: 20,
        ..SyntheticBenchmark::default()
    };
    let experiment = size.experiment().unwrap();
    (size, experiment)
}

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

fn all(store: &Store) -> Vec<Vec<String>> {
    let question = "SELECT alg, encoding, comps, formula, trace, verdict, rounds, messages, data, average_delay, kept \
                    FROM bench ORDER BY 1, 2, 3, 4, 5";
    store.query(question).unwrap().rows
}

#[test]
fn threads_and_interruptions_do_not_change_results() {
    let (_, experiment) = small();
    let go_on = |_: Progress| ControlFlow::Continue(());
    let mut alone = Store::in_memory().unwrap();
    let report = experiment.run(&mut alone, threads(1), go_on).unwrap();
    assert_eq!((report.runs, report.failures.len(), report.is_complete), (experiment.runs(), 0, true));
    assert_eq!(experiment.runs(), 2 * 3 * 4 * 11);

    let mut stopped = Store::in_memory().unwrap();
    let mut reported = 0;
    let part = experiment.run(&mut stopped, threads(3), |progress| {
        reported += 1;
        assert_eq!(progress.total, experiment.runs());
        if reported == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let part = part.unwrap();
    assert!(!part.is_complete && part.runs == 5 * 4, "{part:?}");
    let rest = experiment.run(&mut stopped, threads(3), go_on).unwrap();
    assert_eq!((rest.stored, rest.runs), (part.runs, experiment.runs() - part.runs));
    assert_eq!(all(&alone), all(&stopped));

    // All algorithms that reach a verdict reach the same one.
    let contradictions = "SELECT formula, trace FROM bench WHERE verdict <> 'unknown' GROUP BY comps, formula, trace \
                          HAVING count(DISTINCT verdict) > 1";
    assert!(alone.query(contradictions).unwrap().rows.is_empty());
}

#[test]
fn runs_of_another_size_are_repeated() {
    let (size, experiment) = small();
    let mut store = Store::in_memory().unwrap();
    let go_on = |_: Progress| ControlFlow::Continue(());
    experiment.run(&mut store, threads(2), go_on).unwrap();
    let larger = SyntheticBenchmark { traces: 2, ..size }.experiment().unwrap();
    let report = larger.run(&mut store, threads(2), go_on).unwrap();
    assert_eq!((report.stored, report.runs), (0, larger.runs()));
    assert_eq!(all(&store).len(), larger.runs());
}

#[test]
fn tables_contain_published_and_measured_rows() {
    let (_, experiment) = small();
    let mut store = Store::in_memory().unwrap();
    experiment.run(&mut store, threads(2), |_| ControlFlow::Continue(())).unwrap();
    let measured = by_components(&store, &experiment.name).unwrap();
    assert_eq!(measured.len(), 2 * 11);
    assert!(measured.iter().all(|found| found.runs == 12));
    let table = components_table(&measured, &SYNTHETIC);
    assert_eq!(table.lines().count(), 1 + 2 * 4 + 2 * 11);
    assert!(table.contains("3    orchestration  thesis       0.48 (0.50)"), "{table}");
    assert_eq!(compare(&measured, "states").pairs, 48);
}
