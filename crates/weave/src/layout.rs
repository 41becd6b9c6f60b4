//! Where every instruction goes, and writing the code there.
//!
//! ```text
//! beginning: [copies, probes at the entry] [islands]
//! for each instruction:  scope: [probes after the one before] target: [probes before it] exact: itself
//! end:       scope, target: [islands]
//! ```
//!
//! Branches, handlers, frames and lines go to `target`: whoever jumps to an instruction runs the probes before
//! it, and not those after the one that happens to stand in front of it. Variables come into scope at `scope`, so that
//! they can be seen from the probe of the write that makes them.
//!
//! A branch has 16 bits for its offset. An unconditional one that would need more is written with 32. A conditional one
//! goes to an *island* instead: a `goto_w` to where it wanted to go. Islands need frames, and that of the target serves.
//! They stand at the beginning for branches forward, and at the end for branches backward: a branch that goes more
//! than 32 kB forward in 64 kB is within 32 kB of the beginning.

use std::borrow::Cow;

use crate::bytes::Write;
use crate::code::Code;
use crate::opcode::*;
use crate::problem::Problem;

/// Why a method was not woven.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The file is damaged.
    Problem(Problem),
    /// The method cannot have these probes.
    Left(Cow<'static, str>),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Problem(problem)
    }
}

impl From<crate::pool::Full> for Stop {
    fn from(_: crate::pool::Full) -> Stop {
        Stop::Left(Cow::Borrowed("the class has no room for more constants"))
    }
}

/// The code of the probes at an instruction.
#[derive(Debug)]
pub(crate) struct Piece {
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

/// The new places of instructions, and of the end.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) scope: Vec<u32>,
    pub(crate) target: Vec<u32>,
    pub(crate) exact: Vec<u32>,
    /// Islands at the beginning: where they are and where they lead to.
    pub(crate) first_islands: Vec<(u32, usize)>,
    /// Islands at the end.
    pub(crate) last_islands: Vec<(u32, usize)>,
    /// The end of it all.
    pub(crate) end: u32,
}

const GOTO_LENGTH: u32 = 3;
const ISLAND_LENGTH: u32 = 5;

/// The most bytes that the code of a method can have.
pub(crate) const LIMIT: u32 = 0xffff;

pub(crate) fn too_long(length: u32) -> Stop {
    Stop::Left(Cow::Owned(format!(
        "its code would grow to {length} bytes, and Java allows {LIMIT}: ask for fewer probes in it, or split it"
    )))
}

impl Layout {
    /// Finds a place for everything.
    pub(crate) fn new(code: &Code<'_>, pieces: &[Piece], prologue: usize) -> Result<Layout, Stop> {
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
            layout.place(code, pieces, prologue, &branches);
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

    fn place(&mut self, code: &Code<'_>, pieces: &[Piece], prologue: usize, branches: &[Branch]) {
        for places in [&mut self.scope, &mut self.target, &mut self.exact] {
            places.clear();
            places.reserve(code.len() + 1);
        }
        let mut pieces = pieces.iter().peekable();
        let mut branches = branches.iter().peekable();
        let mut at = prologue as u32;
        if !self.first_islands.is_empty() {
            at += GOTO_LENGTH;
        }
        for (place, _) in &mut self.first_islands {
            *place = at;
            at += ISLAND_LENGTH;
        }
        self.scope.push(0);
        for instruction in 0..code.len() {
            self.target.push(at);
            let piece = pieces.next_if(|piece| piece.instruction == instruction);
            at += piece.map_or(0, |piece| piece.before.len() as u32);
            self.exact.push(at);
            let mut length = code.instruction(instruction).len() as u32;
            if let Some(branch) = branches.next_if(|branch| branch.instruction == instruction) {
                length = if branch.is_far && !branch.is_conditional { 5 } else { 3 };
            } else if matches!(code.op(instruction), TABLESWITCH | LOOKUPSWITCH) {
                length = length + padding(at as usize) as u32 - padding(code.pc(instruction)) as u32;
            }
            at += length;
            self.scope.push(at);
            at += piece.map_or(0, |piece| piece.after.len() as u32);
        }
        self.target.push(at);
        self.exact.push(at);
        for (place, _) in &mut self.last_islands {
            *place = at;
            at += ISLAND_LENGTH;
        }
        self.end = at;
    }

    /// Writes the code.
    pub(crate) fn write(&self, code: &Code<'_>, pieces: &[Piece], prologue: &[u8]) -> Result<Vec<u8>, Stop> {
        let mut out = Vec::with_capacity(self.end as usize);
        out.extend_from_slice(prologue);
        if !self.first_islands.is_empty() {
            out.put1(GOTO);
            let over = self.target[0] as usize - prologue.len();
            out.put2(u16::try_from(over).ok().filter(|&over| over < 0x8000).ok_or_else(too_far)?);
        }
        self.islands(&self.first_islands, &mut out);
        let mut pieces = pieces.iter().peekable();
        for instruction in 0..code.len() {
            let piece = pieces.next_if(|piece| piece.instruction == instruction);
            if let Some(piece) = piece {
                out.extend_from_slice(&piece.before);
            }
            self.instruction(code, instruction, &mut out)?;
            if let Some(piece) = piece {
                out.extend_from_slice(&piece.after);
            }
        }
        self.islands(&self.last_islands, &mut out);
        Ok(out)
    }

    fn islands(&self, islands: &[(u32, usize)], out: &mut Vec<u8>) {
        for &(place, target) in islands {
            out.put1(GOTO_W);
            out.put4(self.target[target].wrapping_sub(place));
        }
    }

    fn instruction(&self, code: &Code<'_>, instruction: usize, out: &mut Vec<u8>) -> Result<(), Stop> {
        let op = code.op(instruction);
        let here = self.exact[instruction];
        if is_branch(op) {
            let target = code.branch_target(instruction)?;
            let length = self.scope[instruction + 1] - here;
            let mut offset = self.target[target].wrapping_sub(here).cast_signed();
            if length == 5 {
                out.put1(if matches!(op, JSR | JSR_W) { JSR_W } else { GOTO_W });
                out.put4(offset.cast_unsigned());
                return Ok(());
            }
            if i16::try_from(offset).is_err() {
                let islands = if offset > 0 { &self.first_islands } else { &self.last_islands };
                let found = islands.binary_search_by_key(&target, |&(_, target)| target);
                let island = found.map_err(|_| too_far())?;
                offset = islands[island].0.wrapping_sub(here).cast_signed();
            }
            out.put1(op);
            out.put2(i16::try_from(offset).map_err(|_| too_far())?.cast_unsigned());
        } else if matches!(op, TABLESWITCH | LOOKUPSWITCH) {
            let pc = code.pc(instruction);
            let switch = code.switch(instruction);
            let offset =
                |old: i32| Ok::<_, Problem>(self.target[code.from(pc, old.into())?].wrapping_sub(here));
            out.put1(op);
            out.resize(out.len() + padding(here as usize), 0);
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

fn too_far() -> Stop {
    Stop::Left(Cow::Borrowed("one of its branches would go too far: ask for fewer probes in it, or split it"))
}
