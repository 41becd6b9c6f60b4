//! What is certain after a prefix, by the definition and by enumeration: all ways in which the subformulae of a
//! formula can be true at an instant of some infinite word.

use invigil_ltl::Formula;
use invigil_ltl::formula::{Atom, Formulae, Node};
use invigil_ltl::word::Letter;

/// Which subformulae are true at an instant, one bit for each.
type Instant = u64;

/// The instants of infinite words.
pub(crate) struct Instants {
    parts: Vec<Formula>,
    nodes: Vec<Node>,
    /// Those from which the word can go on for ever as they say.
    live: Vec<Instant>,
    follow: Vec<Vec<usize>>,
}

impl Instants {
    /// All of them; none if there would be more than two to the power of `bits`.
    pub(crate) fn new(formulae: &Formulae, formula: Formula, bits: u32) -> Option<Instants> {
        let parts = formulae.within(formula);
        let nodes: Vec<Node> = parts.iter().map(|part| formulae.node(*part).clone()).collect();
        let free: Vec<usize> = (0..parts.len())
            .filter(|at| {
                !matches!(nodes[*at], Node::False | Node::True | Node::Not(_) | Node::And(_) | Node::Or(_))
            })
            .collect();
        if free.len() as u32 > bits {
            return None;
        }
        let mut instants = Instants { parts, nodes, live: Vec::new(), follow: Vec::new() };
        let all: Vec<Instant> =
            (0..1_u64 << free.len()).map(|choice| instants.complete(&free, choice)).collect();
        let mut follow: Vec<Vec<usize>> = all
            .iter()
            .map(|now| (0..all.len()).filter(|next| instants.fits(*now, all[*next])).collect())
            .collect();
        let live = fair(&follow, |at| instants.settled(all[at]));
        let place: Vec<usize> = live
            .iter()
            .scan(0, |count, live| Some(std::mem::replace(count, *count + usize::from(*live))))
            .collect();
        instants.live = (0..all.len()).filter(|at| live[*at]).map(|at| all[at]).collect();
        for (at, next) in follow.iter_mut().enumerate() {
            if live[at] {
                instants.follow.push(next.iter().filter(|to| live[**to]).map(|to| place[*to]).collect());
            }
        }
        Some(instants)
    }

    fn place(&self, part: &Formula) -> usize {
        self.parts.binary_search(part).unwrap()
    }

    fn complete(&self, free: &[usize], choice: u64) -> Instant {
        let mut instant = 0;
        for (at, node) in self.nodes.iter().enumerate() {
            let is = |part: &Formula| instant >> self.place(part) & 1 == 1;
            let value = match node {
                Node::False => false,
                Node::True => true,
                Node::Not(a) => !is(a),
                Node::And(all) => all.iter().all(is),
                Node::Or(all) => all.iter().any(is),
                _ => choice >> free.binary_search(&at).unwrap() & 1 == 1,
            };
            instant |= u64::from(value) << at;
        }
        instant
    }

    fn is(&self, instant: Instant, part: &Formula) -> bool {
        instant >> self.place(part) & 1 == 1
    }

    /// Whether one instant may follow another.
    fn fits(&self, now: Instant, next: Instant) -> bool {
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

    /// Whether an instant can be the first.
    fn first(&self, now: Instant) -> bool {
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

    /// For each operator that must not wait for ever: whether it does not wait here.
    fn settled(&self, now: Instant) -> u64 {
        let is = |part: &Formula| self.is(now, part);
        let mut settled = u64::MAX;
        for (at, node) in self.nodes.iter().enumerate() {
            let this = now >> at & 1 == 1;
            let waits = match node {
                Node::Finally(a) => this && !is(a),
                Node::Globally(a) => !this && is(a),
                Node::Until([_, b]) => this && !is(b),
                Node::WeakUntil([a, _]) => !this && is(a),
                Node::Release([_, b]) => !this && is(b),
                Node::StrongRelease([a, _]) => this && !is(a),
                _ => false,
            };
            settled &= !(u64::from(waits) << at);
        }
        settled
    }

    /// Whether a Boolean combination of subformulae is true at some instant of some word.
    pub(crate) fn some(&self, formulae: &Formulae, residual: Formula) -> bool {
        let parts = formulae.within(residual);
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
                    (_, node) => panic!("{node:?} is none of the subformulae"),
                };
                values.push(value);
            }
            *values.last().unwrap()
        })
    }

    /// The first instants at which the formula is true, or those at which it is not.
    pub(crate) fn start(&self, holds: bool) -> Vec<usize> {
        let last = self.parts.len() - 1;
        (0..self.live.len())
            .filter(|at| self.first(self.live[*at]) && (self.live[*at] >> last & 1 == 1) == holds)
            .collect()
    }

    /// Those instants of a set at which a letter is read.
    pub(crate) fn reading(&self, set: &[usize], atoms: &[Atom], letter: &Letter) -> Vec<usize> {
        let reads = |now: Instant| {
            self.nodes.iter().enumerate().all(|(at, node)| match node {
                Node::Atom(atom) if atoms.contains(atom) => (now >> at & 1 == 1) == letter.has(*atom),
                _ => true,
            })
        };
        set.iter().copied().filter(|at| reads(self.live[*at])).collect()
    }

    /// The instants that follow those of a set.
    pub(crate) fn after(&self, set: &[usize]) -> Vec<usize> {
        let mut all: Vec<usize> = set.iter().flat_map(|at| self.follow[*at].iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// From where a path goes on for ever and settles everything again and again: what is left when states are
/// taken away from which something can no longer be settled among those that are left.
fn fair(follow: &[Vec<usize>], settled: impl Fn(usize) -> u64) -> Vec<bool> {
    let count = follow.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, next) in follow.iter().enumerate() {
        for to in next {
            before[*to].push(at);
        }
    }
    let settled: Vec<u64> = (0..count).map(settled).collect();
    let mut live = vec![true; count];
    loop {
        let old = live.clone();
        for bit in 0..64 {
            if settled.iter().all(|settled| settled >> bit & 1 == 1) && bit > 0 {
                continue;
            }
            // At least one step to a live state at which it is settled.
            let mut reach = vec![false; count];
            let mut open: Vec<usize> =
                (0..count).filter(|at| live[*at] && settled[*at] >> bit & 1 == 1).collect();
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

/// What must hold after a letter for a formula (without past) to hold now.
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
        _ => panic!("no past here"),
    }
}
