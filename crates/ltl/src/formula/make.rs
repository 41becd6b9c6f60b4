//! Making formulae. Only Boolean laws are applied here: they hold on finite and on infinite words.

use super::{Atom, Formula, Node, Proposition};
use crate::{Budget, TooLarge};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// All formulae of a [`Logic`](crate::Logic), each stored once, and the names of its atoms.
#[derive(Clone, Debug)]
pub struct Formulae {
    nodes: IndexSet<Node, FxBuildHasher>,
    propositions: IndexSet<Proposition, FxBuildHasher>,
    limit: usize,
    fresh: u32,
}

impl Formulae {
    /// None but true and false.
    pub fn new(budget: &Budget) -> Formulae {
        let nodes = [Node::False, Node::True].into_iter().collect();
        Formulae { nodes, propositions: IndexSet::default(), limit: budget.formulae, fresh: 0 }
    }

    /// What a formula is made of.
    pub fn node(&self, formula: Formula) -> &Node {
        &self.nodes[formula.index()]
    }

    /// How many formulae there are.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// How many there may be.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Does something; if it fails, the formulae and atoms that it made are forgotten.
    pub(crate) fn all_or_nothing<Made, Error>(
        &mut self,
        work: impl FnOnce(&mut Formulae) -> Result<Made, Error>,
    ) -> Result<Made, Error> {
        let before = (self.nodes.len(), self.propositions.len());
        let made = work(self);
        if made.is_err() {
            self.nodes.truncate(before.0);
            self.propositions.truncate(before.1);
        }
        made
    }

    /// What an atom stands for.
    pub fn proposition(&self, atom: Atom) -> &Proposition {
        &self.propositions[atom.0 as usize]
    }

    /// All atoms, with what they stand for.
    pub fn atoms(&self) -> impl Iterator<Item = (Atom, &Proposition)> {
        self.propositions.iter().enumerate().map(|(at, proposition)| (Atom(at as u32), proposition))
    }

    /// A formula and all formulae that it is made of, each once, the parts first.
    pub fn within(&self, formula: Formula) -> Vec<Formula> {
        let (mut seen, mut open) = (FxHashSet::default(), vec![formula]);
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend_from_slice(self.node(next).parts());
            }
        }
        let mut all: Vec<Formula> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }

    fn keep(&mut self, node: Node) -> Result<Formula, TooLarge> {
        let at = match self.nodes.get_index_of(&node) {
            Some(at) => at,
            None => {
                Budget::allows("subformulae", self.nodes.len() + 1, self.limit)?;
                self.nodes.insert_full(node).0
            }
        };
        Ok(Formula(at as u32))
    }

    /// The atom that stands for something.
    pub fn atom_for(&mut self, proposition: Proposition) -> Atom {
        Atom(self.propositions.insert_full(proposition).0 as u32)
    }

    /// An atom that no user can name.
    pub fn fresh(&mut self) -> Atom {
        self.fresh += 1;
        self.atom_for(Proposition::Fresh(self.fresh - 1))
    }

    /// True or false.
    pub fn constant(&self, value: bool) -> Formula {
        if value { Formula::TRUE } else { Formula::FALSE }
    }

    /// An atom as a formula.
    ///
    /// # Errors
    /// If there would be too many formulae, here as below.
    pub fn atom(&mut self, atom: Atom) -> Result<Formula, TooLarge> {
        self.keep(Node::Atom(atom))
    }

    /// The atom of this name as a formula.
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn name(&mut self, name: &str) -> Result<Formula, TooLarge> {
        let atom = self.atom_for(Proposition::Name(name.to_owned()));
        self.atom(atom)
    }

    /// `!a`
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn not(&mut self, a: Formula) -> Result<Formula, TooLarge> {
        match *self.node(a) {
            Node::False => Ok(Formula::TRUE),
            Node::True => Ok(Formula::FALSE),
            Node::Not(inner) => Ok(inner),
            _ => self.keep(Node::Not(a)),
        }
    }

    /// The conjunction of any number of formulae.
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn and(&mut self, parts: impl IntoIterator<Item = Formula>) -> Result<Formula, TooLarge> {
        match self.operands(parts, true) {
            None => Ok(Formula::FALSE),
            Some(all) => match all[..] {
                [] => Ok(Formula::TRUE),
                [one] => Ok(one),
                _ => self.keep(Node::And(all.into())),
            },
        }
    }

    /// The disjunction of any number of formulae.
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn or(&mut self, parts: impl IntoIterator<Item = Formula>) -> Result<Formula, TooLarge> {
        match self.operands(parts, false) {
            None => Ok(Formula::TRUE),
            Some(all) => match all[..] {
                [] => Ok(Formula::FALSE),
                [one] => Ok(one),
                _ => self.keep(Node::Or(all.into())),
            },
        }
    }

    /// The distinct operands of a conjunction or disjunction; none if it is decided by one of them, or by one
    /// and its negation.
    fn operands(&self, parts: impl IntoIterator<Item = Formula>, and: bool) -> Option<Vec<Formula>> {
        let mut all = Vec::new();
        for part in parts {
            match self.node(part) {
                Node::And(inner) if and => all.extend_from_slice(inner),
                Node::Or(inner) if !and => all.extend_from_slice(inner),
                _ => all.push(part),
            }
        }
        all.sort_unstable();
        all.dedup();
        let (neutral, deciding) = (self.constant(and), self.constant(!and));
        if all.contains(&deciding) {
            return None;
        }
        all.retain(|part| *part != neutral);
        let contradicts = |part: &Formula| match self.node(*part) {
            Node::Not(inner) => all.binary_search(inner).is_ok(),
            _ => false,
        };
        if all.iter().any(contradicts) { None } else { Some(all) }
    }

    /// `a -> b`
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn implies(&mut self, a: Formula, b: Formula) -> Result<Formula, TooLarge> {
        let not_a = self.not(a)?;
        self.or([not_a, b])
    }

    /// `a <-> b`
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn iff(&mut self, a: Formula, b: Formula) -> Result<Formula, TooLarge> {
        let (not_a, not_b) = (self.not(a)?, self.not(b)?);
        let (both, neither) = (self.and([a, b])?, self.and([not_a, not_b])?);
        self.or([both, neither])
    }
}

