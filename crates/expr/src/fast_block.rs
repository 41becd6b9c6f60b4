//! Fast path: runs simple blocks without the machine.

use crate::machine::Host;
use crate::program::{Code, Comparison, FastBlock, FastOperand};
use crate::value::{Tag, Value};

/// Runs the [`FastBlock`] of a code, if it has one and all operands are integers.
#[inline(always)]
pub(crate) fn run_fast<H: Host>(code: &Code, env: &mut [Value], params: &[Value], host: &H) -> Option<Value> {
    let int = |operand: FastOperand| match operand {
        FastOperand::Env(at) => env.get(usize::from(at))?.as_int(),
        FastOperand::Param(at) => params.get(usize::from(at))?.as_int(),
        FastOperand::Int(i) => Some(i),
    };
    let (slot, sum) = match code.fast_block {
        FastBlock::None => return None,
        FastBlock::Compare { op, a, b } => {
            let (a, b) = (int(a)?, int(b)?);
            return match op {
                Comparison::Lt => Some(Value::bool(a < b)),
                Comparison::Le => Some(Value::bool(a <= b)),
                Comparison::Gt => Some(Value::bool(a > b)),
                Comparison::Ge => Some(Value::bool(a >= b)),
                Comparison::Eq => Some(Value::bool(a == b)),
                Comparison::Ne => Some(Value::bool(a != b)),
                _ => None,
            };
        }
        FastBlock::Add { prints: true, .. } | FastBlock::Sub { prints: true, .. } if host.wants_output() => {
            return None;
        }
        FastBlock::Add { slot, a, b, .. } => (slot, int(a)?.checked_add(int(b)?)?),
        FastBlock::Sub { slot, a, b, .. } => (slot, int(a)?.checked_sub(int(b)?)?),
    };
    let variable = env.get_mut(usize::from(slot))?;
    // An object would have to be released; leave that to the machine.
    if variable.is(Tag::Object) {
        return None;
    }
    *variable = Value::int(sum);
    Some(Value::NONE)
}
