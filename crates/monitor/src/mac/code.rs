//! The instructions of the machine, and which ones Java's operators become.

use super::operator::{Binary, Unary};
use super::value::Type;

/// What an instruction does. `out`, `a`, `b` and `c` are cells; see [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    // Whole numbers, with the sign in 64 bits. Those named `Int` cut the result to 32.
    AddInt,
    SubtractInt,
    MultiplyInt,
    DivideInt,
    RemainderInt,
    MinusInt,
    AddLong,
    SubtractLong,
    MultiplyLong,
    DivideLong,
    RemainderLong,
    MinusLong,
    ShiftLeftInt,
    ShiftRightInt,
    ShiftRightUnsignedInt,
    ShiftLeftLong,
    ShiftRightLong,
    ShiftRightUnsignedLong,
    Complement,
    BitAnd,
    BitXor,
    BitOr,
    // Numbers with a fraction, always as `double`. Those named `Float` round the result to a `float`.
    AddFloat,
    SubtractFloat,
    MultiplyFloat,
    DivideFloat,
    RemainderFloat,
    AddDouble,
    SubtractDouble,
    MultiplyDouble,
    DivideDouble,
    RemainderDouble,
    MinusFloating,
    // Conversions.
    ToByte,
    ToChar,
    ToShort,
    ToInt,
    WholeToFloat,
    WholeToDouble,
    DoubleToFloat,
    FloatingToInt,
    FloatingToLong,
    // Comparisons; of conditions too.
    LessWhole,
    AtMostWhole,
    EqualWhole,
    NotEqualWhole,
    LessFloating,
    AtMostFloating,
    EqualFloating,
    NotEqualFloating,
    EqualText,
    NotEqualText,
    // Conditions.
    Not,
    And,
    Or,
    Implies,
    /// `out` is `b` where `a` holds, and `c` where it does not.
    Choose,
    Defined,
    /// `out` holds from `a` on until `b`.
    Interval,
    // What lasts: `out` is left alone unless the event `a` happens.
    /// The time, which is in `b`.
    Time,
    /// The value in `b`.
    Keep,
    /// The text in `b`, into the text number `c` of those that are kept.
    KeepText,
    // Events.
    /// `a` holds, and did not the last time, which is in `c`.
    Start,
    /// `a` does not hold, and did the last time, which is in `c`.
    End,
    Both,
    Either,
    /// The event `a` happens and `b` holds.
    When,
    // Text, into the text number `c` of the scratch.
    /// The value in `a`, whose type is number `b` of [`Type::ALL`].
    Show,
    Join,
}

/// One instruction: it reads the cells `a`, `b` and `c` as its code says and sets the cell `out`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) code: Code,
    pub(super) out: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

/// How a value of one type becomes one of another, by up to two instructions.
pub(super) fn convert(from: Type, to: Type) -> &'static [Code] {
    let fraction = matches!(from, Type::Float | Type::Double);
    match to {
        _ if from == to => &[],
        Type::Boolean | Type::String => &[],
        Type::Byte if fraction => &[Code::FloatingToInt, Code::ToByte],
        Type::Char if fraction => &[Code::FloatingToInt, Code::ToChar],
        Type::Short if fraction => &[Code::FloatingToInt, Code::ToShort],
        Type::Int if fraction => &[Code::FloatingToInt],
        Type::Long if fraction => &[Code::FloatingToLong],
        Type::Byte => &[Code::ToByte],
        Type::Char => &[Code::ToChar],
        Type::Short if from == Type::Byte => &[],
        Type::Short => &[Code::ToShort],
        Type::Int if from == Type::Long => &[Code::ToInt],
        Type::Int | Type::Long => &[],
        Type::Float if from == Type::Double => &[Code::DoubleToFloat],
        Type::Float => &[Code::WholeToFloat],
        Type::Double if fraction => &[],
        Type::Double => &[Code::WholeToDouble],
    }
}

/// The instruction for an operator, if it needs one, on an operand that is converted to its promoted type.
pub(super) fn unary(operator: Unary, ty: Type) -> Option<Code> {
    Some(match operator {
        Unary::Plus => return None,
        Unary::Complement => Code::Complement,
        Unary::Not => Code::Not,
        Unary::Minus => match ty.promoted() {
            Type::Int => Code::MinusInt,
            Type::Long => Code::MinusLong,
            _ => Code::MinusFloating,
        },
    })
}

/// The instruction for an operator.
pub(super) struct Chosen {
    pub(super) code: Code,
    /// The types that the operands are converted to first.
    pub(super) operands: (Type, Type),
    /// Whether the operands change places.
    pub(super) swapped: bool,
}

/// The instruction for an operator that is not the joining of texts.
pub(super) fn binary(operator: Binary, a: Type, b: Type) -> Chosen {
    let shift = operator.is_shift();
    let common = match () {
        () if shift => a.promoted(),
        () if a.is_number() => a.with(b),
        () => a,
    };
    let swapped = matches!(operator, Binary::Greater | Binary::AtLeast);
    Chosen {
        code: code(operator, common),
        operands: (common, if shift { b.promoted() } else { common }),
        swapped,
    }
}

fn code(operator: Binary, ty: Type) -> Code {
    use Code::*;
    let [int, long, float, double] = match operator {
        Binary::Add => [AddInt, AddLong, AddFloat, AddDouble],
        Binary::Subtract => [SubtractInt, SubtractLong, SubtractFloat, SubtractDouble],
        Binary::Multiply => [MultiplyInt, MultiplyLong, MultiplyFloat, MultiplyDouble],
        Binary::Divide => [DivideInt, DivideLong, DivideFloat, DivideDouble],
        Binary::Remainder => [RemainderInt, RemainderLong, RemainderFloat, RemainderDouble],
        Binary::Less | Binary::Greater => [LessWhole, LessWhole, LessFloating, LessFloating],
        Binary::AtMost | Binary::AtLeast => [AtMostWhole, AtMostWhole, AtMostFloating, AtMostFloating],
        Binary::Equal if ty == Type::String => [EqualText; 4],
        Binary::Equal => [EqualWhole, EqualWhole, EqualFloating, EqualFloating],
        Binary::NotEqual if ty == Type::String => [NotEqualText; 4],
        Binary::NotEqual => [NotEqualWhole, NotEqualWhole, NotEqualFloating, NotEqualFloating],
        Binary::BitAnd if ty == Type::Boolean => [And; 4],
        Binary::BitXor if ty == Type::Boolean => [NotEqualWhole; 4],
        Binary::BitOr if ty == Type::Boolean => [Or; 4],
        Binary::BitAnd => [BitAnd; 4],
        Binary::BitXor => [BitXor; 4],
        Binary::BitOr => [BitOr; 4],
        Binary::And => [And; 4],
        Binary::Or => [Or; 4],
        Binary::Implies => [Implies; 4],
        Binary::ShiftLeft => [ShiftLeftInt, ShiftLeftLong, ShiftLeftLong, ShiftLeftLong],
        Binary::ShiftRight => [ShiftRightInt, ShiftRightLong, ShiftRightLong, ShiftRightLong],
        Binary::ShiftRightUnsigned => {
            [ShiftRightUnsignedInt, ShiftRightUnsignedLong, ShiftRightUnsignedLong, ShiftRightUnsignedLong]
        }
    };
    match ty {
        Type::Double => double,
        Type::Float => float,
        Type::Long => long,
        _ => int,
    }
}
