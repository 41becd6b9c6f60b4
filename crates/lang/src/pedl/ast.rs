//! Syntax tree of a PEDL script. Names are not resolved.

pub use crate::mac::ast::{BaseType, Expr, Literal, Name, Path, ProgramType, Segment};
use invigil_expr::diag::Span;

/// A PEDL script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The optional title.
    pub title: Option<Name>,
    /// The exported names.
    pub exports: Vec<Export>,
    /// How snapshots are taken and sent.
    pub options: Options,
    /// The monitored entities.
    pub monitored: Vec<EntityDecl>,
    /// Events and conditions, in source order.
    pub definitions: Vec<Definition>,
}

/// Whether a definition is an event or a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExportKind {
    /// Occurs at an instant.
    Event,
    /// Is true, false or undefined, until it changes.
    Condition,
}

impl ExportKind {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            ExportKind::Event => "event",
            ExportKind::Condition => "condition",
        }
    }
}

/// A name in an `export` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// What it is exported as.
    pub kind: ExportKind,
    /// The name.
    pub name: Name,
}

/// The declarations that limit the overhead of monitoring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `timestamp`: the period at which the time is reported.
    pub timestamp: Option<Timestamp>,
    /// `multithread`: an update and its report are one atomic step.
    pub multithread: Option<Span>,
    /// `deltavalue`: small changes are sent as differences.
    pub deltavalue: Option<Span>,
    /// `valueabstract`: only changes that affect a condition are sent.
    pub valueabstract: Option<Span>,
}

/// A `timestamp` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// The period, in milliseconds.
    pub milliseconds: u32,
    /// Its position.
    pub span: Span,
}

/// A name in a `monobj` or `monmeth` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityDecl {
    /// Whether it is a method rather than a variable.
    pub is_method: bool,
    /// The type of the variable or of the method's result; `None` for `void` or if omitted.
    pub ty: Option<ProgramType>,
    /// Its alias in the script.
    pub alias: Option<Name>,
    /// Its name in the target.
    pub path: Path,
    /// Where it is monitored; everywhere if absent.
    pub scope: Option<Scope>,
}

/// `in` or `not in` a part of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Whether it is negated.
    pub is_negated: bool,
    /// A package, class or method.
    pub path: Path,
}

/// The definition of an event or a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Event or condition.
    pub kind: ExportKind,
    /// Its name.
    pub name: Name,
    /// The defining expression.
    pub expr: Expr,
}
