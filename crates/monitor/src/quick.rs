//! The commonest transitions, in one go.
//!
//! Most transitions compare two integers and add to one. Where a state has just one transition on an event,
//! and its blocks are no more than that, it is taken here without setting the machine up. Whenever anything
//! is not as expected (a value that is no integer, a sum out of range, someone who listens to what is
//! printed), nothing has been touched yet and the general way is taken instead.

use crate::automaton::{Arc, Branch, Entry, Exit, StateId};
use invigil_expr::program::{CodeId, Comparison, Program, Quick as Operand, Shortcut};
use invigil_expr::value::{Tag, Value};

/// A transition that can be taken in one go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quick {
    guard: Option<(Comparison, Operand, Operand)>,
    success: QuickExit,
    failure: QuickExit,
    /// Whether a block prints: then it matters whether anyone listens.
    pub(crate) prints: bool,
    /// Its position in [`Parts::transitions`](crate::automaton::Parts::transitions).
    pub(crate) number: u32,
}

#[derive(Clone, Copy, Debug)]
enum QuickExit {
    /// There is no such end.
    Absent,
    /// There is one, and it is more than can be done in one go.
    Unusual,
    /// Add (or subtract) two integers and keep the result, if anything; and go to a state.
    Usual(Option<Update>, StateId),
}

#[derive(Clone, Copy, Debug)]
struct Update {
    slot: u16,
    a: Operand,
    b: Operand,
    subtracts: bool,
}

/// What a quick transition came to.
pub(crate) enum Outcome {
    /// It was taken.
    Taken(Branch, StateId),
    /// It does not apply: the event is not handled.
    Unhandled,
    /// Something is out of the ordinary: take the general way.
    Unusual,
}

impl Quick {
    /// The one transition of a state on an event, if it can be taken in one go.
    pub(crate) fn new(from: StateId, arcs: &[Arc], entries: &[Entry], program: &Program) -> Option<Quick> {
        let [arc] = arcs else { return None };
        let mut prints = false;
        let guard = match arc.guard.map(|code| program.code(code).shortcut) {
            None => None,
            Some(Shortcut::Compare { op, a, b }) if !arc.is_update => Some((op, a, b)),
            Some(_) => return None,
        };
        if let Some((Comparison::Is | Comparison::IsNot | Comparison::In | Comparison::NotIn, _, _)) = guard {
            return None;
        }
        let mut exit = |exit: Option<Exit>| QuickExit::new(from, exit, entries, program, &mut prints);
        let (success, failure) = (exit(arc.success), exit(arc.failure));
        Some(Quick { guard, success, failure, prints, number: arc.number })
    }

    /// Takes the transition in a slice with this environment.
    #[inline(always)]
    pub(crate) fn take(&self, env: &mut [Value], params: &[Value]) -> Outcome {
        let holds = match self.guard {
            None => true,
            Some((op, a, b)) => {
                let (Some(a), Some(b)) = (int(a, env, params), int(b, env, params)) else {
                    return Outcome::Unusual;
                };
                match op {
                    Comparison::Lt => a < b,
                    Comparison::Le => a <= b,
                    Comparison::Gt => a > b,
                    Comparison::Ge => a >= b,
                    Comparison::Eq => a == b,
                    _ => a != b,
                }
            }
        };
        let (branch, exit) =
            if holds { (Branch::Success, &self.success) } else { (Branch::Failure, &self.failure) };
        let (update, target) = match exit {
            QuickExit::Usual(update, target) => (update, *target),
            QuickExit::Absent => return Outcome::Unhandled,
            QuickExit::Unusual => return Outcome::Unusual,
        };
        if let Some(update) = update {
            let (Some(a), Some(b)) = (int(update.a, env, params), int(update.b, env, params)) else {
                return Outcome::Unusual;
            };
            let result = if update.subtracts { a.checked_sub(b) } else { a.checked_add(b) };
            match (result, env.get_mut(usize::from(update.slot))) {
                // A variable that holds an object would have to be released.
                (Some(result), Some(variable)) if !variable.is(Tag::Object) => *variable = Value::int(result),
                _ => return Outcome::Unusual,
            }
        }
        Outcome::Taken(branch, target)
    }
}

impl QuickExit {
    fn new(
        from: StateId,
        exit: Option<Exit>,
        entries: &[Entry],
        program: &Program,
        prints: &mut bool,
    ) -> QuickExit {
        let Some(exit) = exit else { return QuickExit::Absent };
        let target = exit.target.unwrap_or(from);
        let entry = entries[usize::from(target)];
        if exit.action.is_some() || entry.action.is_some() || entry.is_final {
            return QuickExit::Unusual;
        }
        let shortcut = |code: CodeId| program.code(code).shortcut;
        let update = match exit.block.map(shortcut) {
            None => None,
            Some(Shortcut::Add { slot, a, b, prints: p }) => {
                *prints |= p;
                Some(Update { slot, a, b, subtracts: false })
            }
            Some(Shortcut::Sub { slot, a, b, prints: p }) => {
                *prints |= p;
                Some(Update { slot, a, b, subtracts: true })
            }
            Some(_) => return QuickExit::Unusual,
        };
        QuickExit::Usual(update, target)
    }
}

#[inline(always)]
fn int(operand: Operand, env: &[Value], params: &[Value]) -> Option<i64> {
    match operand {
        Operand::Env(at) => env.get(usize::from(at))?.as_int(),
        Operand::Param(at) => params.get(usize::from(at))?.as_int(),
        Operand::Int(i) => Some(i),
    }
}
