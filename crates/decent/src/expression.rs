//! Boolean expressions over what is observed at instants, as the document writes them.
//!
//! Expressions live in a [`Pool`], where each is stored once and after its parts. So what is shared is worked on once,
//! however often it is written, and no work on expressions needs recursion.

mod print;
mod simplify;

pub use print::Written;
pub(crate) use simplify::Simplifier;
pub use simplify::{evaluate, simplify};

use crate::memory::{Memory, Obligation};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An expression, by its place in its [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Expression(u32);

impl Expression {
    /// False.
    pub const FALSE: Expression = Expression(0);
    /// True.
    pub const TRUE: Expression = Expression(1);

    /// Its value, if it is written as one.
    pub fn constant(self) -> Option<bool> {
        match self {
            Expression::FALSE => Some(false),
            Expression::TRUE => Some(true),
            _ => None,
        }
    }

    fn of(value: bool) -> Expression {
        if value { Expression::TRUE } else { Expression::FALSE }
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Node {
    /// False or true.
    Constant(bool),
    /// Something that is observed.
    Atom(Obligation),
    /// A negation.
    Not(Expression),
    /// All of these. At least two, none of them a conjunction, sorted.
    And(Vec<Expression>),
    /// One of these. At least two, none of them a disjunction, sorted.
    Or(Vec<Expression>),
}

impl Node {
    /// The parts.
    pub fn parts(&self) -> &[Expression] {
        match self {
            Node::Constant(_) | Node::Atom(_) => &[],
            Node::Not(part) => std::slice::from_ref(part),
            Node::And(parts) | Node::Or(parts) => parts,
        }
    }
}

/// Where expressions live. Constants, double negations, repeated parts and a part beside its negation are put away where an
/// expression is made; the order of parts makes no difference.
///
/// ```
/// use invigil_decent::expression::{Expression, Pool, evaluate};
/// use invigil_decent::memory::{Atom, Memory, Obligation};
/// use invigil_decent::system::PropositionId;
///
/// let (s, l) = (Atom::Observed(PropositionId(0)), Atom::Observed(PropositionId(1)));
/// let mut pool = Pool::default();
/// let [s1, l1] = [s, l].map(|atom| pool.atom(Obligation { at: 1, atom }));
/// let not = pool.not(l1);
/// let [with, without] = [l1, not].map(|other| pool.and([s1, other]));
/// let either = pool.or([with, without]);
/// let mut memory = Memory::default();
/// assert_eq!(evaluate(&pool, either, &memory), None);
/// memory.learn(1, s, true);
/// assert_eq!(evaluate(&pool, either, &memory), Some(true));
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<Node>", into = "Vec<Node>")]
pub struct Pool {
    nodes: IndexSet<Node, FxBuildHasher>,
}

/// A list of expressions that is no [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the list of expressions is damaged: each must be there once, and after its parts")
    }
}

impl std::error::Error for Damaged {}

impl TryFrom<Vec<Node>> for Pool {
    type Error = Damaged;

    fn try_from(nodes: Vec<Node>) -> Result<Pool, Damaged> {
        let mut pool = Pool { nodes: IndexSet::default() };
        for (place, node) in nodes.into_iter().enumerate() {
            let later = node.parts().iter().any(|part| part.index() >= place);
            let few = matches!(&node, Node::And(parts) | Node::Or(parts) if parts.len() < 2);
            if later || few || pool.keep(node).index() != place {
                return Err(Damaged);
            }
        }
        let constants = [false, true].map(Node::Constant);
        if pool.nodes.iter().take(2).eq(&constants) { Ok(pool) } else { Err(Damaged) }
    }
}

impl From<Pool> for Vec<Node> {
    fn from(pool: Pool) -> Vec<Node> {
        pool.nodes.into_iter().collect()
    }
}

impl Default for Pool {
    fn default() -> Pool {
        let mut pool = Pool { nodes: IndexSet::default() };
        for value in [false, true] {
            pool.keep(Node::Constant(value));
        }
        pool
    }
}

impl Pool {
    /// What an expression is made of.
    pub fn node(&self, expression: Expression) -> &Node {
        &self.nodes[expression.index()]
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing but true and false.
    pub fn is_empty(&self) -> bool {
        self.len() == 2
    }

    /// Something that is observed.
    pub fn atom(&mut self, obligation: Obligation) -> Expression {
        self.keep(Node::Atom(obligation))
    }

    /// A negation.
    pub fn not(&mut self, part: Expression) -> Expression {
        match self.node(part) {
            Node::Constant(value) => Expression::of(!value),
            Node::Not(inner) => *inner,
            _ => self.keep(Node::Not(part)),
        }
    }

    /// Something observed, or its negation.
    pub fn literal(&mut self, obligation: Obligation, value: bool) -> Expression {
        let atom = self.atom(obligation);
        if value { atom } else { self.not(atom) }
    }

    /// A conjunction.
    pub fn and(&mut self, parts: impl IntoIterator<Item = Expression>) -> Expression {
        self.many(parts, true)
    }

    /// A disjunction.
    pub fn or(&mut self, parts: impl IntoIterator<Item = Expression>) -> Expression {
        self.many(parts, false)
    }

    fn many(&mut self, parts: impl IntoIterator<Item = Expression>, all: bool) -> Expression {
        let mut flat = Vec::new();
        for part in parts {
            match (self.node(part), all) {
                (Node::Constant(value), _) if *value == all => {}
                (Node::Constant(_), _) => return Expression::of(!all),
                (Node::And(inner), true) | (Node::Or(inner), false) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let denies = |part: &Expression| match self.node(*part) {
            Node::Not(inner) => flat.binary_search(inner).is_ok(),
            _ => false,
        };
        match flat[..] {
            [] => Expression::of(all),
            [only] => only,
            _ if flat.iter().any(denies) => Expression::of(!all),
            _ if all => self.keep(Node::And(flat)),
            _ => self.keep(Node::Or(flat)),
        }
    }

    /// The parts of some expressions, and they themselves: true where one is needed.
    fn needed(&self, roots: impl IntoIterator<Item = Expression>) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for root in roots {
            needed[root.index()] = true;
        }
        for place in (0..self.nodes.len()).rev().filter(|place| *place > 1) {
            if needed[place] {
                for part in self.nodes[place].parts() {
                    needed[part.index()] = true;
                }
            }
        }
        needed
    }

    /// Copies expressions to another pool, with what a memory knows in the place of atoms. Gives what they are there, in the
    /// same order.
    ///
    /// This is the document's `rw`, with basic Boolean simplification on the way.
    pub fn rewrite(
        &self,
        roots: impl IntoIterator<Item = Expression> + Clone,
        memory: &Memory,
        into: &mut Pool,
    ) -> Vec<Expression> {
        let needed = self.needed(roots.clone());
        let mut copies = vec![Expression::FALSE; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().filter(|(place, _)| needed[*place]) {
            let copy = |part: &Expression| copies[part.index()];
            copies[place] = match node {
                Node::Constant(value) => Expression::of(*value),
                Node::Atom(obligation) => match memory.get(obligation.at, obligation.atom) {
                    Some(value) => Expression::of(value),
                    None => into.atom(*obligation),
                },
                Node::Not(part) => into.not(copy(part)),
                Node::And(parts) => into.and(parts.iter().map(copy)),
                Node::Or(parts) => into.or(parts.iter().map(copy)),
            };
        }
        roots.into_iter().map(|root| copies[root.index()]).collect()
    }

    /// For each expression, whether a memory knows something of it.
    pub(crate) fn touched(&self, memory: &Memory) -> Vec<bool> {
        let mut touched = vec![false; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            touched[place] = match node {
                Node::Atom(obligation) => memory.get(obligation.at, obligation.atom).is_some(),
                _ => node.parts().iter().any(|part| touched[part.index()]),
            };
        }
        touched
    }

    /// All that is observed in some expressions, sorted.
    pub fn obligations(&self, roots: impl IntoIterator<Item = Expression>) -> Vec<Obligation> {
        let needed = self.needed(roots);
        let atom = |(place, node): (usize, &Node)| match node {
            Node::Atom(obligation) if needed[place] => Some(*obligation),
            _ => None,
        };
        let mut found: Vec<Obligation> = self.nodes.iter().enumerate().filter_map(atom).collect();
        found.sort_unstable();
        found
    }

    /// The sizes of some expressions together when each is written out, in the bytes of the document: one for a constant, a
    /// negation, and each connective between two parts; for an atom four for the instant and what `name` says.
    pub fn size(
        &self,
        roots: impl IntoIterator<Item = Expression> + Clone,
        name: &dyn Fn(crate::memory::Atom) -> usize,
    ) -> usize {
        let needed = self.needed(roots.clone());
        let mut sizes = vec![0_usize; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().filter(|(place, _)| needed[*place]) {
            let own = match node {
                Node::Constant(_) | Node::Not(_) => 1,
                Node::Atom(obligation) => 4 + name(obligation.atom),
                Node::And(parts) | Node::Or(parts) => parts.len() - 1,
            };
            sizes[place] = node.parts().iter().fold(own, |sum, part| sum.saturating_add(sizes[part.index()]));
        }
        roots.into_iter().fold(0, |sum, root| sum.saturating_add(sizes[root.index()]))
    }

    /// Whether it cannot be written shorter: a value, an atom or its negation, or several of them all of which must hold, or
    /// one of them.
    pub fn is_plain(&self, expression: Expression) -> bool {
        let is_literal = |part: &Expression| match self.node(*part) {
            Node::Atom(_) => true,
            Node::Not(inner) => matches!(self.node(*inner), Node::Atom(_)),
            _ => false,
        };
        match self.node(expression) {
            Node::Constant(_) => true,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(is_literal),
            _ => is_literal(&expression),
        }
    }

    fn keep(&mut self, node: Node) -> Expression {
        Expression(self.nodes.insert_full(node).0 as u32)
    }
}
