//! A PEDL script as it is written: names are not looked up yet.

pub use crate::mac::ast::{Base, Expr, Literal, Name, Path, ProgramType, Segment};
use invigil_expr::diag::Span;

/// A whole PEDL script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The title, which may be left out.
    pub title: Option<Name>,
    /// What the checker is told of.
    pub exports: Vec<Export>,
    /// How snapshots are taken and sent.
    pub options: Options,
    /// What is watched in the program.
    pub monitored: Vec<Monitored>,
    /// Events and conditions, in the order written.
    pub definitions: Vec<Definition>,
}

/// Whether something happens or lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// It happens at an instant.
    Event,
    /// It holds, does not hold or is undefined, until it changes.
    Condition,
}

impl Sort {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Sort::Event => "event",
            Sort::Condition => "condition",
        }
    }
}

/// A name of an `export` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// What it is exported as.
    pub sort: Sort,
    /// The name.
    pub name: Name,
}

/// What the overhead section asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `timestamp`: the time is told this often.
    pub timestamp: Option<Timestamp>,
    /// `multithread`: an update and its report are one step.
    pub multithread: Option<Span>,
    /// `deltavalue`: small changes are sent as such.
    pub deltavalue: Option<Span>,
    /// `valueabstract`: only what changes something is sent.
    pub valueabstract: Option<Span>,
}

/// A `timestamp` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// The period, in milliseconds.
    pub milliseconds: u32,
    /// Where it stands.
    pub span: Span,
}

/// One name of a `monobj` or `monmeth` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitored {
    /// Whether it is a variable, or a method.
    pub is_method: bool,
    /// The type of the variable, or of the method's result; nothing for `void`, or where it is left out.
    pub ty: Option<ProgramType>,
    /// Its short name in this script.
    pub alias: Option<Name>,
    /// Its name in the program.
    pub path: Path,
    /// Where in the program it is watched; everywhere if nothing is said.
    pub scope: Option<Scope>,
}

/// `in` or `not in` a part of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Whether `not` is written.
    pub is_negated: bool,
    /// A package, a class, or a method.
    pub path: Path,
}

/// The definition of an event or a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Which of the two.
    pub sort: Sort,
    /// Its name.
    pub name: Name,
    /// What it is.
    pub expr: Expr,
}
