//! Register code: the compiled form of blocks and functions.
//!
//! Instructions read from four spaces: registers, the environment, the event's parameters and constants. The
//! two upper bits of an [`Operand`] select the space, so that no operand is copied to a register first. Only
//! registers and, by [`Op::Store`], the environment are written.

use crate::diag::Span;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// Location of an operand: space and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Operand(u16);

/// Space of an [`Operand`].
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
    /// Maximum number of values in a space.
    pub const LIMIT: usize = 1 << 14;

    /// The value at `index` of a space; `None` beyond [`Operand::LIMIT`].
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

    /// The index in the space.
    #[inline(always)]
    pub fn index(self) -> usize {
        usize::from(self.0 & 0x3fff)
    }
}

/// A register, relative to the start of the frame.
pub type Reg = u16;
/// Index of an instruction.
pub type JumpTarget = u16;

/// Binary operators without an instruction of their own.
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

/// Comparison operators.
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

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Unary {
    Not,
    Neg,
    Plus,
    Invert,
}

/// Kind of collection that an expression builds: `[…]`, `(…)`, `{…}` or `{k: v}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum CollectionKind {
    List,
    Tuple,
    Set,
    Dict,
}

/// Built-in functions.
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

/// Methods that do not change their object.
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

/// Methods and statements that change the variable they are applied to.
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

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum Op {
    /// `dst = a`
    Move {
        dst: Reg,
        a: Operand,
    },
    /// `env[slot] = a`
    Store {
        slot: u16,
        a: Operand,
    },
    /// Faults if `a` is unset; `name` is its name.
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
        to: JumpTarget,
    },
    /// Backward jump of a loop; spends one unit of the budget.
    Loop {
        to: JumpTarget,
    },
    JumpIf {
        a: Operand,
        to: JumpTarget,
    },
    JumpUnless {
        a: Operand,
        to: JumpTarget,
    },
    Return {
        a: Operand,
    },
    /// `env[slot] = a + b`, the most frequent update.
    AddTo {
        slot: u16,
        a: Operand,
        b: Operand,
    },
    /// `env[slot] = a - b`
    SubTo {
        slot: u16,
        a: Operand,
        b: Operand,
    },
    /// Returns a comparison, the most frequent guard.
    ReturnCompare {
        op: Comparison,
        a: Operand,
        b: Operand,
    },
    /// `dst = [first, …]` from `n` registers.
    Build {
        kind: CollectionKind,
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
    /// Applies a mutation to `variable`. Arguments start at `first`, where the result goes.
    Mutate {
        mutation: Mutation,
        variable: Operand,
        first: Reg,
        n: u16,
    },
    /// Starts a loop over `a`: `iter` holds the object, `iter + 1` the position.
    Iterate {
        iter: Reg,
        a: Operand,
    },
    /// Loads the next element into `item`, or jumps to `end`.
    Next {
        iter: Reg,
        item: Reg,
        end: JumpTarget,
    },
    /// Loads the next number of the range `iter`, `iter + 1` (end), `iter + 2` (step), or jumps to `end`.
    NextInRange {
        iter: Reg,
        item: Reg,
        end: JumpTarget,
    },
    /// `first, … = a`; faults unless `a` has exactly `n` elements.
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
    /// Jumps to `to` if the host needs no output.
    SkipUnlessPrinting {
        to: JumpTarget,
    },
    /// `dst` is `a` as text, formatted by `formats[format]`.
    Show {
        dst: Reg,
        a: Operand,
        format: u16,
    },
    /// `dst` is the concatenation of the `n` strings from `first` on.
    Join {
        dst: Reg,
        first: Reg,
        n: u16,
    },
    /// Calls a function of the host.
    Host {
        function: u8,
        dst: Reg,
        first: Reg,
        n: u16,
    },
    /// Faults if `a` is false; `message` is `None` or the text to add.
    Assert {
        a: Operand,
        message: Operand,
    },
}

/// Fault handler for a range of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Handler {
    /// The guarded instructions.
    pub range: core::ops::Range<JumpTarget>,
    /// The kinds of fault that it handles, as bits.
    pub kinds: u16,
    /// Where execution continues.
    pub target: JumpTarget,
}

/// An operand of a [`FastBlock`]: a location or an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum FastOperand {
    Env(u16),
    Param(u16),
    Int(i64),
}

/// Fast path of a block that compares or adds two integers.
///
/// It runs without the machine. If an operand is not an integer, the code of the block runs instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)]
pub enum FastBlock {
    /// The block has no fast path.
    #[default]
    None,
    /// `return a < b` or another comparison.
    Compare { op: Comparison, a: FastOperand, b: FastOperand },
    /// `slot = a + b`; if `prints`, a `print` follows, which has an effect only if the host needs output.
    Add { slot: u16, a: FastOperand, b: FastOperand, prints: bool },
    /// `slot = a - b`, likewise.
    Sub { slot: u16, a: FastOperand, b: FastOperand, prints: bool },
}

/// A compiled block or function.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Code {
    /// The instructions.
    pub ops: Vec<Op>,
    /// The position of each instruction in the source.
    pub spans: Vec<Span>,
    /// The number of registers.
    pub registers: u16,
    /// The number of arguments, passed in the first registers.
    pub arguments: u16,
    /// Its `try` statements, innermost first.
    pub handlers: Vec<Handler>,
    /// Whether it may read registers that it has not written: they are cleared before it runs.
    pub clears: bool,
    /// Its fast path.
    pub fast_block: FastBlock,
}

/// Index of a [`Code`] in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CodeId(pub u32);

/// The blocks and functions of one property, with their constants.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Program {
    /// Blocks and functions.
    pub codes: Vec<Code>,
    /// The functions that blocks can call, by name.
    pub functions: Vec<(String, CodeId)>,
    /// Constants.
    pub consts: Vec<Value>,
    /// The text of long string constants.
    pub pool: String,
    /// Format specifications.
    pub formats: Vec<crate::show::FormatSpec>,
    /// Names of variables for messages.
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
