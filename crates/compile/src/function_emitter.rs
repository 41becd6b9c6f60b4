//! Emission of a generated function.

use crate::ranges::{ModelRanges, Range};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;

/// Flags for memory that is constant while the code runs, at an address that is always valid.
pub(crate) const FIXED: MemFlagsData = MemFlagsData::trusted().with_readonly().with_can_move();
/// Flags for memory at an address that is valid where it is used.
pub(crate) const MEMORY: MemFlagsData = MemFlagsData::trusted();

/// Emits the code of one function.
pub(crate) struct FunctionEmitter<'a, 'f> {
    pub(crate) to: FunctionBuilder<'f>,
    pub(crate) model_ranges: &'a ModelRanges<'a>,
    /// Target of jumps on a fault.
    pub(crate) fault: Block,
    /// Whether a fault is possible.
    pub(crate) can_fault: bool,
    /// Nesting depth of the current expression or statement.
    pub(crate) depth: u32,
    /// Whether the maximum depth was exceeded; the code is then discarded.
    pub(crate) is_too_deep: bool,
}

/// Maximum nesting depth of expressions and statements.
pub(crate) const DEEPEST: u32 = 1000;

/// A jump target with its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Goto<'g> {
    pub(crate) block: Block,
    pub(crate) with: &'g [BlockArg],
}

impl From<Block> for Goto<'_> {
    fn from(block: Block) -> Self {
        Goto { block, with: &[] }
    }
}

/// A value in the code.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub(crate) value: Value,
    pub(crate) range: Range,
    /// Whether the range holds for arbitrary words, not only for those of executions.
    pub(crate) is_certain: bool,
}

impl<'a, 'f> FunctionEmitter<'a, 'f> {
    pub(crate) fn new(to: FunctionBuilder<'f>, model_ranges: &'a ModelRanges<'a>) -> FunctionEmitter<'a, 'f> {
        let mut to = to;
        let fault = to.create_block();
        FunctionEmitter { to, model_ranges, fault, can_fault: false, depth: 0, is_too_deep: false }
    }

    pub(crate) fn constant(&mut self, value: i64) -> Value {
        self.to.ins().iconst(I64, value)
    }

    pub(crate) fn number(&mut self, value: i64) -> Number {
        Number { value: self.constant(value), range: Range::only(value), is_certain: true }
    }

    pub(crate) fn add(&mut self, value: Value, more: i64) -> Value {
        if more == 0 {
            return value;
        }
        let more = self.constant(more);
        self.to.ins().iadd(value, more)
    }

    pub(crate) fn and(&mut self, value: Value, bits: u64) -> Value {
        if bits == u64::MAX {
            return value;
        }
        let bits = self.constant(bits as i64);
        self.to.ins().band(value, bits)
    }

    pub(crate) fn up(&mut self, value: Value, by: u32) -> Value {
        if by == 0 {
            return value;
        }
        let by = self.constant(i64::from(by));
        self.to.ins().ishl(value, by)
    }

    pub(crate) fn down(&mut self, value: Value, by: u32) -> Value {
        if by == 0 {
            return value;
        }
        let by = self.constant(i64::from(by));
        self.to.ins().ushr(value, by)
    }

    pub(crate) fn compare(&mut self, how: IntCC, left: Value, right: i64) -> Value {
        let right = self.constant(right);
        self.to.ins().icmp(how, left, right)
    }

    pub(crate) fn jump(&mut self, goto: Goto<'_>) {
        self.to.ins().jump(goto.block, goto.with);
    }

    pub(crate) fn split(&mut self, condition: Value, yes: Goto<'_>, no: Goto<'_>) {
        self.to.ins().brif(condition, yes.block, yes.with, no.block, no.with);
    }

    /// Continues only if a condition is true; otherwise jumps.
    pub(crate) fn unless(&mut self, condition: Value, otherwise: Goto<'_>) {
        let on = self.to.create_block();
        self.split(condition, on.into(), otherwise);
        self.to.switch_to_block(on);
    }

    /// Raises a fault unless a condition is true.
    pub(crate) fn check(&mut self, condition: Value) {
        self.can_fault = true;
        self.unless(condition, self.fault.into());
    }
}
