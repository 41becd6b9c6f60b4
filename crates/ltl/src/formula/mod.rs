//! Hash-consed formulae: equal formulae have the same index.

mod formulae;
mod nnf;
pub(crate) mod print;

pub use formulae::Formulae;
pub use print::{FormulaDisplay, Style};

use std::fmt;

/// Index of an atomic proposition in [`Formulae`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(pub u32);

/// Source form of an atomic proposition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Proposition {
    /// A name: `request`.
    Name(String),
    /// An expression over the subject, written in quotes: `"q->size <= 3"`.
    Expression(String),
    /// A reference to another monitor: `@m`.
    Monitor(String),
    /// Created by an algorithm; cannot be written in a formula.
    Fresh(u32),
}

impl fmt::Display for Proposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proposition::Name(name) => f.write_str(name),
            Proposition::Expression(text) => write!(f, "{text:?}"),
            Proposition::Monitor(name) => write!(f, "@{name}"),
            Proposition::Fresh(number) => write!(f, "_{number}"),
        }
    }
}

/// Index of a formula in [`Formulae`].
///
/// Operands have smaller indices than the formulae that contain them, so ascending order is bottom-up order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(pub u32);

impl Formula {
    /// The formula `false`.
    pub const FALSE: Formula = Formula(0);
    /// The formula `true`.
    pub const TRUE: Formula = Formula(1);

    /// Returns the index as a `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operator and operands of a formula. A *position* is an index into the word that the formula reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// False.
    False,
    /// True.
    True,
    /// A proposition.
    Atom(Atom),
    /// `!a`
    Not(Formula),
    /// `a & b & …`: at least two operands, sorted, none of them a conjunction.
    And(Box<[Formula]>),
    /// `a | b | …`: at least two operands, sorted, none of them a disjunction.
    Or(Box<[Formula]>),
    /// `X a`: at the next position, which must exist on finite words.
    Next(Formula),
    /// `F a`: at some position from now on.
    Finally(Formula),
    /// `G a`: at all positions from now on.
    Globally(Formula),
    /// `a U b`: `b` at some position from now on, and `a` at all positions before it.
    Until([Formula; 2]),
    /// `a R b`: `b` up to and including the first position where `a` holds, or always.
    Release([Formula; 2]),
    /// `a W b`: `a` until `b`, or always.
    WeakUntil([Formula; 2]),
    /// `a M b`: `b` up to and including the first position where `a` holds, which must exist.
    StrongRelease([Formula; 2]),
    /// `Y a`: at the previous position, which must exist.
    Yesterday(Formula),
    /// `Z a`: at the previous position, if it exists.
    WeakYesterday(Formula),
    /// `O a`: at some position up to now.
    Once(Formula),
    /// `H a`: at all positions up to now.
    Historically(Formula),
    /// `a S b`: `b` at some position up to now, and `a` at all positions after it.
    Since([Formula; 2]),
    /// `a T b`: `b` back to and including the last position where `a` held, or always.
    Triggered([Formula; 2]),
}

impl Node {
    /// Returns the operands.
    pub fn parts(&self) -> &[Formula] {
        match self {
            Node::False | Node::True | Node::Atom(_) => &[],
            Node::Not(a)
            | Node::Next(a)
            | Node::Finally(a)
            | Node::Globally(a)
            | Node::Yesterday(a)
            | Node::WeakYesterday(a)
            | Node::Once(a)
            | Node::Historically(a) => std::slice::from_ref(a),
            Node::And(parts) | Node::Or(parts) => parts,
            Node::Until(both)
            | Node::Release(both)
            | Node::WeakUntil(both)
            | Node::StrongRelease(both)
            | Node::Since(both)
            | Node::Triggered(both) => both,
        }
    }

    /// Whether the operator is a past operator.
    pub fn is_past(&self) -> bool {
        use Node::{Historically, Once, Since, Triggered, WeakYesterday, Yesterday};
        matches!(self, Yesterday(_) | WeakYesterday(_) | Once(_) | Historically(_) | Since(_) | Triggered(_))
    }
}
