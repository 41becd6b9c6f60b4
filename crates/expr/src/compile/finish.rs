//! What can be said about a code as a whole, once all its instructions are there.

use crate::program::{Code, Op, Operand, Quick, Shortcut, Space};
use crate::value::Value;

impl Code {
    /// Looks at the finished instructions for what can be said about them as a whole.
    pub(super) fn finish(&mut self, consts: &[Value]) {
        self.clears = self.ops.iter().any(|op| match op {
            Op::Mutate { .. } => true,
            Op::Check { a, .. } => a.space() == Space::Register,
            _ => false,
        });
        self.shortcut = self.shortcut(consts).unwrap_or_default();
    }

    fn shortcut(&self, consts: &[Value]) -> Option<Shortcut> {
        let quick = |operand: Operand| match operand.space() {
            Space::Env => Some(Quick::Env(operand.index() as u16)),
            Space::Param => Some(Quick::Param(operand.index() as u16)),
            Space::Const => consts[operand.index()].as_int().map(Quick::Int),
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
            Op::ReturnCompare { op, a, b } => Shortcut::Compare { op, a: quick(a)?, b: quick(b)? },
            Op::AddTo { slot, a, b } => Shortcut::Add { slot, a: quick(a)?, b: quick(b)?, prints: prints? },
            Op::SubTo { slot, a, b } => Shortcut::Sub { slot, a: quick(a)?, b: quick(b)?, prints: prints? },
            _ => return None,
        })
    }
}
