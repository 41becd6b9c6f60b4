//! Running the commonest blocks without setting the machine up.

use crate::machine::Host;
use crate::program::{Code, Comparison, Quick, Shortcut};
use crate::value::{Tag, Value};

/// Runs a code that has a [`Shortcut`], if all that it touches are integers.
#[inline(always)]
pub(crate) fn shortcut<H: Host>(code: &Code, env: &mut [Value], params: &[Value], host: &H) -> Option<Value> {
    let int = |operand: Quick| match operand {
        Quick::Env(at) => env.get(usize::from(at))?.as_int(),
        Quick::Param(at) => params.get(usize::from(at))?.as_int(),
        Quick::Int(i) => Some(i),
    };
    let (slot, sum) = match code.shortcut {
        Shortcut::None => return None,
        Shortcut::Compare { op, a, b } => {
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
        Shortcut::Add { prints: true, .. } | Shortcut::Sub { prints: true, .. } if host.printing() => {
            return None;
        }
        Shortcut::Add { slot, a, b, .. } => (slot, int(a)?.checked_add(int(b)?)?),
        Shortcut::Sub { slot, a, b, .. } => (slot, int(a)?.checked_sub(int(b)?)?),
    };
    let variable = env.get_mut(usize::from(slot))?;
    // A variable that refers to an object would have to be released.
    if variable.is(Tag::Object) {
        return None;
    }
    *variable = Value::int(sum);
    Some(Value::NONE)
}
