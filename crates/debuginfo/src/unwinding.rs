//! Unwinds the stack of a stopped thread into frames.
//!
//! Hand-written because `framehop` restores only three registers, so variables of outer frames would be lost.

mod fallback;
pub(crate) mod rules;
mod step;

use crate::machine::{Memory, Registers};
use crate::program::{ActiveFunction, Line, Program};
use step::UnwindState;

/// One active call.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The registers as far as they are known in this frame.
    pub registers: Registers,
    /// The canonical frame address: the stack pointer before the call. `None` where unwinding ends.
    pub cfa: Option<u64>,
    /// Address of the next instruction in this frame.
    pub pc: u64,
    /// Whether `pc` is a return address. Function, line and variables are then looked up at `pc - 1`, because the next
    /// instruction may belong to another line, block or even function.
    pub is_caller: bool,
    /// Whether the function is inlined into that of the next frame. Both frames have the same registers.
    pub is_inlined: bool,
    /// The function, if it is known.
    pub function: Option<ActiveFunction>,
    /// The current line in this frame.
    pub line: Option<Line>,
}

impl Frame {
    /// The address by which function, line and variables of this frame are looked up.
    pub fn lookup(&self) -> u64 {
        if self.is_caller { self.pc.wrapping_sub(1) } else { self.pc }
    }
}

impl Program {
    /// Unwinds at most `limit` frames, innermost first; inlined functions have frames of their own. A corrupted stack
    /// yields the frames up to the corruption.
    pub fn unwind(&self, registers: &Registers, memory: &dyn Memory, limit: usize) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut current = UnwindState { registers: *registers, is_caller: false };
        let mut is_first = true;
        while frames.len() < limit {
            let (cfa, next) = step::out(self, &current, memory, is_first);
            self.push_frames(&mut frames, &current, cfa);
            let Some(next) = next else { break };
            current = next;
            is_first = false;
        }
        frames.truncate(limit);
        frames
    }

    /// The registers after the innermost function has returned to its caller, as far as they are known.
    pub fn step_out(&self, registers: &Registers, memory: &dyn Memory) -> Option<Registers> {
        let current = UnwindState { registers: *registers, is_caller: false };
        Some(step::out(self, &current, memory, true).1?.registers)
    }

    /// The canonical frame address of the innermost function: the stack pointer before the call.
    pub fn cfa_at(&self, registers: &Registers, memory: &dyn Memory) -> Option<u64> {
        step::out(self, &UnwindState { registers: *registers, is_caller: false }, memory, true).0
    }

    /// Adds the frames of one function and of the functions inlined at its current address.
    fn push_frames(&self, frames: &mut Vec<Frame>, state: &UnwindState, cfa: Option<u64>) {
        let frame = |function: Option<ActiveFunction>, line: Option<Line>| Frame {
            registers: state.registers,
            cfa,
            pc: state.registers.pc(),
            is_caller: state.is_caller,
            is_inlined: function.as_ref().is_some_and(|function| function.is_inlined),
            function,
            line,
        };
        let address = state.lookup();
        let mut line = self.line_of(address);
        let chain = self.inline_chain(address);
        if chain.is_empty() {
            frames.push(frame(None, line));
            return;
        }
        for function in chain {
            let call = function.call.clone();
            frames.push(frame(Some(function), line));
            line = call;
        }
    }
}
