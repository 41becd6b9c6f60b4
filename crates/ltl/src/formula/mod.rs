//! Formulae: every distinct one is stored once, so two are the same if their numbers are.

mod make;
mod nnf;
pub(crate) mod print;

pub use make::Formulae;
pub use print::{Shown, Style};

use std::fmt;

/// An atomic proposition, by its number in [`Formulae`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(pub u32);

/// What an atomic proposition stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Proposition {
    /// A name: `request`.
    Name(String),
    /// An expression over the subject, which stands in quotes: `"q->size <= 3"`.
    Expression(String),
    /// Another monitor, by its name: `@m`.
    Monitor(String),
    /// Made by an algorithm; no user's name is like it.
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

/// A formula, by its number in [`Formulae`]. Parts have smaller numbers than what they are part of, so a loop
/// over numbers is a pass from the inside out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(pub u32);

impl Formula {
    /// What never holds.
    pub const FALSE: Formula = Formula(0);
    /// What always holds.
    pub const TRUE: Formula = Formula(1);

    /// Its position among all formulae.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a formula is made of.
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
    /// `a & b & …`: two or more, sorted, none of them a conjunction.
    And(Box<[Formula]>),
    /// `a | b | …`: two or more, sorted, none of them a disjunction.
    Or(Box<[Formula]>),
    /// `X a`: at the next instant. On a finite word there must be one.
    Next(Formula),
    /// `F a`: now or later.
    Finally(Formula),
    /// `G a`: from now on.
    Globally(Formula),
    /// `a U b`: `b` now or later, and `a` until then.
    Until([Formula; 2]),
    /// `a R b`: `b` up to and including the instant at which `a` holds, or for ever.
    Release([Formula; 2]),
    /// `a W b`: `a` until `b`, or for ever.
    WeakUntil([Formula; 2]),
    /// `a M b`: `b` up to and including the instant at which `a` holds, which comes.
    StrongRelease([Formula; 2]),
    /// `Y a`: at the instant before, which there is.
    Yesterday(Formula),
    /// `Z a`: at the instant before, if there is one.
    WeakYesterday(Formula),
    /// `O a`: now or before.
    Once(Formula),
    /// `H a`: now and always before.
    Historically(Formula),
    /// `a S b`: `b` now or before, and `a` since then.
    Since([Formula; 2]),
    /// `a T b`: `b` back to and including the instant at which `a` held, or always.
    Triggered([Formula; 2]),
}

impl Node {
    /// The formulae that it is directly made of.
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

    /// Whether it is an operator that looks back.
    pub fn is_past(&self) -> bool {
        use Node::{Historically, Once, Since, Triggered, WeakYesterday, Yesterday};
        matches!(self, Yesterday(_) | WeakYesterday(_) | Once(_) | Historically(_) | Since(_) | Triggered(_))
    }
}
