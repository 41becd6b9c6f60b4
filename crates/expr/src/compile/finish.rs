//! Analysis of finished code: registers to clear, and the fast path.

use crate::program::{Code, FastBlock, FastOperand, Op, Operand, Space};
use crate::value::Value;

impl Code {
    /// Sets `clears` and `fast_block` from the finished instructions.
    pub(super) fn finish(&mut self, consts: &[Value]) {
        self.clears = self.ops.iter().any(|op| match op {
            Op::Mutate { .. } => true,
            Op::Check { a, .. } => a.space() == Space::Register,
            _ => false,
        });
        self.fast_block = self.fast_block(consts).unwrap_or_default();
    }

    fn fast_block(&self, consts: &[Value]) -> Option<FastBlock> {
        let operand_of = |operand: Operand| match operand.space() {
            Space::Env => Some(FastOperand::Env(operand.index() as u16)),
            Space::Param => Some(FastOperand::Param(operand.index() as u16)),
            Space::Const => consts[operand.index()].as_int().map(FastOperand::Int),
            Space::Register => None,
        };
        let end = self.ops.len() - 1;
        let prints = match &self.ops[..] {
            [_, Op::Return { .. }] => Some(false),
            [_, Op::SkipUnlessPrinting { to }, .., Op::Return { .. }] if usize::from(*to) == end => {
                Some(true)
            }
            _ => None,
        };
        Some(match *self.ops.first()? {
            Op::ReturnCompare { op, a, b } => FastBlock::Compare { op, a: operand_of(a)?, b: operand_of(b)? },
            Op::AddTo { slot, a, b } => {
                FastBlock::Add { slot, a: operand_of(a)?, b: operand_of(b)?, prints: prints? }
            }
            Op::SubTo { slot, a, b } => {
                FastBlock::Sub { slot, a: operand_of(a)?, b: operand_of(b)?, prints: prints? }
            }
            _ => return None,
        })
    }
}
