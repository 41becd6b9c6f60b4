//! Syntax tree of a model.

use super::syntax::{Expr, Name, Path, Range};
use invigil_expr::diag::Span;
use invigil_model::{Binary, Side};
use std::rc::Rc;

/// A declaration.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// `const N = 4`
    Constant { name: Name, value: Expr },
    /// `enum Colour { red, green }`; names in mailboxes may carry values: `enum Signal { go(0..3) }`
    Enum { name: Name, variants: Vec<Variant> },
    /// `record Point { x: 0..3, y: 0..3 }`
    Record { name: Name, fields: Vec<VariableDecl> },
    /// `type Id = 0..3`
    Alias { name: Name, ty: TypeExpr },
    /// `turn: 0..3 = 0`
    Variable(VariableDecl),
    /// `channel c[4]: 0..7`
    Channel { name: Name, array: Option<IndexRange>, capacity: Option<Expr>, values: Vec<TypeExpr> },
    /// `process P { … }`
    Process(Rc<Process>),
    /// `instance A = P(1)`
    Instance { name: Name, array: Option<IndexRange>, template: Name, arguments: Vec<Expr>, side: Side },
    /// `predicate safe = …`
    Predicate { name: Name, body: Expr },
    /// `invariant safe: …`
    Invariant { name: Name, body: Expr },
    /// `ltl live: …`
    Temporal { name: Name, formula: Span },
}

/// A value of an enum, with the types of the values that it carries in mailboxes.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) name: Name,
    pub(super) values: Vec<TypeExpr>,
}

/// `[i in 0..3]`
#[derive(Clone, Debug)]
pub(super) struct IndexRange {
    pub(super) index: Name,
    pub(super) range: Range,
}

/// Variables or fields of one type.
#[derive(Clone, Debug)]
pub(super) struct VariableDecl {
    pub(super) names: Vec<Name>,
    pub(super) ty: TypeExpr,
    pub(super) initial: Option<Initial>,
}

/// A type.
#[derive(Clone, Debug)]
pub(super) enum TypeExpr {
    Boolean,
    Range(Range),
    Named(Name),
    Array(Box<(Expr, TypeExpr)>),
}

/// An initial value.
#[derive(Clone, Debug)]
pub(super) enum Initial {
    Value(Expr),
    List(Vec<Initial>, Span),
    Any(Option<Range>, Span),
}

/// A process, an array of processes, or a template with parameters.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) name: Name,
    pub(super) array: Option<IndexRange>,
    pub(super) parameters: Option<Vec<Name>>,
    pub(super) side: Side,
    pub(super) priority: Option<Expr>,
    pub(super) variables: Vec<VariableDecl>,
    pub(super) mailbox: Option<Mailbox>,
    pub(super) states: Vec<State>,
}

/// `mailbox fifo[3] of Signal`
#[derive(Clone, Debug)]
pub(super) struct Mailbox {
    pub(super) is_deferred: bool,
    pub(super) overflow: Overflow,
    pub(super) capacity: Expr,
    pub(super) events: Name,
    pub(super) span: Span,
}

/// The effect of sending to a full mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    Fault,
    Lossy,
    Blocking,
}

/// A state of a process.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) name: Name,
    pub(super) is_initial: bool,
    pub(super) is_committed: bool,
    pub(super) is_atomic: bool,
    pub(super) transitions: Vec<Transition>,
}

/// A transition out of a state.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    pub(super) span: Span,
    pub(super) label: Option<Label>,
    pub(super) guards: Vec<Expr>,
    pub(super) trigger: Trigger,
    pub(super) priority: Option<Expr>,
    pub(super) target: Option<Name>,
    pub(super) effect: Vec<Statement>,
}

/// `enter(id = i):`
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) name: Name,
    pub(super) arguments: Vec<(String, Expr)>,
}

/// The event or channel that a transition waits for, in addition to its guard.
#[derive(Clone, Debug)]
pub(super) enum Trigger {
    Nothing,
    Event { name: Name, patterns: Vec<Expr> },
    Send { channel: Path, values: Vec<Expr> },
    Receive { channel: Path, patterns: Vec<Expr> },
}

/// A statement of an effect.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) span: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug)]
pub(super) enum StatementKind {
    /// `x = …`, or `x += …`
    Assign {
        place: Path,
        operator: Option<Binary>,
        value: Expr,
    },
    /// `x = any(0..3)`, or `x = any`
    Choose {
        place: Path,
        range: Option<Range>,
    },
    If {
        condition: Expr,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    For {
        name: Name,
        range: Range,
        body: Vec<Statement>,
    },
    Assert {
        condition: Expr,
        message: String,
    },
    Require(Expr),
    /// `send Gate.close(1)`
    Send {
        to: Path,
        event: Name,
        values: Vec<Expr>,
    },
}
