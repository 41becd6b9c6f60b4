//! Syntax tree of a MEDL script. Names are not resolved.

pub use crate::mac::ast::{BaseType, Expr, Literal, Name, ProgramType};
use invigil_expr::diag::Span;
use invigil_monitor::mac::Type;

/// A MEDL script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The optional title.
    pub title: Option<Name>,
    /// The imported events, conditions and actions.
    pub imports: Vec<Import>,
    /// The auxiliary variables.
    pub variables: Vec<Variable>,
    /// Events, conditions, properties and alarms, in source order.
    pub definitions: Vec<Definition>,
    /// The guards, in source order.
    pub guards: Vec<Guard>,
}

/// A name in an `import` declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// What it is imported as.
    pub kind: ImportKind,
    /// The name.
    pub name: Name,
    /// The declared types of an event's values.
    pub values: Option<Vec<ProgramType>>,
    /// The method of the target that an action calls, if declared.
    pub call: Option<ActionCall>,
}

/// A call of a method of the target by an action: `Control.gate.move(2, "up")`.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionCall {
    /// The names between the dots; at least two.
    pub names: Vec<Name>,
    /// The arguments.
    pub arguments: Vec<Literal>,
    /// Its position.
    pub span: Span,
}

/// The kind of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImportKind {
    /// An event that a recogniser exports.
    Event,
    /// A condition that a recogniser exports.
    Condition,
    /// An action on the target.
    Action,
}

impl ImportKind {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            ImportKind::Event => "event",
            ImportKind::Condition => "condition",
            ImportKind::Action => "action",
        }
    }
}

/// An auxiliary variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
}

/// A definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its kind.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: Name,
    /// The defining expression.
    pub expr: Expr,
}

/// The kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// An event.
    Event,
    /// A condition.
    Condition,
    /// A condition that must always be true.
    Property,
    /// An event that must never occur.
    Alarm,
}

impl DefinitionKind {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            DefinitionKind::Event => "event",
            DefinitionKind::Condition => "condition",
            DefinitionKind::Property => "property",
            DefinitionKind::Alarm => "alarm",
        }
    }

    /// Whether the definition is an event rather than a condition.
    pub fn is_event(self) -> bool {
        matches!(self, DefinitionKind::Event | DefinitionKind::Alarm)
    }
}

/// A guard: `e -> { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The event that triggers it.
    pub trigger: Expr,
    /// The updates, in source order.
    pub updates: Vec<Update>,
    /// The position of the whole guard.
    pub span: Span,
}

/// An update in a guard.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// `x' = …`
    Assign(Name, Expr),
    /// `print …`
    Print(Expr),
    /// `invoke a`
    Invoke(Name),
}
