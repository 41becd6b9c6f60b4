//! Layout and emission of the new code.
//!
//! ```text
//! entry: [copies, probes at the entry] [islands]
//! for each instruction:  scope: [probes after the previous one] target: [probes before it] exact: itself
//! end:   scope, target: [islands]
//! ```
//!
//! Branches, handlers, frames and lines refer to `target`: a jump to an instruction runs the probes before it, but not
//! those after the instruction that precedes it in the code. Variables come into scope at `scope`, so that the probe of
//! the write that initialises them can read them.
//!
//! A branch has a 16-bit offset. An unconditional one that needs more is emitted with 32 bits. A conditional one
//! branches to an *island* instead, a `goto_w` to its target. An island has the frame of its target. Islands of forward
//! branches are at the entry and those of backward branches at the end: if a branch spans more than 32 kB forward in 64
//! kB of code, its source is within 32 kB of the entry.

use std::borrow::Cow;

use crate::bytes::Write;
use crate::code::Code;
use crate::error::ClassFileError;
use crate::opcode::*;

/// The reason why a method was not woven.
#[derive(Debug)]
pub(crate) enum WeaveError {
    /// The class file is malformed.
    Malformed(ClassFileError),
    /// The method cannot have these probes.
    Skipped(Cow<'static, str>),
}

impl From<ClassFileError> for WeaveError {
    fn from(error: ClassFileError) -> WeaveError {
        WeaveError::Malformed(error)
    }
}

impl From<crate::pool::PoolFullError> for WeaveError {
    fn from(_: crate::pool::PoolFullError) -> WeaveError {
        WeaveError::Skipped(Cow::Borrowed("the constant pool of the class is full"))
    }
}

/// Probe code around an instruction.
#[derive(Debug)]
pub(crate) struct ProbeCode {
    pub(crate) instruction: usize,
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
}

struct Branch {
    instruction: usize,
    target: usize,
    is_conditional: bool,
    is_far: bool,
}

/// New offsets of the instructions and of the end.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) scope: Vec<u32>,
    pub(crate) target: Vec<u32>,
    pub(crate) exact: Vec<u32>,
    /// Islands at the entry: their offsets and targets.
    pub(crate) first_islands: Vec<(u32, usize)>,
    /// Islands at the end.
    pub(crate) last_islands: Vec<(u32, usize)>,
    /// The end of the code.
    pub(crate) end: u32,
}

const GOTO_LENGTH: u32 = 3;
const ISLAND_LENGTH: u32 = 5;

/// Maximum length of the code of a method.
pub(crate) const LIMIT: u32 = 0xffff;

pub(crate) fn too_long(length: u32) -> WeaveError {
    WeaveError::Skipped(Cow::Owned(format!(
        "its code would grow to {length} bytes, and Java allows {LIMIT}; instrument fewer sites in it or split it"
    )))
}

impl Layout {
    /// Computes the layout.
    pub(crate) fn new(
        code: &Code<'_>,
        probe_codes: &[ProbeCode],
        prologue: usize,
    ) -> Result<Layout, WeaveError> {
        let mut branches = Vec::new();
        for instruction in 0..code.len() {
            let op = code.op(instruction);
            if is_branch(op) {
                branches.push(Branch {
                    instruction,
                    target: code.branch_target(instruction)?,
                    is_conditional: is_conditional(op),
                    is_far: matches!(op, GOTO_W | JSR_W),
                });
            }
        }
        let mut layout = Layout::default();
        let (mut first, mut last) = (Vec::new(), Vec::new());
        loop {
            layout.first_islands = first.iter().map(|&target| (0, target)).collect();
            layout.last_islands = last.iter().map(|&target| (0, target)).collect();
            layout.place(code, probe_codes, prologue, &branches);
            if layout.end > LIMIT {
                return Err(too_long(layout.end));
            }
            let mut grew = false;
            for branch in branches.iter_mut().filter(|branch| !branch.is_far) {
                let offset =
                    i64::from(layout.target[branch.target]) - i64::from(layout.exact[branch.instruction]);
                if i16::try_from(offset).is_err() {
                    branch.is_far = true;
                    grew = true;
                    if branch.is_conditional {
                        if offset > 0 { &mut first } else { &mut last }.push(branch.target);
                    }
                }
            }
            if !grew {
                return Ok(layout);
            }
            for islands in [&mut first, &mut last] {
                islands.sort_unstable();
                islands.dedup();
            }
        }
    }

