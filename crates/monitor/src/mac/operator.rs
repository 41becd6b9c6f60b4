//! The operators of expressions.

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Unary {
    /// `+x`: the number, at least as an `int`.
    Plus,
    /// `-x`
    Minus,
    /// `~x`
    Complement,
    /// `!c`, undefined where `c` is.
    Not,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Binary {
    /// `+`, also of texts, where the other side may be anything.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; whole numbers are cut off towards zero, and dividing them by zero is a fault.
    Divide,
    /// `%`; the sign is that of the left side, and zero on the right side is a fault.
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
    /// `==`, of numbers, of texts by their content, of conditions.
    Equal,
    /// `!=`
    NotEqual,
    /// `&`, of whole numbers; of conditions it is [`Binary::And`].
    BitAnd,
    /// `^`, of whole numbers; of conditions it is [`Binary::NotEqual`].
    BitXor,
    /// `|`, of whole numbers; of conditions it is [`Binary::Or`].
    BitOr,
    /// `&&`: false if one side is, else undefined if one side is.
    And,
    /// `||`: true if one side is, else undefined if one side is.
    Or,
    /// `=>`: the left side does not hold, or the right side does.
    Implies,
}

impl Unary {
    /// As it is written.
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
    /// As it is written.
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
