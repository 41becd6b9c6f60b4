//! Expressions in the language of the target: those of C, with additions for users of C++, Rust and gdb.
//!
//! A text is parsed once, independently of the program. Names are resolved when the expression is evaluated.

mod lexer;
mod parser;
mod print;

pub(crate) use print::escaped;

use crate::value::error::ExpressionError;
use std::fmt;

/// Maximum nesting depth. Deeper expressions are rejected, so that no text can exhaust the stack.
pub(crate) const MAX_DEPTH: u16 = 120;

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(crate) root: Node,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// If the text is not an expression.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        parser::expression(text)
    }

    /// Parses `location = value`. A text without `=` is parsed as a single expression.
    ///
    /// # Errors
    /// If the text is neither.
    pub fn parse_assignment(text: &str) -> Result<(Expression, Option<Expression>), ExpressionError> {
        parser::assignment(text)
    }

    /// The name, if the expression consists of a name only.
    pub fn as_name(&self) -> Option<&str> {
        match &self.root.kind {
            Kind::Name(path) if path.len() == 1 => path.first().map(String::as_str),
            _ => None,
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)
    }
}

/// Node of an expression tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The kind of node.
    pub(crate) kind: Kind,
    /// The byte offset in the text.
    pub(crate) at: u32,
    /// The depth of the tree below the node.
    pub(crate) depth: u16,
}

/// The position of a node does not affect its meaning.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Node {
    /// The byte offset in the text.
    pub(crate) fn at(&self) -> usize {
        self.at as usize
    }
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// `a`, `a::b`, `file.c::x`; an empty first part denotes a leading `::`.
    Name(Vec<String>),
    /// An integer literal; suffix and base restrict its type.
    Integer { value: u64, unsigned: bool, long: bool, decimal: bool },
    /// A floating-point number.
    Float(f64),
    /// A character.
    Character(u8),
    /// A string.
    Text(String),
    /// `$rax`.
    Register(String),
    /// `-a`, `*a`, …
    Unary(Unary, Box<Node>),
    /// `a + b`, …
    Binary(Binary, Box<Node>, Box<Node>),
    /// `a ? b : c`
    Conditional(Box<Node>, Box<Node>, Box<Node>),
    /// `a[b]`
    Index(Box<Node>, Box<Node>),
    /// `a.b`
    Member(Box<Node>, String),
    /// `a->b`
    Arrow(Box<Node>, String),
    /// `(type) a`, `a as type`
    Cast(TypeName, Box<Node>),
    /// `sizeof(type)`
    SizeOf(TypeName),
    /// `f(a, b)`: only function-like macros can be called.
    Call(String, Vec<Node>),
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    /// `*`
    Deref,
    /// `&`
    Address,
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `sizeof`
    SizeOf,
    /// `^`: evaluates in the caller's frame.
    Caller,
}

impl Unary {
    /// The operator as it is written.
    pub(crate) fn token(self) -> &'static str {
        match self {
            Unary::Deref => "*",
            Unary::Address => "&",
            Unary::Minus => "-",
            Unary::Plus => "+",
            Unary::Not => "!",
            Unary::Complement => "~",
            Unary::SizeOf => "sizeof ",
            Unary::Caller => "^",
        }
    }
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    /// `*`
    Times,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `&`
    And,
    /// `^`
    Xor,
    /// `|`
    Or,
    /// `&&`
    LogicalAnd,
    /// `||`
    LogicalOr,
    /// `@`: `n` elements.
    Repeat,
}

impl Binary {
    /// The operator as it is written.
    pub(crate) fn token(self) -> &'static str {
        match self {
            Binary::Times => "*",
            Binary::Divide => "/",
            Binary::Modulo => "%",
            Binary::Plus => "+",
            Binary::Minus => "-",
            Binary::ShiftLeft => "<<",
            Binary::ShiftRight => ">>",
            Binary::Less => "<",
            Binary::LessEqual => "<=",
            Binary::Greater => ">",
            Binary::GreaterEqual => ">=",
            Binary::Equal => "==",
            Binary::Unequal => "!=",
            Binary::And => "&",
            Binary::Xor => "^",
            Binary::Or => "|",
            Binary::LogicalAnd => "&&",
            Binary::LogicalOr => "||",
            Binary::Repeat => "@",
        }
    }

    /// Binding strength; higher binds tighter. All binary operators associate to the left.
    pub(crate) fn level(self) -> u8 {
        match self {
            Binary::LogicalOr => 1,
            Binary::LogicalAnd => 2,
            Binary::Or => 3,
            Binary::Xor => 4,
            Binary::And => 5,
            Binary::Equal | Binary::Unequal => 6,
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => 7,
            Binary::ShiftLeft | Binary::ShiftRight => 8,
            Binary::Repeat => 9,
            Binary::Plus | Binary::Minus => 10,
            Binary::Times | Binary::Divide | Binary::Modulo => 11,
        }
    }
}

/// A type name in a cast, with the number of pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeName {
    /// `struct`, `union`, `enum` or `class`, if given.
    pub(crate) tag: Option<String>,
    /// The name; for C, its words in the order given: `unsigned long`, `ns::Point`.
    pub(crate) name: String,
    /// The number of `*`.
    pub(crate) pointers: u8,
}
