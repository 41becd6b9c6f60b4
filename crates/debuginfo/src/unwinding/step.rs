//! One step of unwinding: from the registers in a function to those in its caller.

use super::fallback;
use super::rules::{Cfa, Rule, Rules};
use crate::image::Reader;
use crate::machine::{Memory, RBP, RIP, RSP, Registers};
use crate::program::Program;
use gimli::{Encoding, EvaluationResult, Expression, Register, Value};

/// The callee-saved registers: `rbx`, `rbp`, `r12` to `r15`.
const PRESERVED: [Register; 6] = [Register(3), RBP, Register(12), Register(13), Register(14), Register(15)];

/// Maximum number of operations in an expression; expressions of malformed files may not terminate.
const OPERATIONS: u32 = 10_000;

/// Unwinding state in one function.
pub(super) struct UnwindState {
    pub(super) registers: Registers,
    /// Whether the function has called another one that has not returned.
    pub(super) is_caller: bool,
}

impl UnwindState {
    /// The address by which the current call is looked up.
    pub(super) fn lookup(&self) -> u64 {
        let pc = self.registers.pc();
        if self.is_caller { pc.wrapping_sub(1) } else { pc }
    }
}

/// Computes the canonical frame address of a function, and the state in its caller.
pub(super) fn out(
    program: &Program,
    state: &UnwindState,
    memory: &dyn Memory,
    is_first: bool,
) -> (Option<u64>, Option<UnwindState>) {
    let address = state.lookup();
    let rules =
        program.image_at(address).and_then(|mapped| mapped.image.unwinding().at(mapped.in_file(address)));
    let (cfa, next, is_signal) = match &rules {
        Some(rules) => {
            let cfa = cfa_of(rules, &state.registers, memory);
            let next = cfa.and_then(|cfa| apply(rules, &state.registers, cfa, memory));
            (cfa, next, rules.is_signal)
        }
        None => match fallback::signal_return(&state.registers, memory) {
            Some(interrupted) => (None, Some(interrupted), true),
            None => {
                let (cfa, next) =
                    fallback::without_rules(program, &state.registers, memory, is_first).unzip();
                (cfa, next, false)
            }
        },
    };
    let is_plausible = |next: &Registers| {
        // Returning pops the return address, so the stack pointer grows. Only a signal handler may run on a different
        // stack. The next instruction must at least be readable.
        (is_signal || next.sp() > state.registers.sp())
            && next.pc() != 0
            && memory.read(next.pc(), &mut [0]).is_ok()
    };
    let next = next.filter(is_plausible);
    (cfa, next.map(|registers| UnwindState { registers, is_caller: !is_signal }))
}

fn cfa_of(rules: &Rules, registers: &Registers, memory: &dyn Memory) -> Option<u64> {
    match &rules.cfa {
        Cfa::Register(register, distance) => Some(registers.get(*register)?.wrapping_add_signed(*distance)),
        Cfa::Expression(expression) => evaluate(*expression, rules.encoding, None, registers, memory),
    }
}

fn apply(rules: &Rules, registers: &Registers, cfa: u64, memory: &dyn Memory) -> Option<Registers> {
    let mut next = Registers::unknown(registers.thread_base);
    for register in PRESERVED {
        next.set(register, registers.get(register));
    }
    next.set(RSP, Some(cfa));
    let evaluate =
        |expression: Expression<Reader>| evaluate(expression, rules.encoding, Some(cfa), registers, memory);
    let mut return_address = None;
    for (register, rule) in &rules.registers {
        let value = match rule {
            Rule::Undefined => None,
            Rule::Same => registers.get(*register),
            Rule::Saved(distance) => memory.word(cfa.wrapping_add_signed(*distance)).ok(),
            Rule::Distance(distance) => Some(cfa.wrapping_add_signed(*distance)),
            Rule::Register(other) => registers.get(*other),
            Rule::SavedAt(expression) => evaluate(*expression).and_then(|at| memory.word(at).ok()),
            Rule::Value(expression) => evaluate(*expression),
            Rule::Constant(value) => Some(*value),
        };
        next.set(*register, value);
        if *register == rules.return_address {
            return_address = value;
        }
    }
    // An undefined return address marks the outermost function.
    next.set(RIP, Some(return_address?));
    Some(next)
}

/// Evaluates an expression; `start` is on its stack initially.
fn evaluate(
    expression: Expression<Reader>,
    encoding: Encoding,
    start: Option<u64>,
    registers: &Registers,
    memory: &dyn Memory,
) -> Option<u64> {
    let mut evaluation = expression.evaluation(encoding);
    evaluation.set_max_iterations(OPERATIONS);
    if let Some(start) = start {
        evaluation.set_initial_value(start);
    }
    let mut state = evaluation.evaluate().ok()?;
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                evaluation.resume_with_register(Value::Generic(registers.get(register)?)).ok()?
            }
            EvaluationResult::RequiresMemory { address, size, space: None, .. } => {
                let mut bytes = [0; 8];
                memory.read(address, bytes.get_mut(..usize::from(size))?).ok()?;
                evaluation.resume_with_memory(Value::Generic(u64::from_le_bytes(bytes))).ok()?
            }
            _ => return None,
        };
    }
    evaluation.value_result()?.to_u64(u64::MAX).ok()
}
