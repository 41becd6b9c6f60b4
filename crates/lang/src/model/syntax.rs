//! Expressions as they are written.

use invigil_expr::diag::Span;
use invigil_model::{Binary, Unary};

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) shape: Shape,
    pub(super) span: Span,
    /// How many expressions are in each other here, this one included.
    pub(super) depth: u32,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Number(i64),
    Truth(bool),
    Path(Path),
    Unary(Unary, Box<Expr>),
    /// All operators with two operands but `and` and `or`.
    Binary(Binary, Box<(Expr, Expr)>),
    /// Operands between `and`: long lists are no deep trees.
    All(Vec<Expr>),
    /// Operands between `or`.
    Any(Vec<Expr>),
    /// `condition ? this : that`.
    If(Box<(Expr, Expr, Expr)>),
    /// `forall i in 0..3: …` or `exists …`.
    Each {
        is_all: bool,
        name: Name,
        range: Range,
        body: Box<Expr>,
    },
    /// `enabled(send)`, `happens("…")`, `length(c)` and their like; a prime may follow.
    Call {
        name: Name,
        argument: Argument,
        is_primed: bool,
    },
}

/// Numbers from one to another, both included.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) low: Box<Expr>,
    pub(super) high: Box<Expr>,
}

/// What stands in the parentheses of a call.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Path(Path),
    Quoted(Name),
}

/// `P[2].x`, and whether a prime follows.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) head: Name,
    pub(super) rest: Vec<Segment>,
    pub(super) is_primed: bool,
    pub(super) span: Span,
}

/// What follows the first name of a path.
#[derive(Clone, Debug)]
pub(super) enum Segment {
    Field(Name),
    Index(Expr),
}

impl Path {
    /// The name, if it is nothing else.
    pub(super) fn bare(&self) -> Option<&str> {
        (self.rest.is_empty()).then_some(&self.head.text)
    }
}
