//! Instructions of the machine, and the translation of Java's operators to them.

use super::operator::{Binary, Unary};
use super::value::Type;

/// Opcode of an instruction. `out`, `a`, `b` and `c` are cells; see [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    // Integers, sign-extended to 64 bits. `Int` instructions truncate the result to 32 bits.
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
    // Floating-point numbers, always as `double`. `Float` instructions round the result to `float`.
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
    // Comparisons, also of conditions.
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
    /// `out` is `b` if `a` is true, and `c` if it is false.
    Choose,
    Defined,
    /// `out` is true from `a` on until `b`.
    Interval,
    // Instructions that set `out` only if the event `a` occurs.
    /// The time, in `b`.
    Time,
    /// The value in `b`.
    Keep,
    /// The string in `b`, stored in kept string `c`.
    KeepText,
    // Events.
    // `Start` and `End` also update `c`.
    /// `a` is true and was not at the last instant, whose value is in `c`.
    Start,
    /// `a` is not true and was at the last instant, whose value is in `c`.
    End,
    Both,
    Either,
    /// The event `a` occurs and `b` is true.
    When,
    // Strings, built in scratch string `c`.
    /// The value in `a`, of the type with index `b` in [`Type::ALL`].
    Show,
    Join,
}

/// An instruction: reads the cells `a`, `b` and `c` as its opcode specifies and sets the cell `out`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) code: Opcode,
    pub(super) out: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

/// Conversion between two types, by up to two instructions.
pub(super) fn convert(from: Type, to: Type) -> &'static [Opcode] {
    let fraction = matches!(from, Type::Float | Type::Double);
    match to {
        _ if from == to => &[],
        Type::Boolean | Type::String => &[],
        Type::Byte if fraction => &[Opcode::FloatingToInt, Opcode::ToByte],
        Type::Char if fraction => &[Opcode::FloatingToInt, Opcode::ToChar],
        Type::Short if fraction => &[Opcode::FloatingToInt, Opcode::ToShort],
        Type::Int if fraction => &[Opcode::FloatingToInt],
        Type::Long if fraction => &[Opcode::FloatingToLong],
        Type::Byte => &[Opcode::ToByte],
        Type::Char => &[Opcode::ToChar],
        Type::Short if from == Type::Byte => &[],
        Type::Short => &[Opcode::ToShort],
        Type::Int if from == Type::Long => &[Opcode::ToInt],
        Type::Int | Type::Long => &[],
        Type::Float if from == Type::Double => &[Opcode::DoubleToFloat],
        Type::Float => &[Opcode::WholeToFloat],
        Type::Double if fraction => &[],
        Type::Double => &[Opcode::WholeToDouble],
    }
}

/// The instruction of a unary operator, if it needs one, for an operand of its promoted type.
pub(super) fn unary(operator: Unary, ty: Type) -> Option<Opcode> {
    Some(match operator {
        Unary::Plus => return None,
        Unary::Complement => Opcode::Complement,
        Unary::Not => Opcode::Not,
        Unary::Minus => match ty.promoted() {
            Type::Int => Opcode::MinusInt,
            Type::Long => Opcode::MinusLong,
            _ => Opcode::MinusFloating,
        },
    })
}

/// An instruction for a binary operator, with the preparation of its operands.
pub(super) struct BinaryInstruction {
    pub(super) code: Opcode,
    /// The type to which the operands are converted first.
    pub(super) operands: (Type, Type),
    /// Whether the operands are exchanged.
    pub(super) swapped: bool,
}

/// The instruction of a binary operator other than string concatenation.
pub(super) fn binary(operator: Binary, a: Type, b: Type) -> BinaryInstruction {
    let is_shift = operator.is_shift();
    let common = match () {
        () if is_shift => a.promoted(),
        () if a.is_number() => a.promoted_with(b),
        () => a,
    };
    let swapped = matches!(operator, Binary::Greater | Binary::AtLeast);
    BinaryInstruction {
        code: code(operator, common),
        operands: (common, if is_shift { b.promoted() } else { common }),
        swapped,
    }
}

fn code(operator: Binary, ty: Type) -> Opcode {
    use Opcode::*;
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
