//! Reference implementation of verdicts, by enumeration of all combinations of subformulae that can hold at a position of
//! some infinite word.

use invigil_ltl::Formula;
use invigil_ltl::formula::{Atom, Formulae, Node};
use invigil_ltl::word::Letter;

/// Subformulae that hold at a position, as a bit set.
type Position = u64;

/// Graph of the positions of infinite words.
pub(crate) struct Positions {
    parts: Vec<Formula>,
    nodes: Vec<Node>,
    /// Positions with a continuation that satisfies all their subformulae.
    live: Vec<Position>,
    follow: Vec<Vec<usize>>,
}

impl Positions {
    /// Enumerates the positions. `None` if there are more than `2^bits` combinations.
    pub(crate) fn new(formulae: &Formulae, formula: Formula, bits: u32) -> Option<Positions> {
        let parts = formulae.subformulae(formula);
        let nodes: Vec<Node> = parts.iter().map(|part| formulae.node(*part).clone()).collect();
        let free: Vec<usize> = (0..parts.len())
            .filter(|at| {
                !matches!(nodes[*at], Node::False | Node::True | Node::Not(_) | Node::And(_) | Node::Or(_))
            })
            .collect();
        if free.len() as u32 > bits {
            return None;
        }
        let mut positions = Positions { parts, nodes, live: Vec::new(), follow: Vec::new() };
        let all: Vec<Position> =
            (0..1_u64 << free.len()).map(|choice| positions.complete(&free, choice)).collect();
        let mut follow: Vec<Vec<usize>> = all
            .iter()
            .map(|now| (0..all.len()).filter(|next| positions.is_successor(*now, all[*next])).collect())
            .collect();
        let live = fair(&follow, |at| positions.fulfilled(all[at]));
        let index: Vec<usize> = live
            .iter()
            .scan(0, |count, live| Some(std::mem::replace(count, *count + usize::from(*live))))
            .collect();
        positions.live = (0..all.len()).filter(|at| live[*at]).map(|at| all[at]).collect();
        for (at, next) in follow.iter_mut().enumerate() {
            if live[at] {
                positions.follow.push(next.iter().filter(|to| live[**to]).map(|to| index[*to]).collect());
            }
        }
        Some(positions)
    }

    fn index(&self, part: &Formula) -> usize {
        self.parts.binary_search(part).unwrap()
    }

    fn complete(&self, free: &[usize], choice: u64) -> Position {
        let mut position = 0;
        for (at, node) in self.nodes.iter().enumerate() {
            let is = |part: &Formula| position >> self.index(part) & 1 == 1;
            let value = match node {
                Node::False => false,
                Node::True => true,
                Node::Not(a) => !is(a),
                Node::And(all) => all.iter().all(is),
                Node::Or(all) => all.iter().any(is),
                _ => choice >> free.binary_search(&at).unwrap() & 1 == 1,
            };
            position |= u64::from(value) << at;
        }
        position
    }

    fn is(&self, position: Position, part: &Formula) -> bool {
        position >> self.index(part) & 1 == 1
    }

    /// Whether a position can follow another one.
    fn is_successor(&self, now: Position, next: Position) -> bool {
        let (is, then) = (|part: &Formula| self.is(now, part), |part: &Formula| self.is(next, part));
        self.nodes.iter().enumerate().all(|(at, node)| {
            let (this, later) = (now >> at & 1 == 1, next >> at & 1 == 1);
            match node {
                Node::Next(a) => this == then(a),
                Node::Finally(a) => this == (is(a) || later),
                Node::Globally(a) => this == (is(a) && later),
                Node::Until([a, b]) | Node::WeakUntil([a, b]) => this == (is(b) || is(a) && later),
                Node::Release([a, b]) | Node::StrongRelease([a, b]) => this == (is(b) && (is(a) || later)),
                Node::Yesterday(a) | Node::WeakYesterday(a) => later == is(a),
                Node::Once(a) => later == (then(a) || this),
                Node::Historically(a) => later == (then(a) && this),
                Node::Since([a, b]) => later == (then(b) || then(a) && this),
                Node::Triggered([a, b]) => later == (then(b) && (then(a) || this)),
                _ => true,
            }
        })
    }

    /// Whether a position can be the first one.
    fn is_initial(&self, now: Position) -> bool {
        let is = |part: &Formula| self.is(now, part);
        self.nodes.iter().enumerate().all(|(at, node)| {
            let this = now >> at & 1 == 1;
            match node {
                Node::Yesterday(_) => !this,
                Node::WeakYesterday(_) => this,
                Node::Once(a) | Node::Historically(a) => this == is(a),
                Node::Since([_, b]) | Node::Triggered([_, b]) => this == is(b),
                _ => true,
            }
        })
    }

    /// Returns, for each operator with a fairness condition, whether it is fulfilled here.
    fn fulfilled(&self, now: Position) -> u64 {
        let is = |part: &Formula| self.is(now, part);
        let mut fulfilled = u64::MAX;
        for (at, node) in self.nodes.iter().enumerate() {
            let this = now >> at & 1 == 1;
            let is_pending = match node {
                Node::Finally(a) => this && !is(a),
                Node::Globally(a) => !this && is(a),
                Node::Until([_, b]) => this && !is(b),
                Node::WeakUntil([a, _]) => !this && is(a),
                Node::Release([_, b]) => !this && is(b),
                Node::StrongRelease([a, _]) => this && !is(a),
                _ => false,
            };
            fulfilled &= !(u64::from(is_pending) << at);
        }
        fulfilled
    }

