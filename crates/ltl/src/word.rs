//! Letters and lassos, and the reference semantics of all operators.
//!
//! Automata and monitors are tested against [`Lasso::satisfies`].

use crate::formula::{Atom, Formula, Formulae, Node};

/// Atoms that hold at a position, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Letter(Vec<Atom>);

impl Letter {
    /// Whether an atom holds.
    pub fn has(&self, atom: Atom) -> bool {
        self.0.binary_search(&atom).is_ok()
    }

    /// Returns the atoms that hold.
    pub fn atoms(&self) -> &[Atom] {
        &self.0
    }
}

impl FromIterator<Atom> for Letter {
    fn from_iter<I: IntoIterator<Item = Atom>>(atoms: I) -> Letter {
        let mut all: Vec<Atom> = atoms.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Letter(all)
    }
}

/// Ultimately periodic word: a prefix and a cycle that repeats forever.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lasso {
    /// Letters before the cycle.
    pub prefix: Vec<Letter>,
    /// Repeated letters; at least one.
    pub cycle: Vec<Letter>,
}

impl Lasso {
    /// Returns the same word with its shortest cycle and the shortest prefix for it.
    pub fn shortest(mut self) -> Lasso {
        let length = self.cycle.len();
        let is_period =
            |period: &usize| (*period..length).all(|at| self.cycle[at] == self.cycle[at - period]);
        let shorter = (1..length).filter(|period| length.is_multiple_of(*period)).find(is_period);
        self.cycle.truncate(shorter.unwrap_or(length));
        while self.prefix.pop_if(|last| Some(&*last) == self.cycle.last()).is_some() {
            self.cycle.rotate_right(1);
        }
        self
    }

    /// Whether a formula holds at the first position.
    pub fn satisfies(&self, formulae: &Formulae, formula: Formula) -> bool {
        let parts = formulae.subformulae(formula);
        // The values of each past operator may need one more iteration of the cycle to become periodic.
        let past = parts.iter().filter(|part| formulae.node(**part).is_past()).count();
        let start = self.prefix.len() + past * self.cycle.len();
        let length = start + self.cycle.len();
        let letter = |at: usize| match at.checked_sub(self.prefix.len()) {
            None => &self.prefix[at],
            Some(at) => &self.cycle[at % self.cycle.len()],
        };
        let after = |at: usize| if at + 1 < length { at + 1 } else { start };
        let mut values: Vec<Vec<bool>> = Vec::with_capacity(parts.len());
        for part in &parts {
            let of = |inner: &Formula| &values[parts.binary_search(inner).unwrap_or_default()];
            let each = |value: &dyn Fn(usize) -> bool| (0..length).map(value).collect::<Vec<bool>>();
            // Least or greatest solution of `x[at] = value(at, x[at + 1])`.
            let future = |start: bool, value: &dyn Fn(usize, bool) -> bool| {
                let mut all = vec![start; length];
                for _ in 0..2 {
                    for at in (0..length).rev() {
                        all[at] = value(at, all[after(at)]);
                    }
                }
                all
            };
            let past = |first: bool, value: &dyn Fn(usize, bool) -> bool| {
                let mut before = first;
                each_mut(length, |at| {
                    before = value(at, before);
                    before
                })
            };
            let found = match formulae.node(*part) {
                Node::False => vec![false; length],
                Node::True => vec![true; length],
                Node::Atom(atom) => each(&|at| letter(at).has(*atom)),
                Node::Not(a) => each(&|at| !of(a)[at]),
                Node::And(all) => each(&|at| all.iter().all(|a| of(a)[at])),
                Node::Or(all) => each(&|at| all.iter().any(|a| of(a)[at])),
                Node::Next(a) => each(&|at| of(a)[after(at)]),
                Node::Finally(a) => future(false, &|at, next| of(a)[at] || next),
                Node::Globally(a) => future(true, &|at, next| of(a)[at] && next),
                Node::Until([a, b]) => future(false, &|at, next| of(b)[at] || of(a)[at] && next),
                Node::WeakUntil([a, b]) => future(true, &|at, next| of(b)[at] || of(a)[at] && next),
                Node::Release([a, b]) => future(true, &|at, next| of(b)[at] && (of(a)[at] || next)),
                Node::StrongRelease([a, b]) => future(false, &|at, next| of(b)[at] && (of(a)[at] || next)),
                Node::Yesterday(a) => each(&|at| at > 0 && of(a)[at - 1]),
                Node::WeakYesterday(a) => each(&|at| at == 0 || of(a)[at - 1]),
                Node::Once(a) => past(false, &|at, before| of(a)[at] || before),
                Node::Historically(a) => past(true, &|at, before| of(a)[at] && before),
                Node::Since([a, b]) => past(false, &|at, before| of(b)[at] || of(a)[at] && before),
                Node::Triggered([a, b]) => past(true, &|at, before| of(b)[at] && (of(a)[at] || before)),
            };
            values.push(found);
        }
        values.last().is_some_and(|values| values[0])
    }
}

fn each_mut(length: usize, value: impl FnMut(usize) -> bool) -> Vec<bool> {
    (0..length).map(value).collect()
}
