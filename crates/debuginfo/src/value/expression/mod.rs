//! Expressions of the language of the watched program: C's, with what C++, Rust and gdb users expect.
//!
//! Text is parsed once, without the program; names are resolved when the expression is evaluated.

mod lexer;
mod parser;
mod print;

pub(crate) use print::escaped;

use crate::value::mistake::Mistake;
use std::fmt;

/// How deep an expression may be nested. More is a mistake, so that no text can exhaust the stack.
pub(crate) const DEEPEST: u16 = 120;

/// An expression, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(crate) root: Node,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// If the text is none: where, and why.
    pub fn parse(text: &str) -> Result<Expression, Mistake> {
        parser::expression(text)
    }

    /// Parses `place = value`; a text without `=` is an expression alone.
    ///
    /// # Errors
    /// If the text is neither.
    pub fn parse_assignment(text: &str) -> Result<(Expression, Option<Expression>), Mistake> {
        parser::assignment(text)
    }

    /// The name, if the expression is just a name.
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

/// One node of an expression.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it is in the text.
    pub(crate) at: u32,
    /// How deep the tree below it is.
    pub(crate) depth: u16,
}

/// Where a node stood in the text says nothing about what it means.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Node {
    /// The position in the text.
    pub(crate) fn at(&self) -> usize {
        self.at as usize
    }
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// `a`, `a::b`, `file.c::x`; a first empty part stands for a leading `::`.
    Name(Vec<String>),
    /// An integer; what its suffix and base allow its type to be.
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

/// Operators with one operand.
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
    /// `^`: in the caller's frame
    Caller,
}

impl Unary {
    /// As it is written.
    pub(crate) fn sign(self) -> &'static str {
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

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    /// `*`
    Times,
    /// `/`
    Over,
    /// `%`
    Modulo,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `<<`
    Left,
    /// `>>`
    Right,
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
    Both,
    /// `||`
    Either,
    /// `@`: so many of them
    Repeat,
}

impl Binary {
    /// As it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Binary::Times => "*",
            Binary::Over => "/",
            Binary::Modulo => "%",
            Binary::Plus => "+",
            Binary::Minus => "-",
            Binary::Left => "<<",
            Binary::Right => ">>",
            Binary::Less => "<",
            Binary::LessEqual => "<=",
            Binary::Greater => ">",
            Binary::GreaterEqual => ">=",
            Binary::Equal => "==",
            Binary::Unequal => "!=",
            Binary::And => "&",
            Binary::Xor => "^",
            Binary::Or => "|",
            Binary::Both => "&&",
            Binary::Either => "||",
            Binary::Repeat => "@",
        }
    }

    /// How tightly it binds; higher is tighter. All associate to the left.
    pub(crate) fn level(self) -> u8 {
        match self {
            Binary::Either => 1,
            Binary::Both => 2,
            Binary::Or => 3,
            Binary::Xor => 4,
            Binary::And => 5,
            Binary::Equal | Binary::Unequal => 6,
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => 7,
            Binary::Left | Binary::Right => 8,
            Binary::Repeat => 9,
            Binary::Plus | Binary::Minus => 10,
            Binary::Times | Binary::Over | Binary::Modulo => 11,
        }
    }
}

/// A type as it is written in a cast: a name, and how many pointers lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeName {
    /// `struct`, `union`, `enum` or `class`, if written.
    pub(crate) tag: Option<String>,
    /// The name, in C with its words in the order written: `unsigned long`, `ns::Point`.
    pub(crate) name: String,
    /// The number of `*`.
    pub(crate) pointers: u8,
}
