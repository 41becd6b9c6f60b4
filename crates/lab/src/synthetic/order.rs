//! Order of the algorithms, compared with EH18.

use super::means::{MEASURES, MeasuredMeans};
use super::thesis::SYNTHETIC;
use std::cmp::Ordering;
use std::fmt;

/// Figures that differ by less than this share count as equal.
const TOLERANCE: f64 = 0.05;

/// Indices of the compared measures: delay, messages, data, convergence.
const COMPARED_MEASURES: [usize; 4] = [0, 1, 2, 5];

/// Comparison of two algorithms by one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct PairComparison {
    /// Both algorithms.
    pub algorithms: [String; 2],
    /// Number of components.
    pub components: usize,
    /// The measure.
    pub measure: &'static str,
    /// Figures of EH18.
    pub thesis: [f64; 2],
    /// Measured figures.
    pub measured: [f64; 2],
}

impl PairComparison {
    /// Returns whether the order is the same. Equal figures on one side agree with any order.
    pub fn agrees(&self) -> bool {
        let [thesis, measured] = [self.thesis, self.measured].map(order);
        thesis == measured || thesis == Ordering::Equal || measured == Ordering::Equal
    }
}

impl fmt::Display for PairComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PairComparison { algorithms: [a, b], components, measure, thesis, measured } = self;
        let sign = |order: Ordering| match order {
            Ordering::Less => "<",
            Ordering::Equal => "≈",
            Ordering::Greater => ">",
        };
        let side = |[a, b]: &[f64; 2]| format!("{a:.2} {} {b:.2}", sign(order([*a, *b])));
        write!(
            f,
            "|C| = {components}, {measure}: {a} and {b}: thesis {}, here {}",
            side(thesis),
            side(measured)
        )
    }
}

fn order([a, b]: [f64; 2]) -> Ordering {
    if (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()) {
        return Ordering::Equal;
    }
    a.total_cmp(&b)
}

/// Comparison of all pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlgorithmOrder {
    /// Number of pairs.
    pub pairs: usize,
    /// Pairs with a different order.
    pub disagreements: Vec<PairComparison>,
}

/// Compares every pair of algorithms of EH18 by delay, messages, data and convergence.
pub fn compare(measured: &[MeasuredMeans], encoding: &str) -> AlgorithmOrder {
    let mut order = AlgorithmOrder::default();
    let find = |algorithm: &str, components: usize| {
        measured.iter().find(|found| {
            found.encoding == encoding && found.algorithm == algorithm && found.components == components
        })
    };
    for (place, first) in SYNTHETIC.iter().enumerate() {
        for second in SYNTHETIC[place + 1..].iter().filter(|row| row.components == first.components) {
            let both = [first, second];
            let [Some(a), Some(b)] = both.map(|row| find(row.algorithm, row.components)) else { continue };
            for measure in COMPARED_MEASURES {
                let comparison = PairComparison {
                    algorithms: both.map(|row| row.algorithm.to_owned()),
                    components: first.components,
                    measure: MEASURES[measure].0,
                    thesis: both.map(|row| row.cells[measure].0),
                    measured: [a, b].map(|found| found.means[measure].0),
                };
                order.pairs += 1;
                if !comparison.agrees() {
                    order.disagreements.push(comparison);
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the published figures with themselves, and with two algorithms exchanged.
    #[test]
    fn order_agrees_with_itself_and_not_with_exchanged_algorithms() {
        let measured = |name: fn(&'static str) -> &'static str| -> Vec<MeasuredMeans> {
            SYNTHETIC
                .iter()
                .map(|row| MeasuredMeans {
                    algorithm: name(row.algorithm).to_owned(),
                    encoding: "states".into(),
                    components: row.components,
                    distribution: String::new(),
                    formula: String::new(),
                    runs: 1,
                    means: row.cells,
                })
                .collect()
        };
        let same = compare(&measured(|name| name), "states");
        assert_eq!((same.pairs, same.disagreements.len()), (96, 0));
        assert_eq!(compare(&measured(|name| name), "expressions").pairs, 0);
        let exchanged = compare(
            &measured(|name| match name {
                "orchestration" => "migration",
                "migration" => "orchestration",
                other => other,
            }),
            "states",
        );
        assert!(exchanged.disagreements.len() > 10);
        assert_eq!(
            exchanged.disagreements[0].to_string(),
            "|C| = 3, delay: orchestration and migration: thesis 0.48 < 0.58, here 0.58 > 0.48"
        );
    }
}
