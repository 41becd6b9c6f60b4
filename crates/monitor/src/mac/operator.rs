//! Operators of expressions.

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Unary {
    /// `+x`: promotes to at least `int`.
    Plus,
    /// `-x`
    Minus,
    /// `~x`
    Complement,
    /// `!c`, undefined if `c` is.
    Not,
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Binary {
    /// `+`, also string concatenation if one side is a string.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; integer division truncates, and division by zero is a fault.
    Divide,
    /// `%`; the result has the sign of the left side, and zero on the right side is a fault.
    Remainder,
    /// `<<`, by the low five (`long`: six) bits of the right side.
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `>>>`
    ShiftRightUnsigned,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==`, of numbers, of strings by content, of conditions.
    Equal,
    /// `!=`
    NotEqual,
    /// `&` of integers; for conditions see [`Binary::And`].
    BitAnd,
    /// `^` of integers; for conditions see [`Binary::NotEqual`].
    BitXor,
    /// `|` of integers; for conditions see [`Binary::Or`].
    BitOr,
    /// `&&`: false if one side is false, otherwise undefined if one side is undefined.
    And,
    /// `||`: true if one side is true, otherwise undefined if one side is undefined.
    Or,
    /// `=>`: implication.
    Implies,
}

impl Unary {
    /// The operator as written.
    pub fn word(self) -> &'static str {
        match self {
            Unary::Plus => "+",
            Unary::Minus => "-",
            Unary::Complement => "~",
            Unary::Not => "!",
        }
    }
}

impl Binary {
    /// The operator as written.
    pub fn word(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Remainder => "%",
            Binary::ShiftLeft => "<<",
            Binary::ShiftRight => ">>",
            Binary::ShiftRightUnsigned => ">>>",
            Binary::Less => "<",
            Binary::AtMost => "<=",
            Binary::Greater => ">",
            Binary::AtLeast => ">=",
            Binary::Equal => "==",
            Binary::NotEqual => "!=",
            Binary::BitAnd => "&",
            Binary::BitXor => "^",
            Binary::BitOr => "|",
            Binary::And => "&&",
            Binary::Or => "||",
            Binary::Implies => "=>",
        }
    }

    pub(super) fn is_shift(self) -> bool {
        matches!(self, Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightUnsigned)
    }

    pub(super) fn is_order(self) -> bool {
        matches!(self, Binary::Less | Binary::AtMost | Binary::Greater | Binary::AtLeast)
    }
}
