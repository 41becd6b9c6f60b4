//! A MEDL script as it is written: names are not looked up yet.

pub use crate::mac::ast::{Base, Expr, Literal, Name, ProgramType};
use invigil_expr::diag::Span;
use invigil_monitor::mac::Type;

/// A whole MEDL script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The title, which may be left out.
    pub title: Option<Name>,
    /// What comes from the recogniser, and what can be done to the program.
    pub imports: Vec<Import>,
    /// The auxiliary variables.
    pub variables: Vec<Variable>,
    /// Events, conditions, properties and alarms, in the order written.
    pub definitions: Vec<Definition>,
    /// What is done when something happens, in the order written.
    pub guards: Vec<Guard>,
}

/// A name of an `import` declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// What it is.
    pub sort: Imported,
    /// The name.
    pub name: Name,
    /// The types of the values that an event carries, if they are written.
    pub values: Option<Vec<ProgramType>>,
    /// The method of the program that an action calls, if it is written.
    pub call: Option<Invoked>,
}

/// The method of the program that an action calls: `Control.gate.move(2, "up")`.
#[derive(Clone, Debug, PartialEq)]
pub struct Invoked {
    /// The names between the dots; at least two.
    pub names: Vec<Name>,
    /// What it is given.
    pub arguments: Vec<Literal>,
    /// Where it stands.
    pub span: Span,
}

/// What can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Imported {
    /// An event that a recogniser exports.
    Event,
    /// A condition that a recogniser exports.
    Condition,
    /// Something that can be done to the program.
    Action,
}

impl Imported {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Imported::Event => "event",
            Imported::Condition => "condition",
            Imported::Action => "action",
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
    /// What is defined.
    pub sort: Defined,
    /// Its name.
    pub name: Name,
    /// What it is.
    pub expr: Expr,
}

/// What can be defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Defined {
    /// Something that happens.
    Event,
    /// Something that holds or does not.
    Condition,
    /// A condition that must always hold.
    Property,
    /// An event that must never happen.
    Alarm,
}

impl Defined {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Defined::Event => "event",
            Defined::Condition => "condition",
            Defined::Property => "property",
            Defined::Alarm => "alarm",
        }
    }

    /// Whether it happens, and does not last.
    pub fn is_event(self) -> bool {
        matches!(self, Defined::Event | Defined::Alarm)
    }
}

/// `e -> { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The event that is waited for.
    pub trigger: Expr,
    /// What is done, in the order written.
    pub updates: Vec<Update>,
    /// The whole guard.
    pub span: Span,
}

/// Something that a guard does.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// `x' = …`
    Assign(Name, Expr),
    /// `print …`
    Print(Expr),
    /// `invoke a`
    Invoke(Name),
}
