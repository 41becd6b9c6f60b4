//! The formula store and its constructors. They apply only Boolean laws, which hold on finite and on infinite words.

use super::{Atom, Formula, Node, Proposition};
use crate::{Budget, TooLarge};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// Hash-consing store of the formulae and propositions of a [`Logic`](crate::Logic).
#[derive(Clone, Debug)]
pub struct Formulae {
    nodes: IndexSet<Node, FxBuildHasher>,
    propositions: IndexSet<Proposition, FxBuildHasher>,
    limit: usize,
    fresh: u32,
}

impl Formulae {
    /// Creates a store that contains only `true` and `false`.
    pub fn new(budget: &Budget) -> Formulae {
        let nodes = [Node::False, Node::True].into_iter().collect();
        Formulae { nodes, propositions: IndexSet::default(), limit: budget.formulae, fresh: 0 }
    }

    /// Returns the operator and operands of a formula.
    pub fn node(&self, formula: Formula) -> &Node {
        &self.nodes[formula.index()]
    }

    /// Returns the number of formulae.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the maximum number of formulae.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Runs `work`, and removes the formulae and propositions that it added if it fails.
    pub(crate) fn transaction<T, E>(
        &mut self,
        work: impl FnOnce(&mut Formulae) -> Result<T, E>,
    ) -> Result<T, E> {
        let before = (self.nodes.len(), self.propositions.len());
        let result = work(self);
        if result.is_err() {
            self.nodes.truncate(before.0);
            self.propositions.truncate(before.1);
        }
        result
    }

    /// Returns the proposition of an atom.
    pub fn proposition(&self, atom: Atom) -> &Proposition {
        &self.propositions[atom.0 as usize]
    }

    /// Returns all atoms with their propositions.
    pub fn atoms(&self) -> impl Iterator<Item = (Atom, &Proposition)> {
        self.propositions.iter().enumerate().map(|(at, proposition)| (Atom(at as u32), proposition))
    }

    /// Returns all distinct subformulae, including the formula itself, in bottom-up order.
    pub fn subformulae(&self, formula: Formula) -> Vec<Formula> {
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

    /// Returns the index of a node, which is stored if it is new.
    fn intern(&mut self, node: Node) -> Result<Formula, TooLarge> {
        let at = match self.nodes.get_index_of(&node) {
            Some(at) => at,
            None => {
                Budget::check("subformulae", self.nodes.len() + 1, self.limit)?;
                self.nodes.insert_full(node).0
            }
        };
        Ok(Formula(at as u32))
    }

    /// Returns the atom of a proposition, which is stored if it is new.
    pub fn atom_for(&mut self, proposition: Proposition) -> Atom {
        Atom(self.propositions.insert_full(proposition).0 as u32)
    }

    /// Creates an atom that differs from all others and cannot be written in a formula.
    pub fn fresh(&mut self) -> Atom {
        self.fresh += 1;
        self.atom_for(Proposition::Fresh(self.fresh - 1))
    }

    /// Returns `true` or `false`.
    pub fn constant(&self, value: bool) -> Formula {
        if value { Formula::TRUE } else { Formula::FALSE }
    }

    /// Returns an atom as a formula.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn atom(&mut self, atom: Atom) -> Result<Formula, TooLarge> {
        self.intern(Node::Atom(atom))
    }

    /// Returns the atom with this name as a formula.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn name(&mut self, name: &str) -> Result<Formula, TooLarge> {
        let atom = self.atom_for(Proposition::Name(name.to_owned()));
        self.atom(atom)
    }

    /// Returns `!a`.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn not(&mut self, a: Formula) -> Result<Formula, TooLarge> {
        match *self.node(a) {
            Node::False => Ok(Formula::TRUE),
            Node::True => Ok(Formula::FALSE),
            Node::Not(inner) => Ok(inner),
            _ => self.intern(Node::Not(a)),
        }
    }

    /// Returns the conjunction of any number of formulae.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn and(&mut self, parts: impl IntoIterator<Item = Formula>) -> Result<Formula, TooLarge> {
        match self.operands(parts, true) {
            None => Ok(Formula::FALSE),
            Some(all) => match all[..] {
                [] => Ok(Formula::TRUE),
                [one] => Ok(one),
                _ => self.intern(Node::And(all.into())),
            },
        }
    }

    /// Returns the disjunction of any number of formulae.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn or(&mut self, parts: impl IntoIterator<Item = Formula>) -> Result<Formula, TooLarge> {
        match self.operands(parts, false) {
            None => Ok(Formula::TRUE),
            Some(all) => match all[..] {
                [] => Ok(Formula::FALSE),
                [one] => Ok(one),
                _ => self.intern(Node::Or(all.into())),
            },
        }
    }

    /// Returns the sorted, distinct operands of a conjunction or disjunction. `None` if its value is constant because
    /// an operand is the absorbing constant or the negation of another one.
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
        let (neutral, absorbing) = (self.constant(and), self.constant(!and));
        if all.contains(&absorbing) {
            return None;
        }
        all.retain(|part| *part != neutral);
        let contradicts = |part: &Formula| match self.node(*part) {
            Node::Not(inner) => all.binary_search(inner).is_ok(),
            _ => false,
        };
        if all.iter().any(contradicts) { None } else { Some(all) }
    }

    /// Returns `a -> b`.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn implies(&mut self, a: Formula, b: Formula) -> Result<Formula, TooLarge> {
        let not_a = self.not(a)?;
        self.or([not_a, b])
    }

    /// Returns `a <-> b`.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn iff(&mut self, a: Formula, b: Formula) -> Result<Formula, TooLarge> {
        let (not_a, not_b) = (self.not(a)?, self.not(b)?);
        let (both, neither) = (self.and([a, b])?, self.and([not_a, not_b])?);
        self.or([both, neither])
    }
}

impl Formulae {
    /// Returns the formula with the operator of `node` and the operands that `of` substitutes.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
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

/// Defines the constructors of the temporal operators, which simplify nothing.
macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident => $node:ident($($part:ident),+);)*) => {
        impl Formulae {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// Fails if there are too many formulae.
                pub fn $name(&mut self, $($part: Formula),+) -> Result<Formula, TooLarge> {
                    self.intern(operators!(@ $node $($part)+))
                }
            )*
        }
    };
    (@ $node:ident $a:ident) => { Node::$node($a) };
    (@ $node:ident $a:ident $b:ident) => { Node::$node([$a, $b]) };
}

operators! {
    /// Returns `X a`.
    next => Next(a);
    /// Returns `F a`.
    finally => Finally(a);
    /// Returns `G a`.
    globally => Globally(a);
    /// Returns `a U b`.
    until => Until(a, b);
    /// Returns `a R b`.
    release => Release(a, b);
    /// Returns `a W b`.
    weak_until => WeakUntil(a, b);
    /// Returns `a M b`.
    strong_release => StrongRelease(a, b);
    /// Returns `Y a`.
    yesterday => Yesterday(a);
    /// Returns `Z a`.
    weak_yesterday => WeakYesterday(a);
    /// Returns `O a`.
    once => Once(a);
    /// Returns `H a`.
    historically => Historically(a);
    /// Returns `a S b`.
    since => Since(a, b);
    /// Returns `a T b`.
    triggered => Triggered(a, b);
}
