//! Frame of a stopped thread as the scope of expressions.

use crate::machine::{Memory, Registers};
use crate::program::Program;
use crate::unwinding::Frame;
use crate::value::info::{DieRef, Entry, Info};
use crate::value::type_index::TypeIndex;
use crate::value::typed_value::Unavailable;
use std::cell::OnceCell;
use std::ops::Range;

/// Scope of expressions: program, memory, and the frames of a stopped thread.
#[derive(Clone)]
pub struct Scope<'a> {
    pub(crate) info: Info<'a>,
    pub(crate) memory: &'a dyn Memory,
    frames: &'a [Frame],
    /// The selected frame; 0 is the innermost.
    pub(crate) level: usize,
    /// Whether only names and types are checked: the values in memory are placeholders.
    pub(crate) is_check: bool,
    /// Range of the prologue of the frame's function, if the frame can be in it. Computed when first needed.
    prologue: OnceCell<Option<Range<u64>>>,
}

impl<'a> Scope<'a> {
    /// The scope of the frame `level` of `frames`.
    pub fn new(
        program: &'a Program,
        types: &'a TypeIndex,
        memory: &'a dyn Memory,
        frames: &'a [Frame],
        level: usize,
    ) -> Self {
        Self {
            info: Info { program, types },
            memory,
            frames,
            level,
            is_check: false,
            prologue: OnceCell::new(),
        }
    }

    /// The scope for checking names and types: evaluation does not fail because of a value.
    pub(crate) fn for_check(self) -> Self {
        Self { is_check: true, ..self }
    }

    /// The scope of the caller. The caller of an inlined function is the function that contains it.
    pub fn caller(&self) -> Option<Scope<'a>> {
        self.at_level(self.level + 1)
    }

    /// The scope of the frame that called the function with the code, skipping inlined ones.
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

    /// The address for lookups: within the call, not after it.
    pub(crate) fn lookup_pc(&self) -> u64 {
        self.frame().map_or(0, Frame::lookup)
    }

    pub(crate) fn cfa(&self) -> Result<u64, Unavailable> {
        self.frame().and_then(|frame| frame.cfa).ok_or(Unavailable::NotUnderstood)
    }

    /// The DWARF entry of the function with the code.
    pub(crate) fn function(&self) -> Option<DieRef> {
        let frame = self.frames.get(self.level..)?.iter().find(|frame| !frame.is_inlined)?;
        self.info.die_ref_of(frame.function.as_ref()?)
    }

    /// The DWARF entry of the innermost function: the function itself or one inlined into it.
    pub(crate) fn block(&self) -> Option<DieRef> {
        self.info.die_ref_of(self.frame()?.function.as_ref()?)
    }

    /// The frame whose registers can be changed: the selected one if it has the registers of the innermost frame, which
    /// inlined functions share with their caller; otherwise the innermost one.
    pub(crate) fn innermost(&self) -> usize {
        let inlined = self.frames.iter().take_while(|frame| frame.is_inlined).count();
        if self.level <= inlined { self.level } else { 0 }
    }

    pub(crate) fn is_main(&self, image: usize) -> bool {
        image == 0
    }

    /// The range of the prologue of the frame's function, if the frame can be in it.
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

    /// Whether the frame is in the prologue of its function, where variables are not in their locations.
    pub(crate) fn is_in_prologue(&self) -> bool {
        self.prologue().is_some_and(|range| range.contains(&self.pc()))
    }

    /// Whether the frame is at the first instruction of its function.
    pub(crate) fn is_at_entry(&self) -> bool {
        self.prologue().is_some_and(|range| range.start == self.pc())
    }

    /// The blocks that contain the frame's address, innermost first; the last one is the function.
    pub(crate) fn blocks(&self) -> Vec<DieRef> {
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

    /// Whether the code of an entry contains a file address.
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
