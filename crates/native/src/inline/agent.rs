//! The library inside the program, as the tool knows it.

use super::image::Image;
use crate::memory::RawMemory;
use crate::sites::SiteId;
use crate::sys::Tid;
use invigil_probe::agent::Places;
use invigil_probe::calls::MARKS;
use invigil_probe::entry::{LEFT_ON_STACK, SITE_ON_STACK};
use invigil_probe::guarded::LONGEST;
use invigil_probe::words::Words;
use invigil_session::subject::{Done, Trouble};
use std::fs::File;
use std::mem::offset_of;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// The memory of the library: itself, a stack for what the tool calls, and room for what the monitors remember.
pub(crate) const MEMORY: u64 = 64 << 30;
/// The stack for what the tool calls.
pub(crate) const STACK: u64 = 1 << 20;

const PAGE: u64 = 4096;

/// `int3` and `ret`.
const TRAP: u8 = 0xcc;
const RETURN: u8 = 0xc3;

/// The library inside the program.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) places: Places<u64>,
    words: u64,
    code: Range<u64>,
    /// All of its memory.
    pub(crate) range: Range<u64>,
    /// The end of its stack.
    pub(crate) stack: u64,
    /// The same memory, which is still there when the program is not.
    pub(crate) memory: File,
}

/// The trap of the library that a thread stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trap {
    /// The event was dealt with, and nobody is to react.
    Leaving,
    /// Someone is to react to the event.
    Stopped,
    /// The event is yet to happen.
    Refused,
}

impl Agent {
    pub(crate) fn new(image: &Image, range: Range<u64>, memory: File) -> Agent {
        let stack = range.start + image.bytes.len() as u64 + STACK;
        Agent { places: image.places, words: image.words, code: image.code.clone(), range, stack, memory }
    }

    /// Whether a thread with this instruction pointer is in the library.
    pub(crate) fn is_in(&self, pc: u64) -> bool {
        self.code.contains(&pc)
    }

    /// The trap that lies just before an address.
    pub(crate) fn trap_before(&self, pc: u64) -> Option<Trap> {
        match pc.wrapping_sub(1) {
            at if at == self.places.leaving => Some(Trap::Leaving),
            at if at == self.places.stopped => Some(Trap::Stopped),
            at if at == self.places.refused => Some(Trap::Refused),
            _ => None,
        }
    }

    /// Where a thread goes on that could not read what it wanted.
    pub(crate) fn after_bad_read(&self, pc: u64) -> Option<u64> {
        let [reads @ .., failed] = &self.places.guarded;
        reads.iter().any(|at| (*at..*at + LONGEST).contains(&pc)).then_some(*failed)
    }

    /// The site whose number lies on the stack of a thread at one of the traps, and the stack as the program knows it.
    pub(crate) fn site(&self, memory: &RawMemory, stack: u64) -> Option<(SiteId, u64)> {
        let mut number = [0; 4];
        memory.read(stack + SITE_ON_STACK, &mut number).ok()?;
        Some((SiteId(u32::from_le_bytes(number) & !MARKS), stack + LEFT_ON_STACK))
    }

    /// The stack of a thread that has come back to its trampoline, as the program knows it.
    pub(crate) fn stack_behind(stack: u64) -> u64 {
        stack + LEFT_ON_STACK - 8
    }

    /// Writes into the library's memory, by way of the file that it is: its code can be changed by no other.
    fn put(&self, at: u64, bytes: &[u8]) -> Done {
        let written = self.memory.write_all_at(bytes, at - self.range.start);
        written.map_err(|error| {
            Trouble::Subject(format!("the probes in the program cannot be reached: {error}"))
        })
    }

    fn put_word(&self, offset: usize, bytes: &[u8]) -> Done {
        self.put(self.words + offset as u64, bytes)
    }

    /// Has nobody step any more, or lets them.
    pub(crate) fn freeze(&self, frozen: bool) -> Done {
        self.put_word(offset_of!(Words, frozen), &u32::from(frozen).to_le_bytes())
    }

    /// Tells that there are new threads: before they begin.
    pub(crate) fn tell_born(&self, count: u32) -> Done {
        self.tell_alone(None)?;
        self.put_word(offset_of!(Words, born), &count.to_le_bytes())
    }

    /// Tells the thread of a program that has no other.
    pub(crate) fn tell_alone(&self, alone: Option<Tid>) -> Done {
        self.put_word(offset_of!(Words, alone), &alone.unwrap_or_default().to_le_bytes())
    }

    /// Tells how many processes share the memory and are not the program.
    pub(crate) fn tell_foreign(&self, count: u32) -> Done {
        self.put_word(offset_of!(Words, foreign), &count.to_le_bytes())
    }

    /// Tells which process it is in.
    pub(crate) fn tell_process(&self, process: u32) -> Done {
        self.put_word(offset_of!(Words, process), &process.to_le_bytes())
    }

    /// Tells which process it is in, and where there is memory.
    pub(crate) fn settle(&self, process: u32) -> Done {
        self.tell_process(process)?;
        self.put_word(offset_of!(Words, heap), &self.stack.to_le_bytes())?;
        self.put_word(offset_of!(Words, heap_end), &self.range.end.to_le_bytes())
    }

    /// Sets memory aside at the end of all, and says where; once, before the library is used.
    pub(crate) fn set_aside(&self, bytes: u64) -> Done<u64> {
        let at = (self.range.end - bytes) / PAGE * PAGE;
        self.put_word(offset_of!(Words, heap_end), &at.to_le_bytes())?;
        Ok(at)
    }

    /// Has threads that leave run into a trap, or lets them leave.
    pub(crate) fn close(&self, closed: bool) -> Done {
        let byte = if closed { TRAP } else { RETURN };
        self.put(self.places.leaving, &[byte])
    }
}
