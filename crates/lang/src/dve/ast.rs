//! Syntax tree of a DVE model.

pub(super) use crate::prop::ast::Name;
use invigil_expr::diag::Span;
use invigil_model::{Binary, Unary};

/// A model file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) variables: Vec<Variable>,
    pub(super) channels: Vec<Channel>,
    pub(super) processes: Vec<Process>,
    pub(super) system: Option<System>,
    /// The position of its end.
    pub(super) end: Span,
}

/// `byte` or `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Byte,
    Int,
}

#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: Name,
    pub(super) is_constant: bool,
    pub(super) value_type: Type,
    pub(super) length: Option<Expr>,
    pub(super) initial: Option<Initial>,
}

#[derive(Debug)]
pub(super) enum Initial {
    One(Expr),
    Many(Vec<Expr>, Span),
}

#[derive(Debug)]
pub(super) struct Channel {
    pub(super) name: Name,
    /// The declared types of the values of a message.
    pub(super) value_types: Option<Vec<Type>>,
    pub(super) capacity: Option<Expr>,
}

#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) name: Option<Name>,
    pub(super) variables: Vec<Variable>,
    pub(super) states: Vec<Name>,
    pub(super) initial: Option<Name>,
    pub(super) committed: Vec<Name>,
    /// The sets of accepting states; a Büchi automaton has one.
    pub(super) accepting: Vec<Vec<Name>>,
    pub(super) assertions: Vec<(Name, Expr)>,
    pub(super) transitions: Vec<Transition>,
}

#[derive(Debug)]
pub(super) struct Transition {
    pub(super) from: Name,
    pub(super) to: Name,
    pub(super) span: Span,
    pub(super) guard: Option<Expr>,
    pub(super) sync: Option<Sync>,
    /// Targets and values of the assignments.
    pub(super) effects: Vec<(Expr, Expr)>,
}

#[derive(Debug)]
pub(super) struct Sync {
    pub(super) channel: Name,
    pub(super) is_send: bool,
    pub(super) values: Vec<Expr>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct System {
    pub(super) is_sync: bool,
    pub(super) property: Option<Name>,
    pub(super) span: Span,
}

/// An expression with its position.
#[derive(Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Span,
    /// The depth of the tree after lowering.
    pub(super) depth: u32,
}

#[derive(Debug)]
pub(super) enum ExprKind {
    Number(i64),
    /// `x`
    Name(String),
    /// `x[e]`
    Element(Name, Box<Expr>),
    /// `P.q`: whether `P` is in `q`.
    InState(Name, Name),
    /// `P->x`, `P->x[e]`
    ProcessVariable(Name, Name, Option<Box<Expr>>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<(Expr, Expr)>),
    /// Operands joined by an associative operator, and the depth of the deepest.
    Chain(Binary, Vec<Expr>, u32),
}
