//! Fast path of transitions that compare two integers and add to one.
//!
//! If a state has a single transition on an event and its blocks do no more than that, the transition is taken
//! here without the machine. Otherwise, or if an operand is not an integer, a sum overflows or printed text is
//! used, nothing has been changed and the general path runs.
//!
//! The next event is unpredictable for the processor, so all such transitions run the same instructions:
//! comparisons and sums are normalized when the property is loaded, and operands are loaded by index without a
//! branch on their kind.

use crate::automaton::{Branch, CompiledEffect, CompiledTransition, StateId, StateInfo};
use invigil_expr::program::{CodeId, Comparison, FastBlock, FastOperand as Operand, Program};
use invigil_expr::value::{Tag, Value};

/// A transition with a fast path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastTransition {
    pub(crate) guard: FastGuard,
    pub(crate) success: FastEffect,
    pub(crate) failure: FastEffect,
    /// Whether a block prints, which matters only if the observer wants output.
    pub(crate) prints: bool,
    /// Its index in [`AutomatonDef::transitions`](crate::automaton::AutomatonDef::transitions).
    pub(crate) number: u32,
    /// The constant operands.
    constants: [Value; CONSTANTS],
}

/// Two operands of the guard and two per branch.
const CONSTANTS: usize = 6;

/// Reference to an operand: array and index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperandRef {
    array: u8,
    at: u16,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum FastGuard {
    Always,
    /// `a < b`, negated if `is_negated`; covers all four orders.
    Less {
        a: OperandRef,
        b: OperandRef,
        is_negated: bool,
    },
    /// `a == b`, negated if `is_negated`.
    Equal {
        a: OperandRef,
        b: OperandRef,
        is_negated: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum FastEffect {
    /// There is no such branch.
    Absent,
    /// The branch needs the general path.
    Unusual,
    /// Adds two integers, if any, stores the sum, and enters a state.
    Usual(Option<Sum>, StateId),
}

/// `slot = a + b`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub(crate) slot: u16,
    pub(crate) a: OperandRef,
    pub(crate) b: OperandRef,
}

/// Outcome of a fast transition.
pub(crate) enum FastOutcome {
    /// It was taken.
    Taken(Branch, StateId),
    /// It does not apply: the event is unhandled.
    Unhandled,
    /// The general path must run.
    Unusual,
}

/// Assigns operand references.
struct OperandTable {
    constants: [Value; CONSTANTS],
    used: usize,
}

impl OperandTable {
    fn of(&mut self, operand: Operand) -> OperandRef {
        match operand {
            Operand::Env(at) => OperandRef { array: 0, at },
            Operand::Param(at) => OperandRef { array: 1, at },
            Operand::Int(constant) => {
                self.constants[self.used] = Value::int(constant);
                self.used += 1;
                OperandRef { array: 2, at: self.used as u16 - 1 }
            }
        }
    }

    fn guard(&mut self, op: Comparison, a: Operand, b: Operand) -> Option<FastGuard> {
        let (a, b) = (self.of(a), self.of(b));
        Some(match op {
            Comparison::Lt => FastGuard::Less { a, b, is_negated: false },
            Comparison::Ge => FastGuard::Less { a, b, is_negated: true },
            Comparison::Gt => FastGuard::Less { a: b, b: a, is_negated: false },
            Comparison::Le => FastGuard::Less { a: b, b: a, is_negated: true },
            Comparison::Eq => FastGuard::Equal { a, b, is_negated: false },
            Comparison::Ne => FastGuard::Equal { a, b, is_negated: true },
            Comparison::Is | Comparison::IsNot | Comparison::In | Comparison::NotIn => return None,
        })
    }
}

impl FastTransition {
    /// The fast path of the only transition of a state on an event, if it has one.
    pub(crate) fn new(
        from: StateId,
        compiled: &[CompiledTransition],
        state_info: &[StateInfo],
        program: &Program,
    ) -> Option<FastTransition> {
        let [transition] = compiled else { return None };
        let mut operands = OperandTable { constants: [Value::UNSET; CONSTANTS], used: 0 };
        let guard = match transition.guard.map(|code| program.code(code).fast_block) {
            None => FastGuard::Always,
            Some(FastBlock::Compare { op, a, b }) if !transition.is_update => operands.guard(op, a, b)?,
            Some(_) => return None,
        };
        let mut prints = false;
        let mut effect =
            |effect| FastEffect::new(from, effect, state_info, program, &mut operands, &mut prints);
        let (success, failure) = (effect(transition.success), effect(transition.failure));
        Some(FastTransition {
            guard,
            success,
            failure,
            prints,
            number: transition.number,
            constants: operands.constants,
        })
    }

    /// The operand of a reference.
    pub(crate) fn operand(&self, operand: OperandRef) -> Option<Operand> {
        match operand.array {
            0 => Some(Operand::Env(operand.at)),
            1 => Some(Operand::Param(operand.at)),
            _ => self.constants.get(usize::from(operand.at))?.as_int().map(Operand::Int),
        }
    }

    /// The constant operands.
    pub(crate) fn constants(&self) -> impl Iterator<Item = i64> {
        self.constants.iter().filter_map(|value| value.as_int())
    }

    /// Tries the transition on a slice with this environment.
    #[inline(always)]
    pub(crate) fn take(&self, env: &mut [Value], params: &[Value]) -> FastOutcome {
        let arrays = [&*env, params, &self.constants, &[]];
        let read = |operand: OperandRef| {
            arrays[usize::from(operand.array & 3)]
                .get(usize::from(operand.at))
                .and_then(|value| value.as_int())
        };
        let holds = match self.guard {
            FastGuard::Always => true,
            FastGuard::Less { a, b, is_negated } => match (read(a), read(b)) {
                (Some(a), Some(b)) => (a < b) != is_negated,
                _ => return FastOutcome::Unusual,
            },
            FastGuard::Equal { a, b, is_negated } => match (read(a), read(b)) {
                (Some(a), Some(b)) => (a == b) != is_negated,
                _ => return FastOutcome::Unusual,
            },
        };
        let (branch, effect) =
            if holds { (Branch::Success, &self.success) } else { (Branch::Failure, &self.failure) };
        let (sum, target) = match effect {
            FastEffect::Usual(sum, target) => (sum, *target),
            FastEffect::Absent => return FastOutcome::Unhandled,
            FastEffect::Unusual => return FastOutcome::Unusual,
        };
        if let Some(Sum { slot, a, b }) = *sum {
            let (Some(a), Some(b)) = (read(a), read(b)) else { return FastOutcome::Unusual };
            match (a.checked_add(b), env.get_mut(usize::from(slot))) {
                // An object would have to be released; leave that to the general path.
                (Some(sum), Some(variable)) if !variable.is(Tag::Object) => *variable = Value::int(sum),
                _ => return FastOutcome::Unusual,
            }
        }
        FastOutcome::Taken(branch, target)
    }
}

impl FastEffect {
    fn new(
        from: StateId,
        effect: Option<CompiledEffect>,
        state_info: &[StateInfo],
        program: &Program,
        operands: &mut OperandTable,
        prints: &mut bool,
    ) -> FastEffect {
        let Some(effect) = effect else { return FastEffect::Absent };
        let target = effect.target.unwrap_or(from);
        let entry = state_info[usize::from(target)];
        if effect.action.is_some() || entry.action.is_some() || entry.is_final {
            return FastEffect::Unusual;
        }
        let fast_block = |code: CodeId| program.code(code).fast_block;
        let (slot, a, b, prints_too) = match effect.block.map(fast_block) {
            None => return FastEffect::Usual(None, target),
            Some(FastBlock::Add { slot, a, b, prints }) => (slot, a, b, prints),
            // Subtract a constant by adding its negation.
            Some(FastBlock::Sub { slot, a, b: Operand::Int(b), prints }) => match b.checked_neg() {
                Some(b) => (slot, a, Operand::Int(b), prints),
                None => return FastEffect::Unusual,
            },
            Some(_) => return FastEffect::Unusual,
        };
        *prints |= prints_too;
        FastEffect::Usual(Some(Sum { slot, a: operands.of(a), b: operands.of(b) }), target)
    }
}
