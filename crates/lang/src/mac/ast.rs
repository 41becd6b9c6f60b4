//! Syntax trees shared by PEDL and MEDL: names, types and expressions. Names are not resolved.

pub use crate::prop::ast::Name;
use invigil_expr::diag::Span;
use invigil_monitor::mac::{Binary, JavaConstant, Type, Unary, Value};
use std::fmt;

/// A type of the target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProgramType {
    /// The type, or the element type of an array.
    pub base: BaseType,
    /// The number of array dimensions.
    pub dimensions: usize,
}

impl ProgramType {
    /// Returns the type in scripts; `None` for objects and arrays.
    pub fn script_type(&self) -> Option<Type> {
        match self.base {
            BaseType::Known(ty) if self.dimensions == 0 => Some(ty),
            _ => None,
        }
    }
}

impl fmt::Display for ProgramType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            BaseType::Known(ty) => write!(f, "{ty}")?,
            BaseType::Class(name) => f.write_str(name)?,
        }
        f.write_str(&"[]".repeat(self.dimensions))
    }
}

/// A type that is not an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// A primitive type, or `String`.
    Known(Type),
    /// A class, by name.
    Class(String),
}

/// A qualified name in the target: `Control.gatePos`, `A.main(String[]).c1.d1`, `Gate.gd(int)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The segments; never empty.
    pub segments: Vec<Segment>,
    /// Its position.
    pub span: Span,
}

/// One segment of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// The separator before it: `.`, or `::` in C++ names; empty for the first segment.
    pub separator: &'static str,
    /// The name.
    pub name: String,
    /// The parameter types, if it is a method.
    pub parameters: Option<Vec<ProgramType>>,
}

impl Path {
    /// Whether the last segment is a method.
    pub fn is_method(&self) -> bool {
        self.segments.last().is_some_and(|last| last.parameters.is_some())
    }

    /// Returns the name, if the path consists of one segment.
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
            write!(f, "{}{}", segment.separator, segment.name)?;
            if let Some(parameters) = &segment.parameters {
                let types: Vec<String> = parameters.iter().map(ProgramType::to_string).collect();
                write!(f, "({})", types.join(", "))?;
            }
        }
        Ok(())
    }
}

/// A number, string, character or Boolean: a literal in a script, or the value of a constant of the target.
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
    /// Returns the value; `null` is undefined.
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

    /// Returns it as a constant of the target; `None` for `null`.
    pub fn constant(&self) -> Option<JavaConstant> {
        Some(match self {
            Literal::Boolean(value) => JavaConstant::Boolean(*value),
            Literal::Char(value) => JavaConstant::Char(*value),
            Literal::Int(value) => JavaConstant::Int(*value),
            Literal::Long(value) => JavaConstant::Long(*value),
            Literal::Float(value) => JavaConstant::Float(*value),
            Literal::Double(value) => JavaConstant::Double(*value),
            Literal::String(value) => JavaConstant::Text(value.clone()),
            Literal::Null => return None,
        })
    }
}

impl From<JavaConstant> for Literal {
    fn from(constant: JavaConstant) -> Literal {
        match constant {
            JavaConstant::Boolean(value) => Literal::Boolean(value),
            JavaConstant::Char(value) => Literal::Char(value),
            JavaConstant::Int(value) => Literal::Int(value),
            JavaConstant::Long(value) => Literal::Long(value),
            JavaConstant::Float(value) => Literal::Float(value),
            JavaConstant::Double(value) => Literal::Double(value),
            JavaConstant::Text(value) => Literal::String(value),
        }
    }
}

/// An expression as a list of nodes. Operands precede their operator; the last node is the root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expr {
    /// The nodes; never empty.
    pub nodes: Vec<Node>,
}

impl Expr {
    /// Returns its position.
    pub fn span(&self) -> Span {
        self.nodes.last().map_or(Span::default(), |node| node.span)
    }

    /// Returns the name of the event whose values the event at a node carries: `e` for `e when c`.
    pub(crate) fn carrier(&self, event: NodeId) -> Option<&str> {
        let mut at = event;
        loop {
            match &self.nodes.get(at)?.kind {
                NodeKind::When(event, _) => at = *event,
                NodeKind::Path(path) => return path.as_name(),
                _ => return None,
            }
        }
    }
}

/// A node of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// Its position, operands included.
    pub span: Span,
    /// Whether it is parenthesised.
    pub is_grouped: bool,
}

/// Index of a node in its expression.
pub type NodeId = usize;

/// The kind of a node. Operands precede it in the list of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A constant.
    Literal(Literal),
    /// A variable, condition, event, or constant of the target.
    Path(Path),
    /// `x'`: the new value of an auxiliary variable.
    Primed(String),
    /// An operator with one operand.
    Unary(Unary, NodeId),
    /// An operator with two operands.
    Binary(Binary, NodeId, NodeId),
    /// `a ? b : c`
    Choice(NodeId, NodeId, NodeId),
    /// `(int) a`
    Cast(Type, NodeId),
    /// `defined(c)`: whether the condition is true or false.
    Defined(NodeId),
    /// `time(e)`: the time of its last occurrence.
    Time(NodeId),
    /// `value(e, i)`
    Value(NodeId, NodeId),
    /// `start(c)`: occurs when the condition becomes true.
    Start(NodeId),
    /// `end(c)`: occurs when the condition stops being true.
    End(NodeId),
    /// `e when c`
    When(NodeId, NodeId),
    /// `[e, f)`: true from one event to the other.
    Interval(NodeId, NodeId),
    /// `update(x)`
    Update(Path),
    /// `startM(f)`, `endM(f)`, `IOM(f)`, `InM(f)`
    Method(MethodPhase, Path),
}

/// The part of a method call that an expression refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodPhase {
    /// `startM`: the call.
    Start,
    /// `endM`: the return.
    End,
    /// `IOM`: call or return.
    Either,
    /// `InM`: a condition that is true while control is in the method.
    Inside,
}

/// The binary operators with their notation and binding power.
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