    fn place(&mut self, code: &Code<'_>, probe_codes: &[ProbeCode], prologue: usize, branches: &[Branch]) {
        for offsets in [&mut self.scope, &mut self.target, &mut self.exact] {
            offsets.clear();
            offsets.reserve(code.len() + 1);
        }
        let mut probe_codes = probe_codes.iter().peekable();
        let mut branches = branches.iter().peekable();
        let mut at = prologue as u32;
        if !self.first_islands.is_empty() {
            at += GOTO_LENGTH;
        }
        for (offset, _) in &mut self.first_islands {
            *offset = at;
            at += ISLAND_LENGTH;
        }
        self.scope.push(0);
        for instruction in 0..code.len() {
            self.target.push(at);
            let probe_code = probe_codes.next_if(|probe_code| probe_code.instruction == instruction);
            at += probe_code.map_or(0, |probe_code| probe_code.before.len() as u32);
            self.exact.push(at);
            let mut length = code.instruction(instruction).len() as u32;
            if let Some(branch) = branches.next_if(|branch| branch.instruction == instruction) {
                length = if branch.is_far && !branch.is_conditional { 5 } else { 3 };
            } else if matches!(code.op(instruction), TABLESWITCH | LOOKUPSWITCH) {
                length = length + padding(at as usize) as u32 - padding(code.pc(instruction)) as u32;
            }
            at += length;
            self.scope.push(at);
            at += probe_code.map_or(0, |probe_code| probe_code.after.len() as u32);
        }
        self.target.push(at);
        self.exact.push(at);
        for (offset, _) in &mut self.last_islands {
            *offset = at;
            at += ISLAND_LENGTH;
        }
        self.end = at;
    }

    /// Emits the code.
    pub(crate) fn write(
        &self,
        code: &Code<'_>,
        probe_codes: &[ProbeCode],
        prologue: &[u8],
    ) -> Result<Vec<u8>, WeaveError> {
        let mut out = Vec::with_capacity(self.end as usize);
        out.extend_from_slice(prologue);
        if !self.first_islands.is_empty() {
            out.put1(GOTO);
            let distance = self.target[0] as usize - prologue.len();
            out.put2(u16::try_from(distance).ok().filter(|&distance| distance < 0x8000).ok_or_else(too_far)?);
        }
        self.islands(&self.first_islands, &mut out);
        let mut probe_codes = probe_codes.iter().peekable();
        for instruction in 0..code.len() {
            let probe_code = probe_codes.next_if(|probe_code| probe_code.instruction == instruction);
            if let Some(probe_code) = probe_code {
                out.extend_from_slice(&probe_code.before);
            }
            self.instruction(code, instruction, &mut out)?;
            if let Some(probe_code) = probe_code {
                out.extend_from_slice(&probe_code.after);
            }
        }
        self.islands(&self.last_islands, &mut out);
        Ok(out)
    }

    fn islands(&self, islands: &[(u32, usize)], out: &mut Vec<u8>) {
        for &(offset, target) in islands {
            out.put1(GOTO_W);
            out.put4(self.target[target].wrapping_sub(offset));
        }
    }

    fn instruction(&self, code: &Code<'_>, instruction: usize, out: &mut Vec<u8>) -> Result<(), WeaveError> {
        let op = code.op(instruction);
        let new_pc = self.exact[instruction];
        if is_branch(op) {
            let target = code.branch_target(instruction)?;
            let length = self.scope[instruction + 1] - new_pc;
            let mut offset = self.target[target].wrapping_sub(new_pc).cast_signed();
            if length == 5 {
                out.put1(if matches!(op, JSR | JSR_W) { JSR_W } else { GOTO_W });
                out.put4(offset.cast_unsigned());
                return Ok(());
            }
            if i16::try_from(offset).is_err() {
                let islands = if offset > 0 { &self.first_islands } else { &self.last_islands };
                let found = islands.binary_search_by_key(&target, |&(_, target)| target);
                let island = found.map_err(|_| too_far())?;
                offset = islands[island].0.wrapping_sub(new_pc).cast_signed();
            }
            out.put1(op);
            out.put2(i16::try_from(offset).map_err(|_| too_far())?.cast_unsigned());
        } else if matches!(op, TABLESWITCH | LOOKUPSWITCH) {
            let pc = code.pc(instruction);
            let switch = code.switch(instruction);
            let offset = |old: i32| {
                Ok::<_, ClassFileError>(
                    self.target[code.relative_target(pc, old.into())?].wrapping_sub(new_pc),
                )
            };
            out.put1(op);
            out.resize(out.len() + padding(new_pc as usize), 0);
            out.put4(offset(switch.default)?);
            out.extend_from_slice(switch.head);
            for (key, old) in switch.entries() {
                out.extend_from_slice(key);
                out.put4(offset(old)?);
            }
        } else {
            out.extend_from_slice(code.instruction(instruction));
        }
        Ok(())
    }
}

fn too_far() -> WeaveError {
    WeaveError::Skipped(Cow::Borrowed(
        "a branch would exceed its range; instrument fewer sites in it or split it",
    ))
}
