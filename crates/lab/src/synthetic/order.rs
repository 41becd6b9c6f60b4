//! Whether algorithms come in the same order as in the document.

use super::document::SYNTHETIC;
use super::measured::{MEASURES, Measured};
use std::cmp::Ordering;
use std::fmt;

/// Figures that differ by less than this share are even.
const EVEN: f64 = 0.05;

/// The measures that are compared, by their places: delay, messages, data, convergence.
const COMPARED: [usize; 4] = [0, 1, 2, 5];

/// Two algorithms by one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Both algorithms.
    pub algorithms: [String; 2],
    /// How many components.
    pub components: usize,
    /// By what.
    pub measure: &'static str,
    /// The figures of the document.
    pub document: [f64; 2],
    /// Ours.
    pub ours: [f64; 2],
}

impl Comparison {
    /// Whether they come in the same order; two that are even in one of both do not contradict.
    pub fn agrees(&self) -> bool {
        let [document, ours] = [self.document, self.ours].map(order);
        document == ours || document == Ordering::Equal || ours == Ordering::Equal
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { algorithms: [a, b], components, measure, document, ours } = self;
        let sign = |order: Ordering| match order {
            Ordering::Less => "<",
            Ordering::Equal => "≈",
            Ordering::Greater => ">",
        };
        let side = |[a, b]: &[f64; 2]| format!("{a:.2} {} {b:.2}", sign(order([*a, *b])));
        write!(
            f,
            "|C| = {components}, {measure}: {a} and {b}: document {}, here {}",
            side(document),
            side(ours)
        )
    }
}

fn order([a, b]: [f64; 2]) -> Ordering {
    if (a - b).abs() <= EVEN * a.abs().max(b.abs()) {
        return Ordering::Equal;
    }
    a.total_cmp(&b)
}

/// All comparisons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// How many pairs there are.
    pub pairs: usize,
    /// Those that come in another order.
    pub others: Vec<Comparison>,
}

/// Compares every pair of algorithms that the document has, by delay, messages, data and convergence.
pub fn compare(measured: &[Measured], encoding: &str) -> Order {
    let mut order = Order::default();
    let find = |algorithm: &str, components: usize| {
        measured.iter().find(|found| {
            found.encoding == encoding && found.algorithm == algorithm && found.components == components
        })
    };
    for (place, first) in SYNTHETIC.iter().enumerate() {
        for second in SYNTHETIC[place + 1..].iter().filter(|row| row.components == first.components) {
            let both = [first, second];
            let [Some(a), Some(b)] = both.map(|row| find(row.algorithm, row.components)) else { continue };
            for measure in COMPARED {
                let comparison = Comparison {
                    algorithms: both.map(|row| row.algorithm.to_owned()),
                    components: first.components,
                    measure: MEASURES[measure].0,
                    document: both.map(|row| row.cells[measure].0),
                    ours: [a, b].map(|found| found.means[measure].0),
                };
                order.pairs += 1;
                if !comparison.agrees() {
                    order.others.push(comparison);
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document against itself, and with two algorithms exchanged.
    #[test]
    fn an_order_is_the_same_as_itself_and_no_other() {
        let measured = |name: fn(&'static str) -> &'static str| -> Vec<Measured> {
            SYNTHETIC
                .iter()
                .map(|row| Measured {
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
        assert_eq!((same.pairs, same.others.len()), (96, 0));
        assert_eq!(compare(&measured(|name| name), "expressions").pairs, 0);
        let exchanged = compare(
            &measured(|name| match name {
                "orchestration" => "migration",
                "migration" => "orchestration",
                other => other,
            }),
            "states",
        );
        assert!(exchanged.others.len() > 10);
        assert_eq!(
            exchanged.others[0].to_string(),
            "|C| = 3, delay: orchestration and migration: document 0.48 < 0.58, here 0.58 > 0.48"
        );
    }
}
