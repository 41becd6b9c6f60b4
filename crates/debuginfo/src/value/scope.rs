//! What can be seen from a frame of a stopped thread.

use crate::machine::{Memory, Registers};
use crate::program::Program;
use crate::unwinding::Frame;
use crate::value::catalog::Catalog;
use crate::value::datum::Unavailable;
use crate::value::info::{At, Entry, Info};
use std::cell::OnceCell;
use std::ops::Range;

/// What can be seen from a frame: the program, the memory and the frames of a stopped thread.
#[derive(Clone)]
pub struct Scope<'a> {
    pub(crate) info: Info<'a>,
    pub(crate) memory: &'a dyn Memory,
    frames: &'a [Frame],
    /// The frame from which it is seen; 0 is the innermost.
    pub(crate) level: usize,
    /// Where the prologue of the innermost function is, if the frame is in it.
    prologue: OnceCell<Option<Range<u64>>>,
}

impl<'a> Scope<'a> {
    /// What is seen from the frame `level` of `frames`, of which 0 is the innermost.
    pub fn new(
        program: &'a Program,
        catalog: &'a Catalog,
        memory: &'a dyn Memory,
        frames: &'a [Frame],
        level: usize,
    ) -> Self {
        Self { info: Info { program, catalog }, memory, frames, level, prologue: OnceCell::new() }
    }

    /// The same in the frame of the caller. The caller of an inlined function is the one it is inlined into.
    pub fn caller(&self) -> Option<Scope<'a>> {
        self.at_level(self.level + 1)
    }

    /// The same in the frame that called the function with the code.
    pub(crate) fn real_caller(&self) -> Option<Scope<'a>> {
        let inlined = self.frames.iter().skip(self.level).take_while(|frame| frame.is_inlined).count();
        self.at_level(self.level + inlined + 1)
    }

    fn at_level(&self, level: usize) -> Option<Scope<'a>> {
        self.frames.get(level)?;
        Some(Scope { level, prologue: OnceCell::new(), ..self.clone() })
    }

    fn frame(&self) -> Option<&'a Frame> {
        self.frames.get(self.level)
    }

    pub(crate) fn registers(&self, frame: usize) -> Option<&'a Registers> {
        self.frames.get(frame).map(|frame| &frame.registers)
    }

    /// The program counter of the frame.
    pub(crate) fn pc(&self) -> u64 {
        self.frame().map_or(0, |frame| frame.pc)
    }

    /// The program counter by which the frame's place is looked up: within the call, not behind it.
    pub(crate) fn lookup_pc(&self) -> u64 {
        self.frame().map_or(0, Frame::lookup)
    }

    pub(crate) fn cfa(&self) -> Result<u64, Unavailable> {
        self.frame().and_then(|frame| frame.cfa).ok_or(Unavailable::NotUnderstood)
    }

    /// The function with the code.
    pub(crate) fn function(&self) -> Option<At> {
        let frame = self.frames.get(self.level..)?.iter().find(|frame| !frame.is_inlined)?;
        self.info.at_of(frame.function.as_ref()?)
    }

    /// The innermost function here: the same, or one that is inlined into it.
    pub(crate) fn block(&self) -> Option<At> {
        self.info.at_of(self.frame()?.function.as_ref()?)
    }

    /// The frame whose registers are those of the thread: inlined functions share them.
    pub(crate) fn innermost(&self) -> usize {
        let inlined = self.frames.iter().take_while(|frame| frame.is_inlined).count();
        if self.level <= inlined { self.level } else { 0 }
    }

    pub(crate) fn is_main(&self, image: usize) -> bool {
        image == 0
    }

    /// The prologue of the frame's function, if the frame can be in it.
    pub(crate) fn prologue(&self) -> Option<&Range<u64>> {
        let range = self.prologue.get_or_init(|| {
            let frame = self.frame()?;
            if frame.is_caller || frame.is_inlined {
                return None;
            }
            let function = self.info.program.function_at(self.pc())?;
            Some(function.entry?..function.prologue_end?)
        });
        range.as_ref()
    }

    /// Whether the frame is before the end of its function's prologue: variables are not in their places.
    pub(crate) fn is_in_prologue(&self) -> bool {
        self.prologue().is_some_and(|range| range.contains(&self.pc()))
    }

    /// Whether nothing of the function has run.
    pub(crate) fn is_at_entry(&self) -> bool {
        self.prologue().is_some_and(|range| range.start == self.pc())
    }

    /// The blocks around the place where the frame is, the innermost first; the last one is the function.
    pub(crate) fn blocks(&self) -> Vec<At> {
        let Some(mut at) = self.block() else { return Vec::new() };
        let pc = self.lookup_pc().wrapping_sub(self.info.bias(at.image));
        let mut blocks = vec![at];
        while let Some(inner) = self.info.children(at).iter().find(|child| self.is_block_at(child, pc)) {
            at = inner.at;
            blocks.push(at);
        }
        blocks.reverse();
        blocks
    }

    fn is_block_at(&self, entry: &Entry, pc: u64) -> bool {
        let is_block = matches!(
            entry.tag(),
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_try_block | gimli::DW_TAG_catch_block
        );
        is_block && self.covers(entry, pc)
    }

    /// Whether the code of an entry contains an address of the file.
    pub(crate) fn covers(&self, entry: &Entry, pc: u64) -> bool {
        let Some(unit) = self.info.unit(entry.at) else { return false };
        let Ok(mut ranges) = unit.die_ranges(&entry.raw) else { return false };
        while let Ok(Some(range)) = ranges.next() {
            if (range.begin..range.end).contains(&pc) {
                return true;
            }
        }
        false
    }
}
