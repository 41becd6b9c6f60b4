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
    pub(crate) builder: FunctionBuilder<'f>,
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
pub(crate) const MAX_DEPTH: u32 = 1000;

/// A jump target with its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Goto<'g> {
    pub(crate) block: Block,
    pub(crate) arguments: &'g [BlockArg],
}

impl From<Block> for Goto<'_> {
    fn from(block: Block) -> Self {
        Goto { block, arguments: &[] }
    }
}

/// A number in the generated code, with the range of its values.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub(crate) value: Value,
    pub(crate) range: Range,
    /// Whether the range holds for arbitrary words, not only for those of reachable configurations.
    pub(crate) is_range_unconditional: bool,
}

impl<'a, 'f> FunctionEmitter<'a, 'f> {
    pub(crate) fn new(
        builder: FunctionBuilder<'f>,
        model_ranges: &'a ModelRanges<'a>,
    ) -> FunctionEmitter<'a, 'f> {
        let mut builder = builder;
        let fault = builder.create_block();
        FunctionEmitter { builder, model_ranges, fault, can_fault: false, depth: 0, is_too_deep: false }
    }

    pub(crate) fn constant(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(I64, value)
    }

    /// A constant as a number.
    pub(crate) fn number(&mut self, value: i64) -> Number {
        Number { value: self.constant(value), range: Range::only(value), is_range_unconditional: true }
    }

    pub(crate) fn add(&mut self, value: Value, addend: i64) -> Value {
        if addend == 0 {
            return value;
        }
        let addend = self.constant(addend);
        self.builder.ins().iadd(value, addend)
    }

    pub(crate) fn and(&mut self, value: Value, bits: u64) -> Value {
        if bits == u64::MAX {
            return value;
        }
        let bits = self.constant(bits as i64);
        self.builder.ins().band(value, bits)
    }

    pub(crate) fn shift_left(&mut self, value: Value, distance: u32) -> Value {
        if distance == 0 {
            return value;
        }
        let distance = self.constant(i64::from(distance));
        self.builder.ins().ishl(value, distance)
    }

    pub(crate) fn shift_right(&mut self, value: Value, distance: u32) -> Value {
        if distance == 0 {
            return value;
        }
        let distance = self.constant(i64::from(distance));
        self.builder.ins().ushr(value, distance)
    }

    pub(crate) fn compare(&mut self, comparison: IntCC, left: Value, right: i64) -> Value {
        let right = self.constant(right);
        self.builder.ins().icmp(comparison, left, right)
    }

    pub(crate) fn jump(&mut self, goto: Goto<'_>) {
        self.builder.ins().jump(goto.block, goto.arguments);
    }

    /// Jumps to one of two targets, depending on a condition.
    pub(crate) fn branch_if(&mut self, condition: Value, yes: Goto<'_>, no: Goto<'_>) {
        self.builder.ins().brif(condition, yes.block, yes.arguments, no.block, no.arguments);
    }

    /// Jumps to `otherwise` unless a condition is true.
    pub(crate) fn jump_unless(&mut self, condition: Value, otherwise: Goto<'_>) {
        let next = self.builder.create_block();
        self.branch_if(condition, next.into(), otherwise);
        self.builder.switch_to_block(next);
    }

    /// Raises a fault unless a condition is true.
    pub(crate) fn check(&mut self, condition: Value) {
        self.can_fault = true;
        self.jump_unless(condition, self.fault.into());
    }
}
