//! Results as text tables, with the figures of EH18.

use super::means::{MEASURES, MeasuredMeans};
use super::thesis::{ComponentsRow, DISTRIBUTIONS, MeanAndDeviation, SYNTHETIC};

/// Columns of table 8.2 as indices into [`MEASURES`].
const DISTRIBUTION_COLUMNS: [usize; 5] = [0, 1, 2, 4, 5];

/// Formats table B.1: for each number of components and each algorithm, the row of EH18, if any, and the measured rows.
pub fn components_table(measured: &[MeasuredMeans], thesis: &[ComponentsRow]) -> String {
    let mut lines = vec![head("|C|", MEASURES.iter().map(|(name, _)| *name))];
    let mut counts: Vec<usize> = measured.iter().map(|found| found.components).collect();
    counts.sort_unstable();
    counts.dedup();
    for components in counts {
        for algorithm in algorithms(measured) {
            let known = thesis.iter().find(|row| row.algorithm == algorithm && row.components == components);
            if let Some(row) = known {
                lines.push(line(&components.to_string(), algorithm, "thesis", row.cells));
            }
            let is_row = |row: &&MeasuredMeans| row.algorithm == algorithm && row.components == components;
            for found in measured.iter().filter(is_row) {
                lines.push(line(&components.to_string(), algorithm, &found.encoding, found.means));
            }
        }
    }
    layout(&lines, 3)
}

/// Formats table 8.2: for each algorithm and distribution the row of EH18 and the measured row, for this number of
/// components.
pub fn distributions_table(measured: &[MeasuredMeans], components: usize) -> String {
    let mut lines = vec![head("trace", DISTRIBUTION_COLUMNS.iter().map(|at| MEASURES[*at].0))];
    for algorithm in algorithms(measured) {
        for distribution in ["normal", "binomial", "beta-1", "beta-2"] {
            let thesis = DISTRIBUTIONS
                .iter()
                .find(|row| row.algorithm == algorithm && row.distribution == distribution)
                .filter(|_| components == 6);
            if let Some(row) = thesis {
                lines.push(line(distribution, algorithm, "thesis", row.cells));
            }
            for found in measured.iter().filter(|found| {
                found.algorithm == algorithm
                    && found.distribution == distribution
                    && found.components == components
            }) {
                lines.push(line(
                    distribution,
                    algorithm,
                    &found.encoding,
                    DISTRIBUTION_COLUMNS.map(|at| found.means[at]),
                ));
            }
        }
    }
    layout(&lines, 3)
}

/// Returns the algorithms, those of EH18 first.
fn algorithms(measured: &[MeasuredMeans]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let all = SYNTHETIC
        .iter()
        .map(|row| row.algorithm)
        .chain(measured.iter().map(|found| found.algorithm.as_str()));
    for name in all.filter(|name| measured.iter().any(|found| found.algorithm == *name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn head<'a>(first: &'a str, measures: impl Iterator<Item = &'a str>) -> Vec<String> {
    [first, "algorithm", "source"].into_iter().chain(measures).map(str::to_owned).collect()
}

fn line<const N: usize>(
    first: &str,
    algorithm: &str,
    source: &str,
    cells: [MeanAndDeviation; N],
) -> Vec<String> {
    let names = [first, algorithm, source].map(str::to_owned);
    names.into_iter().chain(cells.map(|(mean, deviation)| format!("{mean:.2} ({deviation:.2})"))).collect()
}

/// Aligns columns: the first `text_columns` to the left, the others to the right.
pub(crate) fn layout(lines: &[Vec<String>], text_columns: usize) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at < text_columns {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}