    /// Whether a Boolean combination of subformulae holds at some position.
    pub(crate) fn is_satisfiable(&self, formulae: &Formulae, residual: Formula) -> bool {
        let parts = formulae.subformulae(residual);
        self.live.iter().any(|now| {
            let mut values: Vec<bool> = Vec::new();
            for part in &parts {
                let of = |part: &Formula| values[parts.binary_search(part).unwrap()];
                let value = match (self.parts.binary_search(part), formulae.node(*part)) {
                    (Ok(at), _) => now >> at & 1 == 1,
                    (_, Node::False) => false,
                    (_, Node::True) => true,
                    (_, Node::Not(a)) => !of(a),
                    (_, Node::And(all)) => all.iter().all(of),
                    (_, Node::Or(all)) => all.iter().any(of),
                    (_, node) => panic!("{node:?} is not a subformula"),
                };
                values.push(value);
            }
            *values.last().unwrap()
        })
    }

    /// Returns the initial positions at which the formula has a value.
    pub(crate) fn start(&self, holds: bool) -> Vec<usize> {
        let last = self.parts.len() - 1;
        (0..self.live.len())
            .filter(|at| self.is_initial(self.live[*at]) && (self.live[*at] >> last & 1 == 1) == holds)
            .collect()
    }

    /// Restricts a set of positions to those with a letter.
    pub(crate) fn reading(&self, set: &[usize], atoms: &[Atom], letter: &Letter) -> Vec<usize> {
        let reads = |now: Position| {
            self.nodes.iter().enumerate().all(|(at, node)| match node {
                Node::Atom(atom) if atoms.contains(atom) => (now >> at & 1 == 1) == letter.has(*atom),
                _ => true,
            })
        };
        set.iter().copied().filter(|at| reads(self.live[*at])).collect()
    }

    /// Returns the successors of a set of positions.
    pub(crate) fn after(&self, set: &[usize]) -> Vec<usize> {
        let mut all: Vec<usize> = set.iter().flat_map(|at| self.follow[*at].iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Returns the nodes with an infinite path that fulfils every condition infinitely often. Repeatedly removes nodes from
/// which some condition cannot be fulfilled within the remaining nodes.
fn fair(follow: &[Vec<usize>], fulfilled: impl Fn(usize) -> u64) -> Vec<bool> {
    let count = follow.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, next) in follow.iter().enumerate() {
        for to in next {
            before[*to].push(at);
        }
    }
    let fulfilled: Vec<u64> = (0..count).map(fulfilled).collect();
    let mut live = vec![true; count];
    loop {
        let old = live.clone();
        for bit in 0..64 {
            if fulfilled.iter().all(|fulfilled| fulfilled >> bit & 1 == 1) && bit > 0 {
                continue;
            }
            // At least one step to a live node that fulfils the condition.
            let mut reach = vec![false; count];
            let mut open: Vec<usize> =
                (0..count).filter(|at| live[*at] && fulfilled[*at] >> bit & 1 == 1).collect();
            while let Some(at) = open.pop() {
                for from in &before[at] {
                    if live[*from] && !std::mem::replace(&mut reach[*from], true) {
                        open.push(*from);
                    }
                }
            }
            live = reach;
        }
        if live == old {
            return live;
        }
    }
}

/// Progresses a formula without past: returns the formula that must hold after the letter.
pub(crate) fn progress(formulae: &mut Formulae, formula: Formula, letter: &Letter) -> Formula {
    let node = formulae.node(formula).clone();
    let later = |formulae: &mut Formulae, now: Option<Formula>, keep: Option<Formula>| {
        // `now | keep & formula`
        let keep = keep.map_or(Formula::TRUE, |keep| progress(formulae, keep, letter));
        let now = now.map_or(Formula::FALSE, |now| progress(formulae, now, letter));
        let rest = formulae.and([keep, formula]).unwrap();
        formulae.or([now, rest]).unwrap()
    };
    match node {
        Node::False | Node::True => formula,
        Node::Atom(atom) => formulae.constant(letter.has(atom)),
        Node::Not(a) => {
            let a = progress(formulae, a, letter);
            formulae.not(a).unwrap()
        }
        Node::And(all) => {
            let all: Vec<Formula> = all.iter().map(|part| progress(formulae, *part, letter)).collect();
            formulae.and(all).unwrap()
        }
        Node::Or(all) => {
            let all: Vec<Formula> = all.iter().map(|part| progress(formulae, *part, letter)).collect();
            formulae.or(all).unwrap()
        }
        Node::Next(a) => a,
        Node::Finally(a) => later(formulae, Some(a), None),
        Node::Globally(a) => later(formulae, None, Some(a)),
        Node::Until([a, b]) | Node::WeakUntil([a, b]) => later(formulae, Some(b), Some(a)),
        Node::Release([a, b]) | Node::StrongRelease([a, b]) => {
            let (a, b) = (progress(formulae, a, letter), progress(formulae, b, letter));
            let rest = formulae.or([a, formula]).unwrap();
            formulae.and([b, rest]).unwrap()
        }
        _ => panic!("past operators cannot be progressed"),
    }
}
