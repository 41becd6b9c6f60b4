//! Boolean expressions over observations at instants [EH18 §4].
//!
//! Expressions are stored in a [`Pool`], each once and after its operands. Shared subexpressions are therefore
//! processed once, and no operation is recursive.

mod print;
mod simplify;

pub use print::ExpressionDisplay;
pub(crate) use simplify::Simplifier;
pub use simplify::{evaluate, simplify};

use crate::memory::{Memory, Obligation};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Index of an expression in its [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Expression(u32);

impl Expression {
    /// False.
    pub const FALSE: Expression = Expression(0);
    /// True.
    pub const TRUE: Expression = Expression(1);

    /// Returns the value of a constant.
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

/// Operator and operands of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Node {
    /// False or true.
    Constant(bool),
    /// An observation.
    Atom(Obligation),
    /// Negation.
    Not(Expression),
    /// Conjunction of at least two operands, none of them a conjunction, sorted.
    And(Vec<Expression>),
    /// Disjunction of at least two operands, none of them a disjunction, sorted.
    Or(Vec<Expression>),
}

impl Node {
    /// Returns the operands.
    pub fn parts(&self) -> &[Expression] {
        match self {
            Node::Constant(_) | Node::Atom(_) => &[],
            Node::Not(part) => std::slice::from_ref(part),
            Node::And(parts) | Node::Or(parts) => parts,
        }
    }
}

/// Store of expressions.
///
/// Creating an expression removes constants, double negations, duplicate operands and complementary operands. The order
/// of operands does not matter.
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

/// The list of expressions is not a valid [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolError;

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("malformed list of expressions: each must occur once, after its operands")
    }
}

impl std::error::Error for PoolError {}

impl TryFrom<Vec<Node>> for Pool {
    type Error = PoolError;

    fn try_from(nodes: Vec<Node>) -> Result<Pool, PoolError> {
        let mut pool = Pool { nodes: IndexSet::default() };
        for (place, node) in nodes.into_iter().enumerate() {
            let later = node.parts().iter().any(|part| part.index() >= place);
            let few = matches!(&node, Node::And(parts) | Node::Or(parts) if parts.len() < 2);
            if later || few || pool.intern(node).index() != place {
                return Err(PoolError);
            }
        }
        let constants = [false, true].map(Node::Constant);
        if pool.nodes.iter().take(2).eq(&constants) { Ok(pool) } else { Err(PoolError) }
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
            pool.intern(Node::Constant(value));
        }
        pool
    }
}

impl Pool {
    /// Returns operator and operands of an expression.
    pub fn node(&self, expression: Expression) -> &Node {
        &self.nodes[expression.index()]
    }

    /// Returns the number of expressions.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether the pool contains only the constants.
    pub fn is_empty(&self) -> bool {
        self.len() == 2
    }

    /// Creates an observation.
    pub fn atom(&mut self, obligation: Obligation) -> Expression {
        self.intern(Node::Atom(obligation))
    }

    /// Creates a negation.
    pub fn not(&mut self, part: Expression) -> Expression {
        match self.node(part) {
            Node::Constant(value) => Expression::of(!value),
            Node::Not(inner) => *inner,
            _ => self.intern(Node::Not(part)),
        }
    }

    /// Creates an observation or its negation.
    pub fn literal(&mut self, obligation: Obligation, value: bool) -> Expression {
        let atom = self.atom(obligation);
        if value { atom } else { self.not(atom) }
    }

    /// Creates a conjunction.
    pub fn and(&mut self, parts: impl IntoIterator<Item = Expression>) -> Expression {
        self.combine(parts, true)
    }

    /// Creates a disjunction.
    pub fn or(&mut self, parts: impl IntoIterator<Item = Expression>) -> Expression {
        self.combine(parts, false)
    }

    fn combine(&mut self, parts: impl IntoIterator<Item = Expression>, all: bool) -> Expression {
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
            _ if all => self.intern(Node::And(flat)),
            _ => self.intern(Node::Or(flat)),
        }
    }

    /// Marks the given expressions and everything they contain.
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

    /// Copies expressions to another pool and replaces atoms that a memory knows by their values. Returns the copies in
    /// the same order.
    ///
    /// This is `rw` of [EH18 §4], with basic Boolean simplification.
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

    /// Marks the expressions that contain an atom known to a memory.
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

    /// Returns the observations in some expressions, sorted.
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

    /// Returns the total size of some expressions, written out, in the normalised bytes of [EH18 §8.2.3]: one for a
    /// constant, a negation and each binary connective; four plus `name` for an atom.
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

    /// Returns whether the expression is minimal by its form: a constant, a literal, or a conjunction or disjunction of
    /// literals.
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

    fn intern(&mut self, node: Node) -> Expression {
        Expression(self.nodes.insert_full(node).0 as u32)
    }
}
