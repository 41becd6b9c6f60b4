//! The compiled form of blocks and functions: a short list of instructions on registers.
//!
//! Instructions read from four spaces (registers, the environment, the event's parameters, constants), which
//! an [`Operand`] tells apart by its two upper bits, so nothing is copied before it is used. Only registers
//! and, through [`Op::Store`], the environment are written.

use crate::diag::Span;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// Where an instruction finds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Operand(u16);

/// The four spaces that an [`Operand`] may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Space {
    /// A register of the running block or function.
    Register,
    /// A variable of the environment.
    Env,
    /// A parameter of the event.
    Param,
    /// A constant of the program.
    Const,
}

impl Operand {
    /// How many values each space can have.
    pub const LIMIT: usize = 1 << 14;

    /// The value number `index` of a space; `None` beyond [`Operand::LIMIT`].
    pub fn new(space: Space, index: usize) -> Option<Operand> {
        (index < Operand::LIMIT).then_some(Operand((space as u16) << 14 | index as u16))
    }

    /// The space.
    #[inline(always)]
    pub fn space(self) -> Space {
        match self.0 >> 14 {
            0 => Space::Register,
            1 => Space::Env,
            2 => Space::Param,
            _ => Space::Const,
        }
    }

    /// The number in the space.
    #[inline(always)]
    pub fn index(self) -> usize {
        usize::from(self.0 & 0x3fff)
    }
}

/// A register, by its number in the frame.
pub type Reg = u16;
/// A place in the code.
pub type Target = u16;

/// Operators on two values that are not worth an instruction of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Binary {
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Is,
    IsNot,
    In,
    NotIn,
}

/// Operators on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Unary {
    Not,
    Neg,
    Plus,
    Invert,
}

/// What `[…]`, `(…)`, `{…}` and `{k: v}` build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Build {
    List,
    Tuple,
    Set,
    Dict,
}

/// Functions that the language provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Builtin {
    Len,
    Str,
    Repr,
    Int,
    Float,
    Bool,
    Abs,
    Min,
    Max,
    Sum,
    Sorted,
    Reversed,
    Any,
    All,
    Round,
    Hex,
    Range,
    Enumerate,
    Zip,
    List,
    Tuple,
    Set,
    Dict,
}

/// Methods that leave their object as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Method {
    Get,
    Keys,
    Values,
    Items,
    Copy,
    Count,
    Index,
    Union,
    Intersection,
    Difference,
    IsSubset,
    IsSuperset,
    IsDisjoint,
    StartsWith,
    EndsWith,
    Lower,
    Upper,
    Strip,
    Split,
    Join,
    Replace,
    Find,
    IsDigit,
}

