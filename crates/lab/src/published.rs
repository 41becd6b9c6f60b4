//! Figures that others have published, beside ours: formula by formula.

use crate::experiment::Listed;
use crate::synthetic::{MEASURES, Measured};
use invigil_decent::algorithm::Choice;
use std::fmt;

/// Figures that others have published: of some formulae and algorithms, some of the [`MEASURES`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// Whose they are.
    pub whose: String,
    /// Which measures there are, by their places among [`MEASURES`].
    measures: Vec<usize>,
    /// What the formula and the algorithm are called, and what was measured.
    rows: Vec<(String, String, Vec<f64>)>,
}

/// Why figures cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl Published {
    /// Reads a table: CSV with the columns `spec` and `algorithm`, and one for each measure.
    ///
    /// ```
    /// use invigil_lab::published::Published;
    ///
    /// assert!(Published::read("thesis", "spec,algorithm,delay,data\n15b,choreography,116.52,18.00\n").is_ok());
    /// let wrong = Published::read("thesis", "spec,algorithm,speed\n").unwrap_err();
    /// assert_eq!(wrong.to_string(), "`speed` is no measure: there are delay, messages, data, S max, S crit, convergence");
    /// ```
    ///
    /// # Errors
    /// If a column is missing or unknown, or if a figure is no number; it says where.
    pub fn read(whose: &str, text: &str) -> Result<Published, Unreadable> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let unreadable = |error: csv::Error| Unreadable(error.to_string());
        let header = reader.headers().map_err(unreadable)?.clone();
        let mut names = header.iter();
        if (names.next(), names.next()) != (Some("spec"), Some("algorithm")) {
            return Err(Unreadable("the first columns must be `spec` and `algorithm`".to_owned()));
        }
        let measures = names.map(|name| {
            MEASURES.iter().position(|(known, _)| *known == name).ok_or_else(|| {
                let known: Vec<&str> = MEASURES.iter().map(|(name, _)| *name).collect();
                Unreadable(format!("`{name}` is no measure: there are {}", known.join(", ")))
            })
        });
        let measures = measures.collect::<Result<_, _>>()?;
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(unreadable)?;
            let line = record.position().map_or(0, csv::Position::line);
            let figures = record.iter().skip(2).map(|cell| {
                cell.parse().map_err(|_| Unreadable(format!("line {line}: `{cell}` is no number")))
            });
            let figures = figures.collect::<Result<_, _>>()?;
            rows.push((record[0].to_owned(), record[1].to_owned(), figures));
        }
        Ok(Published { whose: whose.to_owned(), measures, rows })
    }

    fn figure(&self, name: &str, algorithm: &str, measure: usize) -> Option<f64> {
        let (_, _, figures) = self.rows.iter().find(|(spec, by, _)| spec == name && by == algorithm)?;
        let at = self.measures.iter().position(|known| *known == measure)?;
        figures.get(at).copied()
    }
}

/// For each formula and algorithm the means of each measure: those that were published first, then ours with each encoding. All
/// measures, or those that were published.
pub fn formulae_table(list: &[Listed], measured: &[Measured], published: Option<&Published>) -> String {
    let measures = published.map_or_else(|| (0..MEASURES.len()).collect(), |known| known.measures.clone());
    let encodings = distinct(measured.iter().map(|found| found.encoding.as_str()));
    let whose: Vec<&str> = published.iter().map(|known| known.whose.as_str()).chain(encodings).collect();
    // The name of a measure stands above the first of its columns.
    let above = measures.iter().flat_map(|measure| {
        (0..whose.len()).map(|column| if column == 0 { MEASURES[*measure].0 } else { "" })
    });
    let below = measures.iter().flat_map(|_| whose.iter().copied());
    let head =
        |first: [&str; 2], others: Vec<&str>| first.into_iter().chain(others).map(str::to_owned).collect();
    let mut lines: Vec<Vec<String>> =
        vec![head(["", ""], above.collect()), head(["spec", "algorithm"], below.collect())];
    for one in list {
        let ran = |algorithm: &&str| {
            measured.iter().any(|found| found.formula == one.formula && found.algorithm == *algorithm)
        };
        for algorithm in Choice::ALL.iter().map(Choice::name).filter(ran) {
            // The first column is theirs, if there are such figures.
            let figure = |measure: usize, column: usize| match published.filter(|_| column == 0) {
                Some(known) => known.figure(&one.name, algorithm, measure),
                None => {
                    let found = measured.iter().find(|found| {
                        found.formula == one.formula
                            && found.algorithm == algorithm
                            && found.encoding == whose[column]
                    });
                    found.map(|found| found.means[measure].0)
                }
            };
            let columns =
                |measure: &usize| (0..whose.len()).map(|column| figure(*measure, column)).collect::<Vec<_>>();
            let cells = measures.iter().flat_map(columns);
            let cells = cells.map(|cell| cell.map_or("-".to_owned(), |figure| format!("{figure:.2}")));
            lines.push([one.name.clone(), algorithm.to_owned()].into_iter().chain(cells).collect());
        }
    }
    crate::synthetic::layout(&lines, 2)
}

/// Each once, as they come.
fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for word in words {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all
}
