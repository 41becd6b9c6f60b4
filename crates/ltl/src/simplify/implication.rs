//! Syntactic implication: a sound but incomplete check whether one formula implies another.

use super::syntactic_class::SyntacticClasses;
use crate::formula::{Formula, Formulae, Node};
use rustc_hash::FxHashMap;

/// Maximum recursion depth.
const MAX_DEPTH: usize = 32;
/// Maximum number of pairs examined for one query.
const MAX_PAIRS: usize = 2000;
/// Maximum number of cached results; then the cache is cleared, which bounds memory.
const MAX_CACHED: usize = 1 << 20;

/// Checker of syntactic implication with a cache of results. Formulae are in negation normal form.
#[derive(Default)]
pub(crate) struct ImplicationChecker {
    pub(crate) classes: SyntacticClasses,
    known: FxHashMap<(Formula, Formula), bool>,
    /// Remaining pairs of the current query.
    pairs: usize,
}

impl ImplicationChecker {
    /// Whether `a` is known to imply `b`.
    pub(crate) fn implies(&mut self, formulae: &Formulae, a: Formula, b: Formula) -> bool {
        if self.known.len() > MAX_CACHED {
            self.known.clear();
        }
        self.pairs = MAX_PAIRS;
        self.check(formulae, a, b, MAX_DEPTH)
    }

    fn check(&mut self, formulae: &Formulae, a: Formula, b: Formula, depth: usize) -> bool {
        if a == b || a == Formula::FALSE || b == Formula::TRUE {
            return true;
        }
        if depth == 0 || self.pairs == 0 || a == Formula::TRUE || b == Formula::FALSE {
            return false;
        }
        if let Some(known) = self.known.get(&(a, b)) {
            return *known;
        }
        self.pairs -= 1;
        let found = self.apply_rules(formulae, a, b, depth - 1);
        // A negative result may be due to the limits only. Caching it is sound, because callers only rely on positive ones.
        self.known.insert((a, b), found);
        found
    }

    fn apply_rules(&mut self, formulae: &Formulae, a: Formula, b: Formula, depth: usize) -> bool {
        use Node::{And, Finally, Globally, Next, Or, Release, StrongRelease, Until, WeakUntil};
        let mut implies = |a: &Formula, b: &Formula| self.check(formulae, *a, *b, depth);
        let (left, right) = (formulae.node(a), formulae.node(b));
        match (left, right) {
            (_, And(all)) => return all.iter().all(|part| implies(&a, part)),
            (Or(all), _) => return all.iter().all(|part| implies(part, &b)),
            _ => {}
        }
        let pairwise = match (left, right) {
            (Next(a1), Next(b1)) => implies(a1, b1),
            (Until([a1, a2]), Until([b1, b2]) | WeakUntil([b1, b2]))
            | (WeakUntil([a1, a2]), WeakUntil([b1, b2]))
            | (Release([a1, a2]), Release([b1, b2]))
            | (StrongRelease([a1, a2]), StrongRelease([b1, b2]) | Release([b1, b2])) => {
                implies(a1, b1) && implies(a2, b2)
            }
            (Release([a1, a2]), WeakUntil([b1, b2]))
            | (StrongRelease([a1, a2]), Until([b1, b2]) | WeakUntil([b1, b2])) => {
                implies(a2, b1) && implies(a1, b2)
            }
            _ => false,
        };
        if pairwise {
            return true;
        }
        // Rules that decompose `b`.
        let from_right = match right {
            Or(all) => all.iter().any(|part| implies(&a, part)),
            Finally(b1) => implies(&a, b1),
            Until([_, b2]) | WeakUntil([_, b2]) => implies(&a, b2),
            Release([b1, b2]) | StrongRelease([b1, b2]) => implies(&a, b1) && implies(&a, b2),
            _ => false,
        };
        // Rules that decompose `a`.
        let from_left = from_right
            || match left {
                And(all) => all.iter().any(|part| implies(part, &b)),
                Globally(a1) => implies(a1, &b),
                Until([a1, a2]) | WeakUntil([a1, a2]) => implies(a1, &b) && implies(a2, &b),
                Release([_, a2]) | StrongRelease([_, a2]) => implies(a2, &b),
                _ => false,
            };
        if from_left {
            return true;
        }
        let (class_a, class_b) = (self.classes.of(formulae, a), self.classes.of(formulae, b));
        let mut implies = |a: &Formula, b: &Formula| self.check(formulae, *a, *b, depth);
        // A universal formula also holds at all later positions, an eventual one at all earlier ones.
        let by_universality = class_a.universal
            && match right {
                Next(b1) | Globally(b1) | WeakUntil([b1, _]) | Release([_, b1]) => implies(&a, b1),
                _ => false,
            };
        by_universality
            || class_b.eventual
                && match left {
                    Next(a1) | Finally(a1) | Until([_, a1]) | StrongRelease([a1, _]) => implies(a1, &b),
                    _ => false,
                }
    }
}