/// Methods and statements that change the variable they are used on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Mutation {
    Append,
    Extend,
    Insert,
    Pop,
    Remove,
    Discard,
    Add,
    Update,
    Clear,
    Sort,
    Reverse,
    SetItem,
    DelItem,
    SetDefault,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Op {
    /// `dst = a`
    Move {
        dst: Reg,
        a: Operand,
    },
    /// Environment variable `slot` becomes `a`.
    Store {
        slot: u16,
        a: Operand,
    },
    /// Faults when nothing was assigned to `a`; `name` is its name.
    Check {
        a: Operand,
        name: u16,
    },
    Add {
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Sub {
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Binary {
        op: Binary,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Compare {
        op: Comparison,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Unary {
        op: Unary,
        dst: Reg,
        a: Operand,
    },
    Jump {
        to: Target,
    },
    /// A jump that a loop makes: it spends of the budget.
    Loop {
        to: Target,
    },
    JumpIf {
        a: Operand,
        to: Target,
    },
    JumpUnless {
        a: Operand,
        to: Target,
    },
    Return {
        a: Operand,
    },
    /// Environment variable `slot` becomes `a + b`: most of what updates do.
    AddTo {
        slot: u16,
        a: Operand,
        b: Operand,
    },
    /// The same for `a - b`.
    SubTo {
        slot: u16,
        a: Operand,
        b: Operand,
    },
    /// Returns a comparison: most of what guards do.
    ReturnCompare {
        op: Comparison,
        a: Operand,
        b: Operand,
    },
    /// `dst = [first, …]` from `n` registers.
    Build {
        kind: Build,
        dst: Reg,
        first: Reg,
        n: u16,
    },
    Index {
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `dst = a[first:first+1:first+2]`
    Slice {
        dst: Reg,
        a: Operand,
        first: Reg,
    },
    /// Calls a function of the program with the registers from `first` on.
    Call {
        dst: Reg,
        function: u16,
        first: Reg,
    },
    Builtin {
        builtin: Builtin,
        dst: Reg,
        first: Reg,
        n: u16,
    },
    /// `dst = first.method(first+1, …)`
    Method {
        method: Method,
        dst: Reg,
        first: Reg,
        n: u16,
    },
    /// Changes variable `place` with the arguments at `first`; what it gives goes to `first`.
    Mutate {
        mutation: Mutation,
        place: Operand,
        first: Reg,
        n: u16,
    },
    /// Starts a loop over `a`: `iter` keeps the object, `iter + 1` the position.
    Iterate {
        iter: Reg,
        a: Operand,
    },
    /// The next element into `item`, or on to `end`.
    Next {
        iter: Reg,
        item: Reg,
        end: Target,
    },
    /// The next number of the range `iter`, `iter + 1` (end), `iter + 2` (step), or on to `end`.
    NextInRange {
        iter: Reg,
        item: Reg,
        end: Target,
    },
    /// `first, … = a`, exactly `n` of them.
    Unpack {
        a: Operand,
        first: Reg,
        n: u16,
    },
    /// Prints `n` registers, separated by spaces.
    Print {
        first: Reg,
        n: u16,
    },
    /// Goes on at `to` when nobody listens to what is printed.
    SkipUnlessPrinting {
        to: Target,
    },
    /// `dst` is `a` as text, laid out as `layouts[layout]` says.
    Show {
        dst: Reg,
        a: Operand,
        layout: u16,
    },
    /// `dst` is the `n` strings from `first` on, one after the other.
    Join {
        dst: Reg,
        first: Reg,
        n: u16,
    },
    /// Calls a function of whoever runs the program.
    Host {
        function: u8,
        dst: Reg,
        first: Reg,
        n: u16,
    },
    /// A failed `assert`.
    Assert {
        a: Operand,
        message: Operand,
    },
}

/// What a part of the code does on a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Handler {
    /// The instructions it guards.
    pub range: core::ops::Range<Target>,
    /// The kinds of fault that it takes, as bits.
    pub kinds: u16,
    /// Where to go on.
    pub target: Target,
}

/// An operand of a [`Shortcut`]: where it is, or the integer that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Quick {
    Env(u16),
    Param(u16),
    Int(i64),
}

/// What the commonest blocks come down to when all they touch are integers. A block that is one of these is
/// run without setting the machine up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Shortcut {
    /// None of them.
    #[default]
    None,
    /// `return a < b` and the like.
    Compare { op: Comparison, a: Quick, b: Quick },
    /// `slot = a + b`, with a `print` after it that only matters if someone listens.
    Add { slot: u16, a: Quick, b: Quick, prints: bool },
    /// `slot = a - b`, the same.
    Sub { slot: u16, a: Quick, b: Quick, prints: bool },
}

/// A compiled block or function.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Code {
    /// What runs.
    pub ops: Vec<Op>,
    /// Where each instruction comes from.
    pub spans: Vec<Span>,
    /// How many registers it needs.
    pub registers: u16,
    /// How many of them are given by the caller.
    pub arguments: u16,
    /// Its `try` statements, innermost first.
    pub handlers: Vec<Handler>,
    /// Whether it looks at registers that it may not have written: they must not hold leftovers.
    pub clears: bool,
    /// A quicker way to run it.
    pub shortcut: Shortcut,
}

/// A [`Code`] by its position in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CodeId(pub u32);

/// All the blocks and functions of one property, with their constants.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Program {
    /// Blocks and functions.
    pub codes: Vec<Code>,
    /// Which of them are functions that blocks can call, by name.
    pub functions: Vec<(String, CodeId)>,
    /// Constants.
    pub consts: Vec<Value>,
    /// The text that constants lie in, and names.
    pub pool: String,
    /// Layouts of formatted strings.
    pub layouts: Vec<crate::show::Layout>,
    /// Names of variables, for messages.
    pub names: Vec<String>,
}

impl Program {
    /// The code with this number.
    #[inline]
    pub fn code(&self, id: CodeId) -> &Code {
        &self.codes[id.0 as usize]
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<CodeId> {
        self.functions.iter().find(|(known, _)| known == name).map(|(_, code)| *code)
    }
}
