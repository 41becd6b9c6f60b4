//! Means of the runs in a store.

use super::thesis::MeanAndDeviation;
use crate::store::{Store, StoreError, sql_text};

/// Measures in the order of the tables of EH18: name, and SQL expression over a row of the store.
pub const MEASURES: [(&str, &str); 6] = [
    ("delay", "1.0 * average_delay"),
    ("messages", "1.0 * messages / rounds"),
    ("data", "1.0 * data / rounds"),
    ("S max", "1.0 * maximal_simplifications"),
    ("S crit", "1.0 * critical_simplifications"),
    ("convergence", "1.0 * convergence_evaluations"),
];

/// Means of all [`MEASURES`].
pub type Means = [MeanAndDeviation; 6];

/// Means of a group of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredMeans {
    /// Algorithm.
    pub algorithm: String,
    /// Encoding.
    pub encoding: String,
    /// Number of components.
    pub components: usize,
    /// Distribution of traces; empty for all.
    pub distribution: String,
    /// Formula; empty for all.
    pub formula: String,
    /// Number of runs.
    pub runs: usize,
    /// Means and standard deviations.
    pub means: Means,
}

/// Groups runs by algorithm, encoding and number of components.
///
/// # Errors
/// Fails if the store has no such experiment.
pub fn by_components(store: &Store, experiment: &str) -> Result<Vec<MeasuredMeans>, StoreError> {
    query_means(store, experiment, ["''", "''"])
}

/// Groups runs by algorithm, encoding, number of components and distribution.
///
/// # Errors
/// Fails if the store has no such experiment.
pub fn by_distribution(store: &Store, experiment: &str) -> Result<Vec<MeasuredMeans>, StoreError> {
    query_means(store, experiment, ["distribution", "''"])
}

/// Groups runs by algorithm, encoding, number of components and formula.
///
/// # Errors
/// Fails if the store has no such experiment.
pub fn by_formula(store: &Store, experiment: &str) -> Result<Vec<MeasuredMeans>, StoreError> {
    query_means(store, experiment, ["''", "formula"])
}

fn query_means(
    store: &Store,
    experiment: &str,
    [distribution, formula]: [&str; 2],
) -> Result<Vec<MeasuredMeans>, StoreError> {
    let means: Vec<String> = MEASURES
        .iter()
        .map(|(_, expression)| format!("avg({expression}), avg(({expression}) * ({expression}))"))
        .collect();
    let sql = format!(
        "SELECT alg, encoding, comps, {distribution} AS d, {formula} AS f, count(*), {} FROM bench \
         WHERE experiment = {} GROUP BY alg, encoding, comps, d, f",
        means.join(", "),
        sql_text(experiment)
    );
    let rows = store.query(&sql)?.rows;
    Ok(rows
        .iter()
        .map(|row| {
            let number = |at: usize| row.get(at).and_then(|cell| cell.parse::<f64>().ok()).unwrap_or(0.0);
            let word = |at: usize| row.get(at).cloned().unwrap_or_default();
            let mean = |at: usize| {
                let (mean, square) = (number(6 + 2 * at), number(7 + 2 * at));
                (mean, (square - mean * mean).max(0.0).sqrt())
            };
            MeasuredMeans {
                algorithm: word(0),
                encoding: word(1),
                components: number(2) as usize,
                distribution: word(3),
                formula: word(4),
                runs: number(5) as usize,
                means: std::array::from_fn(mean),
            }
        })
        .collect())
}