impl Formulae {
    /// The same operator on other parts.
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn rebuild(
        &mut self,
        node: &Node,
        mut of: impl FnMut(&Formula) -> Formula,
    ) -> Result<Formula, TooLarge> {
        match node {
            Node::False => Ok(Formula::FALSE),
            Node::True => Ok(Formula::TRUE),
            Node::Atom(atom) => self.atom(*atom),
            Node::Not(a) => self.not(of(a)),
            Node::And(all) => self.and(all.iter().map(of)),
            Node::Or(all) => self.or(all.iter().map(of)),
            Node::Next(a) => self.next(of(a)),
            Node::Finally(a) => self.finally(of(a)),
            Node::Globally(a) => self.globally(of(a)),
            Node::Until([a, b]) => self.until(of(a), of(b)),
            Node::Release([a, b]) => self.release(of(a), of(b)),
            Node::WeakUntil([a, b]) => self.weak_until(of(a), of(b)),
            Node::StrongRelease([a, b]) => self.strong_release(of(a), of(b)),
            Node::Yesterday(a) => self.yesterday(of(a)),
            Node::WeakYesterday(a) => self.weak_yesterday(of(a)),
            Node::Once(a) => self.once(of(a)),
            Node::Historically(a) => self.historically(of(a)),
            Node::Since([a, b]) => self.since(of(a), of(b)),
            Node::Triggered([a, b]) => self.triggered(of(a), of(b)),
        }
    }
}

/// The temporal operators: each is just what its name says, nothing is simplified.
macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident => $node:ident($($part:ident),+);)*) => {
        impl Formulae {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// If there would be too many formulae.
                pub fn $name(&mut self, $($part: Formula),+) -> Result<Formula, TooLarge> {
                    self.keep(operators!(@ $node $($part)+))
                }
            )*
        }
    };
    (@ $node:ident $a:ident) => { Node::$node($a) };
    (@ $node:ident $a:ident $b:ident) => { Node::$node([$a, $b]) };
}

operators! {
    /// `X a`
    next => Next(a);
    /// `F a`
    finally => Finally(a);
    /// `G a`
    globally => Globally(a);
    /// `a U b`
    until => Until(a, b);
    /// `a R b`
    release => Release(a, b);
    /// `a W b`
    weak_until => WeakUntil(a, b);
    /// `a M b`
    strong_release => StrongRelease(a, b);
    /// `Y a`
    yesterday => Yesterday(a);
    /// `Z a`
    weak_yesterday => WeakYesterday(a);
    /// `O a`
    once => Once(a);
    /// `H a`
    historically => Historically(a);
    /// `a S b`
    since => Since(a, b);
    /// `a T b`
    triggered => Triggered(a, b);
}
