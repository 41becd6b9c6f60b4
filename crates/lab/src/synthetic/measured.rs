//! What the runs in a store come to.

use super::document::Cell;
use crate::store::{Store, Unkept, text};

/// What the document compares, in the order of its tables: a name, and how it is told from a row of the store.
pub const MEASURES: [(&str, &str); 6] = [
    ("delay", "1.0 * average_delay"),
    ("messages", "1.0 * messages / rounds"),
    ("data", "1.0 * data / rounds"),
    ("S max", "1.0 * maximal_simplifications"),
    ("S crit", "1.0 * critical_simplifications"),
    ("convergence", "1.0 * convergence_evaluations"),
];

/// The means of all [`MEASURES`].
pub type Means = [Cell; 6];

/// What the runs of a kind come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The algorithm.
    pub algorithm: String,
    /// The encoding.
    pub encoding: String,
    /// How many components.
    pub components: usize,
    /// How traces are distributed; empty if it is about all.
    pub distribution: String,
    /// The formula; empty if it is about all.
    pub formula: String,
    /// How many runs there are.
    pub runs: usize,
    /// Means and standard deviations.
    pub means: Means,
}

/// By algorithm, encoding and number of components.
///
/// # Errors
/// If the store has no such experiment.
pub fn by_components(store: &Store, experiment: &str) -> Result<Vec<Measured>, Unkept> {
    ask(store, experiment, ["''", "''"])
}

/// By algorithm, encoding, number of components and distribution.
///
/// # Errors
/// If the store has no such experiment.
pub fn by_distribution(store: &Store, experiment: &str) -> Result<Vec<Measured>, Unkept> {
    ask(store, experiment, ["distribution", "''"])
}

/// By algorithm, encoding, number of components and formula.
///
/// # Errors
/// If the store has no such experiment.
pub fn by_formula(store: &Store, experiment: &str) -> Result<Vec<Measured>, Unkept> {
    ask(store, experiment, ["''", "formula"])
}

fn ask(store: &Store, experiment: &str, [distribution, formula]: [&str; 2]) -> Result<Vec<Measured>, Unkept> {
    let means: Vec<String> =
        MEASURES.iter().map(|(_, told)| format!("avg({told}), avg(({told}) * ({told}))")).collect();
    let question = format!(
        "SELECT alg, encoding, comps, {distribution} AS d, {formula} AS f, count(*), {} FROM bench \
         WHERE experiment = {} GROUP BY alg, encoding, comps, d, f",
        means.join(", "),
        text(experiment)
    );
    let rows = store.query(&question)?.rows;
    Ok(rows
        .iter()
        .map(|row| {
            let number = |at: usize| row.get(at).and_then(|cell| cell.parse::<f64>().ok()).unwrap_or(0.0);
            let word = |at: usize| row.get(at).cloned().unwrap_or_default();
            let mean = |at: usize| {
                let (mean, square) = (number(6 + 2 * at), number(7 + 2 * at));
                (mean, (square - mean * mean).max(0.0).sqrt())
            };
            Measured {
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
