//! Whether one formula implies another, as far as their forms tell.

use super::kinds::Kinds;
use crate::formula::{Formula, Formulae, Node};
use rustc_hash::FxHashMap;

/// How deep is looked.
const DEPTH: usize = 32;
/// How many pairs are looked at for one answer.
const PAIRS: usize = 2000;
/// How many answers are remembered before they are forgotten, which bounds memory.
const REMEMBERED: usize = 1 << 20;

/// Answers given so far. Formulae are in negation normal form.
#[derive(Default)]
pub(crate) struct Implications {
    pub(crate) kinds: Kinds,
    known: FxHashMap<(Formula, Formula), bool>,
    /// How many pairs may still be looked at for the present answer.
    pairs: usize,
}

impl Implications {
    /// Whether `a` surely implies `b`.
    pub(crate) fn implies(&mut self, formulae: &Formulae, a: Formula, b: Formula) -> bool {
        if self.known.len() > REMEMBERED {
            self.known.clear();
        }
        self.pairs = PAIRS;
        self.look(formulae, a, b, DEPTH)
    }

    fn look(&mut self, formulae: &Formulae, a: Formula, b: Formula, depth: usize) -> bool {
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
        let found = self.compare(formulae, a, b, depth - 1);
        // A `no` may be for lack of depth only: "surely" is all that is promised.
        self.known.insert((a, b), found);
        found
    }

    fn compare(&mut self, formulae: &Formulae, a: Formula, b: Formula, depth: usize) -> bool {
        use Node::{And, Finally, Globally, Next, Or, Release, StrongRelease, Until, WeakUntil};
        let mut is = |a: &Formula, b: &Formula| self.look(formulae, *a, *b, depth);
        let (left, right) = (formulae.node(a), formulae.node(b));
        match (left, right) {
            (_, And(all)) => return all.iter().all(|part| is(&a, part)),
            (Or(all), _) => return all.iter().all(|part| is(part, &b)),
            _ => {}
        }
        let pairwise = match (left, right) {
            (Next(a1), Next(b1)) => is(a1, b1),
            (Until([a1, a2]), Until([b1, b2]) | WeakUntil([b1, b2]))
            | (WeakUntil([a1, a2]), WeakUntil([b1, b2]))
            | (Release([a1, a2]), Release([b1, b2]))
            | (StrongRelease([a1, a2]), StrongRelease([b1, b2]) | Release([b1, b2])) => {
                is(a1, b1) && is(a2, b2)
            }
            (Release([a1, a2]), WeakUntil([b1, b2]))
            | (StrongRelease([a1, a2]), Until([b1, b2]) | WeakUntil([b1, b2])) => is(a2, b1) && is(a1, b2),
            _ => false,
        };
        if pairwise {
            return true;
        }
        // What `b` is made of.
        let from_right = match right {
            Or(all) => all.iter().any(|part| is(&a, part)),
            Finally(b1) => is(&a, b1),
            Until([_, b2]) | WeakUntil([_, b2]) => is(&a, b2),
            Release([b1, b2]) | StrongRelease([b1, b2]) => is(&a, b1) && is(&a, b2),
            _ => false,
        };
        // What `a` is made of.
        let from_left = from_right
            || match left {
                And(all) => all.iter().any(|part| is(part, &b)),
                Globally(a1) => is(a1, &b),
                Until([a1, a2]) | WeakUntil([a1, a2]) => is(a1, &b) && is(a2, &b),
                Release([_, a2]) | StrongRelease([_, a2]) => is(a2, &b),
                _ => false,
            };
        if from_left {
            return true;
        }
        let (kind_a, kind_b) = (self.kinds.of(formulae, a), self.kinds.of(formulae, b));
        let mut is = |a: &Formula, b: &Formula| self.look(formulae, *a, *b, depth);
        // What holds from now on holds at the next instant, and always; what holds some time held before.
        let lasting = kind_a.universal
            && match right {
                Next(b1) | Globally(b1) | WeakUntil([b1, _]) | Release([_, b1]) => is(&a, b1),
                _ => false,
            };
        lasting
            || kind_b.eventual
                && match left {
                    Next(a1) | Finally(a1) | Until([_, a1]) | StrongRelease([a1, _]) => is(a1, &b),
                    _ => false,
                }
    }
}
