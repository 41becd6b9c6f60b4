//! The debugger's handle to the probe library in the target.

use super::image::Image;
use crate::memory::ProcessMemory;
use crate::sites::SiteId;
use crate::sys::Tid;
use invigil_probe::agent::EntryPoints;
use invigil_probe::control::ControlBlock;
use invigil_probe::entry::{SITE_STACK_OFFSET, STACK_IN_USE};
use invigil_probe::pending_calls::SITE_MARKS;
use invigil_probe::safe_read::MAX_FUNCTION_LEN;
use invigil_target::{TargetError, TargetResult};
use std::fs::File;
use std::mem::offset_of;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Size of the library's memory: code, a stack for injected calls, and the heap of the monitors.
pub(crate) const MEMORY: u64 = 64 << 30;
/// Size of the stack for injected calls.
pub(crate) const STACK: u64 = 1 << 20;

const PAGE: u64 = 4096;

/// `int3` and `ret`.
const TRAP: u8 = 0xcc;
const RETURN: u8 = 0xc3;

/// The probe library in the target.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) entry_points: EntryPoints<u64>,
    control: u64,
    code: Range<u64>,
    /// Address range of its memory.
    pub(crate) range: Range<u64>,
    /// End of its stack.
    pub(crate) stack: u64,
    /// The same memory as a file, which outlives the target.
    pub(crate) memory: File,
    /// Why its [fast path](super::fast_path_check) is disabled, if it is.
    pub(crate) slow_path_only: Option<String>,
}

/// The trap of the library that a thread has hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentTrap {
    /// The event was processed, and no reaction is due.
    Exit,
    /// A reaction to the event is due.
    React,
    /// The event was not processed yet.
    Retry,
}

impl Agent {
    pub(crate) fn new(image: &Image, range: Range<u64>, memory: File) -> Agent {
        let stack = range.start + image.bytes.len() as u64 + STACK;
        let (entry_points, control, code) = (image.entry_points, image.control, image.code.clone());
        Agent {
            entry_points,
            control,
            code,
            range,
            stack,
            memory,
            slow_path_only: image.slow_path_only.clone(),
        }
    }

    /// Whether an address is in the library's code.
    pub(crate) fn is_in(&self, pc: u64) -> bool {
        self.code.contains(&pc)
    }

    /// The trap just before an address.
    pub(crate) fn trap_before(&self, pc: u64) -> Option<AgentTrap> {
        match pc.wrapping_sub(1) {
            at if at == self.entry_points.exit_trap => Some(AgentTrap::Exit),
            at if at == self.entry_points.react_trap => Some(AgentTrap::React),
            at if at == self.entry_points.retry_trap => Some(AgentTrap::Retry),
            _ => None,
        }
    }

    /// The address at which a thread continues after its read faulted.
    pub(crate) fn after_bad_read(&self, pc: u64) -> Option<u64> {
        let [reads @ .., failed] = &self.entry_points.safe_reads;
        reads.iter().any(|at| (*at..*at + MAX_FUNCTION_LEN).contains(&pc)).then_some(*failed)
    }

    /// The site of a thread at one of the traps, and its logical stack pointer.
    pub(crate) fn site(&self, memory: &ProcessMemory, stack: u64) -> Option<(SiteId, u64)> {
        let mut number = [0; 4];
        memory.read(stack + SITE_STACK_OFFSET, &mut number).ok()?;
        Some((SiteId(u32::from_le_bytes(number) & !SITE_MARKS), stack + STACK_IN_USE))
    }

    /// Logical stack pointer of a thread that has returned to its trampoline.
    pub(crate) fn stack_after_return(stack: u64) -> u64 {
        stack + STACK_IN_USE - 8
    }

    /// Writes to the library's memory through its file, the only way to change its code.
    fn write(&self, at: u64, bytes: &[u8]) -> TargetResult {
        let written = self.memory.write_all_at(bytes, at - self.range.start);
        written.map_err(|error| {
            TargetError::Control(format!("cannot access the probe library in the program: {error}"))
        })
    }

    fn write_control(&self, offset: usize, bytes: &[u8]) -> TargetResult {
        self.write(self.control + offset as u64, bytes)
    }

    /// Stops or allows steps of the embedded monitors.
    pub(crate) fn freeze(&self, frozen: bool) -> TargetResult {
        self.write_control(offset_of!(ControlBlock, frozen), &u32::from(frozen).to_le_bytes())
    }

    /// Publishes that a thread was created, before it starts.
    pub(crate) fn publish_thread_created(&self, count: u32) -> TargetResult {
        self.set_single_thread(None)?;
        self.write_control(offset_of!(ControlBlock, threads_created), &count.to_le_bytes())
    }

    /// Publishes the id of the target's only thread, if it has one thread only.
    pub(crate) fn set_single_thread(&self, single_thread: Option<Tid>) -> TargetResult {
        self.write_control(
            offset_of!(ControlBlock, single_thread),
            &single_thread.unwrap_or_default().to_le_bytes(),
        )
    }

    /// Publishes the number of other processes that share the memory.
    pub(crate) fn set_foreign_processes(&self, count: u32) -> TargetResult {
        self.write_control(offset_of!(ControlBlock, foreign_processes), &count.to_le_bytes())
    }

    /// Publishes the id of the process.
    pub(crate) fn set_process(&self, process: u32) -> TargetResult {
        self.write_control(offset_of!(ControlBlock, process), &process.to_le_bytes())
    }

    /// Publishes the id of the process, its start time and the range of the heap.
    pub(crate) fn initialize(&self, process: u32, start_time: u64) -> TargetResult {
        self.set_process(process)?;
        self.write_control(offset_of!(ControlBlock, start_time), &start_time.to_le_bytes())?;
        self.write_control(offset_of!(ControlBlock, heap), &self.stack.to_le_bytes())?;
        self.write_control(offset_of!(ControlBlock, heap_end), &self.range.end.to_le_bytes())
    }

    /// Reserves memory at the end of the heap and returns its address. Call this once, before the library is used.
    pub(crate) fn reserve(&self, bytes: u64) -> TargetResult<u64> {
        let at = (self.range.end - bytes) / PAGE * PAGE;
        self.write_control(offset_of!(ControlBlock, heap_end), &at.to_le_bytes())?;
        Ok(at)
    }

    /// Makes threads that leave the library hit a trap, or lets them leave.
    pub(crate) fn trap_exits(&self, enabled: bool) -> TargetResult {
        let byte = if enabled { TRAP } else { RETURN };
        self.write(self.entry_points.exit_trap, &[byte])
    }
}
