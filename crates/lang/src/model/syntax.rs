//! Syntax tree of expressions.

use invigil_expr::diag::Span;
use invigil_model::{Binary, Unary};

/// A name with its position.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Span,
    /// The depth of the tree.
    pub(super) depth: u32,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Number(i64),
    Boolean(bool),
    Path(Path),
    Unary(Unary, Box<Expr>),
    /// All binary operators except `and` and `or`.
    Binary(Binary, Box<(Expr, Expr)>),
    /// Operands joined by `and`, as a flat list to keep the tree shallow.
    All(Vec<Expr>),
    /// Operands joined by `or`.
    Any(Vec<Expr>),
    /// `condition ? value : value`.
    If(Box<(Expr, Expr, Expr)>),
    /// `forall i in 0..3: …` or `exists …`.
    Quantifier {
        is_all: bool,
        name: Name,
        range: Range,
        body: Box<Expr>,
    },
    /// `enabled(send)`, `happens("…")`, `length(c)` and so on, optionally primed.
    Call {
        name: Name,
        argument: Argument,
        is_primed: bool,
    },
}

/// An inclusive range of numbers.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) low: Box<Expr>,
    pub(super) high: Box<Expr>,
}

/// The argument of a call.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Path(Path),
    Quoted(Name),
}

/// A path such as `P[2].x`, optionally primed.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) head: Name,
    pub(super) rest: Vec<Segment>,
    pub(super) is_primed: bool,
    pub(super) span: Span,
}

/// A further segment of a path.
#[derive(Clone, Debug)]
pub(super) enum Segment {
    Field(Name),
    Index(Expr),
}

impl Path {
    /// Returns the name, if the path is a single name, primed or not.
    pub(super) fn bare(&self) -> Option<&str> {
        (self.rest.is_empty()).then_some(&self.head.text)
    }
}
