//! Names, types and expressions as they are written: nothing is looked up yet.

pub use crate::prop::ast::Name;
use invigil_expr::diag::Span;
use invigil_monitor::mac::{Binary, Type, Unary, Value};
use std::fmt;

/// A type of the watched program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProgramType {
    /// What it is, or what it is an array of.
    pub base: Base,
    /// How many pairs of brackets stand behind it.
    pub dimensions: usize,
}

impl ProgramType {
    /// The type as scripts know it; nothing for objects and arrays.
    pub fn known(&self) -> Option<Type> {
        match self.base {
            Base::Known(ty) if self.dimensions == 0 => Some(ty),
            _ => None,
        }
    }
}

impl fmt::Display for ProgramType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            Base::Known(ty) => write!(f, "{ty}")?,
            Base::Class(name) => f.write_str(name)?,
        }
        f.write_str(&"[]".repeat(self.dimensions))
    }
}

/// A type that is no array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A primitive type, or `String`.
    Known(Type),
    /// A class, as it is named.
    Class(String),
}

/// A name of the watched program: `Control.gatePos`, `A.main(String[]).c1.d1`, `Gate.gd(int)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// What stands between the dots; never empty.
    pub segments: Vec<Segment>,
    /// Where it stands.
    pub span: Span,
}

/// One part of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// What joins it to the part before: `.`, or `::` in names of C++; nothing for the first.
    pub joint: &'static str,
    /// The name.
    pub name: String,
    /// The types of the parameters, if this is a method.
    pub parameters: Option<Vec<ProgramType>>,
}

impl Path {
    /// Whether the last part is a method.
    pub fn is_method(&self) -> bool {
        self.segments.last().is_some_and(|last| last.parameters.is_some())
    }

    /// The path, if it is just a name.
    pub fn as_name(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [only] if only.parameters.is_none() => Some(&only.name),
            _ => None,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            write!(f, "{}{}", segment.joint, segment.name)?;
            if let Some(parameters) = &segment.parameters {
                let types: Vec<String> = parameters.iter().map(ProgramType::to_string).collect();
                write!(f, "({})", types.join(", "))?;
            }
        }
        Ok(())
    }
}

/// A number, text, character or truth value, as it is written or as a constant of the program has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `true` or `false`
    Boolean(bool),
    /// `'a'`
    Char(u16),
    /// `42`
    Int(i32),
    /// `42L`
    Long(i64),
    /// `1.5f`
    Float(f32),
    /// `1.5`
    Double(f64),
    /// `"text"`
    String(String),
    /// `null`
    Null,
}

impl Literal {
    /// The value; of `null`, that it has none.
    pub fn value(&self) -> Value<'_> {
        match self {
            Literal::Boolean(value) => Value::Boolean(*value),
            Literal::Char(value) => Value::Char(*value),
            Literal::Int(value) => Value::Int(*value),
            Literal::Long(value) => Value::Long(*value),
            Literal::Float(value) => Value::Float(*value),
            Literal::Double(value) => Value::Double(*value),
            Literal::String(value) => Value::String(value),
            Literal::Null => Value::Undefined,
        }
    }
}

/// An expression: its nodes, operands before what is made of them. The last one is the whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expr {
    /// Never empty.
    pub nodes: Vec<Node>,
}

impl Expr {
    /// Where it stands.
    pub fn span(&self) -> Span {
        self.nodes.last().map_or(Span::default(), |node| node.span)
    }

    /// The name of the event whose values the event at a node carries: `e` of `e when c`.
    pub(crate) fn carrier(&self, event: At) -> Option<&str> {
        let mut at = event;
        loop {
            match &self.nodes.get(at)?.kind {
                Kind::When(event, _) => at = *event,
                Kind::Path(path) => return path.as_name(),
                _ => return None,
            }
        }
    }
}

/// A part of an expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it stands, operands included.
    pub span: Span,
    /// Whether parentheses stand around it.
    pub is_grouped: bool,
}

/// A node, by its position in the expression.
pub type At = usize;

/// What a node is. Operands come first in the list of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A constant.
    Literal(Literal),
    /// A variable, a condition, an event, a constant of the program.
    Path(Path),
    /// `x'`: the new value of an auxiliary variable.
    Primed(String),
    /// An operator with one operand.
    Unary(Unary, At),
    /// An operator with two.
    Binary(Binary, At, At),
    /// `a ? b : c`
    Choice(At, At, At),
    /// `(int) a`
    Cast(Type, At),
    /// `defined(c)`: whether it is true or false.
    Defined(At),
    /// `time(e)`: when it last happened.
    Time(At),
    /// `value(e, i)`
    Value(At, At),
    /// `start(c)`: it became true.
    Start(At),
    /// `end(c)`: it is no longer true.
    End(At),
    /// `e when c`
    When(At, At),
    /// `[e, f)`: from the one event to the other.
    Interval(At, At),
    /// `update(x)`
    Update(Path),
    /// `startM(f)`, `endM(f)`, `IOM(f)`, `InM(f)`
    Method(Moment, Path),
}

/// What is asked of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// `startM`: it is entered.
    Start,
    /// `endM`: it returns.
    End,
    /// `IOM`: it is entered or returns.
    Either,
    /// `InM`: a condition, that control is in it.
    Inside,
}

/// The operators with two operands, how they are written, and how strongly they bind.
pub(crate) const OPERATORS: [(&str, Binary, u8); 21] = [
    ("=>", Binary::Implies, 1),
    ("->", Binary::Implies, 1),
    ("||", Binary::Or, 2),
    ("&&", Binary::And, 3),
    ("|", Binary::BitOr, 4),
    ("^", Binary::BitXor, 5),
    ("&", Binary::BitAnd, 6),
    ("==", Binary::Equal, 7),
    ("!=", Binary::NotEqual, 7),
    ("<", Binary::Less, 8),
    ("<=", Binary::AtMost, 8),
    (">", Binary::Greater, 8),
    (">=", Binary::AtLeast, 8),
    ("<<", Binary::ShiftLeft, 9),
    (">>", Binary::ShiftRight, 9),
    (">>>", Binary::ShiftRightUnsigned, 9),
    ("+", Binary::Add, 10),
    ("-", Binary::Subtract, 10),
    ("*", Binary::Multiply, 11),
    ("/", Binary::Divide, 11),
    ("%", Binary::Remainder, 11),
];
