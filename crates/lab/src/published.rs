//! Published figures for comparison, formula by formula.

use crate::experiment::NamedFormula;
use crate::synthetic::{MEASURES, MeasuredMeans};
use invigil_decent::algorithm::Algorithm;
use std::fmt;

/// Published figures for formulae and algorithms: a subset of the [`MEASURES`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedMetrics {
    /// Their source.
    pub source: String,
    /// Indices of the measures in [`MEASURES`].
    measures: Vec<usize>,
    /// Name of the formula, name of the algorithm, figures.
    rows: Vec<(String, String, Vec<f64>)>,
}

/// Reason why figures cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedError(String);

impl fmt::Display for PublishedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PublishedError {}

impl PublishedMetrics {
    /// Parses a table: CSV with the columns `spec` and `algorithm`, and one per measure.
    ///
    /// ```
    /// use invigil_lab::published::PublishedMetrics;
    ///
    /// assert!(PublishedMetrics::read("thesis", "spec,algorithm,delay,data\n15b,choreography,116.52,18.00\n").is_ok());
    /// let wrong = PublishedMetrics::read("thesis", "spec,algorithm,speed\n").unwrap_err();
    /// assert_eq!(wrong.to_string(), "unknown measure `speed`; use one of delay, messages, data, S max, S crit, convergence");
    /// ```
    ///
    /// # Errors
    /// Fails if a column is missing or unknown, or if a figure is not a number.
    pub fn read(source: &str, text: &str) -> Result<PublishedMetrics, PublishedError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let unreadable = |error: csv::Error| PublishedError(error.to_string());
        let header = reader.headers().map_err(unreadable)?.clone();
        let mut names = header.iter();
        if (names.next(), names.next()) != (Some("spec"), Some("algorithm")) {
            return Err(PublishedError("the first columns must be `spec` and `algorithm`".to_owned()));
        }
        let measures = names.map(|name| {
            MEASURES.iter().position(|(measure, _)| *measure == name).ok_or_else(|| {
                let names: Vec<&str> = MEASURES.iter().map(|(name, _)| *name).collect();
                PublishedError(format!("unknown measure `{name}`; use one of {}", names.join(", ")))
            })
        });
        let measures = measures.collect::<Result<_, _>>()?;
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(unreadable)?;
            let line = record.position().map_or(0, csv::Position::line);
            let figures = record.iter().skip(2).map(|cell| {
                cell.parse().map_err(|_| PublishedError(format!("line {line}: `{cell}` is not a number")))
            });
            let figures = figures.collect::<Result<_, _>>()?;
            rows.push((record[0].to_owned(), record[1].to_owned(), figures));
        }
        Ok(PublishedMetrics { source: source.to_owned(), measures, rows })
    }

    fn figure(&self, name: &str, algorithm: &str, measure: usize) -> Option<f64> {
        let (_, _, figures) = self.rows.iter().find(|(spec, by, _)| spec == name && by == algorithm)?;
        let at = self.measures.iter().position(|index| *index == measure)?;
        figures.get(at).copied()
    }
}

/// Formats the mean of each measure for each formula and algorithm: first the published one, then the measured one with
/// each encoding. Contains the published measures, or all of them if none are published.
pub fn formulae_table(
    list: &[NamedFormula],
    measured: &[MeasuredMeans],
    published: Option<&PublishedMetrics>,
) -> String {
    let measures =
        published.map_or_else(|| (0..MEASURES.len()).collect(), |figures| figures.measures.clone());
    let encodings = distinct(measured.iter().map(|found| found.encoding.as_str()));
    let source: Vec<&str> =
        published.iter().map(|figures| figures.source.as_str()).chain(encodings).collect();
    // The name of a measure is printed above its first column.
    let above = measures.iter().flat_map(|measure| {
        (0..source.len()).map(|column| if column == 0 { MEASURES[*measure].0 } else { "" })
    });
    let below = measures.iter().flat_map(|_| source.iter().copied());
    let head =
        |first: [&str; 2], others: Vec<&str>| first.into_iter().chain(others).map(str::to_owned).collect();
    let mut lines: Vec<Vec<String>> =
        vec![head(["", ""], above.collect()), head(["spec", "algorithm"], below.collect())];
    for one in list {
        let ran = |algorithm: &&str| {
            measured.iter().any(|found| found.formula == one.formula && found.algorithm == *algorithm)
        };
        for algorithm in Algorithm::ALL.iter().map(Algorithm::name).filter(ran) {
            // The first column holds published figures, if there are any.
            let figure = |measure: usize, column: usize| match published.filter(|_| column == 0) {
                Some(figures) => figures.figure(&one.name, algorithm, measure),
                None => {
                    let found = measured.iter().find(|found| {
                        found.formula == one.formula
                            && found.algorithm == algorithm
                            && found.encoding == source[column]
                    });
                    found.map(|found| found.means[measure].0)
                }
            };
            let columns = |measure: &usize| {
                (0..source.len()).map(|column| figure(*measure, column)).collect::<Vec<_>>()
            };
            let cells = measures.iter().flat_map(columns);
            let cells = cells.map(|cell| cell.map_or("-".to_owned(), |figure| format!("{figure:.2}")));
            lines.push([one.name.clone(), algorithm.to_owned()].into_iter().chain(cells).collect());
        }
    }
    crate::synthetic::layout(&lines, 2)
}

/// Returns the distinct words in order of first occurrence.
fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for word in words {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all
}
