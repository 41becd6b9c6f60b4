//! A few bytes of the target's memory, for arguments and results of injected system calls.

use std::io::{IoSlice, IoSliceMut};

use nix::errno::Errno;
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::unistd::Pid;

use crate::inject::InjectError;

/// Size of the slot: enough for the largest argument.
pub(super) const SIZE: usize = 256;
const PAGE: u64 = 4096;

/// Bytes of the target that are overwritten for a while, and their original contents.
///
/// They are in the current page of the stack, which is mapped, writable and already copied. Nothing below the stack
/// pointer may be changed permanently: some programs keep small stacks side by side.
pub(super) struct ScratchSlot {
    pub(super) address: u64,
    content: [u8; SIZE],
}

impl ScratchSlot {
    /// Finds a slot in a process whose threads are all stopped.
    pub(super) fn find(process: Pid, stack_pointer: u64) -> Result<Self, InjectError> {
        let in_stack = Self::at(process, stack_pointer & !(PAGE - 1));
        match in_stack {
            Ok(slot) => Ok(slot),
            // The stack pointer does not point to a stack at the moment.
            Err(error) => writable_area(process).map_or(Err(error), |address| Self::at(process, address)),
        }
    }

    fn at(process: Pid, address: u64) -> Result<Self, InjectError> {
        let mut content = [0; SIZE];
        read(process, address, &mut content)?;
        write(process, address, &content)?;
        Ok(Self { address, content })
    }

    /// Writes arguments into this process, or into a copy of it.
    pub(super) fn fill(&self, process: Pid, bytes: &[u8]) -> Result<(), InjectError> {
        debug_assert!(bytes.len() <= SIZE);
        write(process, self.address, bytes)
    }

    /// Reads a result.
    pub(super) fn take<const N: usize>(&self, process: Pid) -> Result<[u8; N], InjectError> {
        let mut bytes = [0; N];
        read(process, self.address, &mut bytes)?;
        Ok(bytes)
    }

    /// Restores the original contents.
    pub(super) fn clear(&self, process: Pid) -> Result<(), InjectError> {
        write(process, self.address, &self.content)
    }
}

fn read(process: Pid, address: u64, bytes: &mut [u8]) -> Result<(), InjectError> {
    let remote = [RemoteIoVec { base: address as usize, len: bytes.len() }];
    let expected = bytes.len();
    check_complete(
        process,
        address,
        expected,
        process_vm_readv(process, &mut [IoSliceMut::new(bytes)], &remote),
    )
}

fn write(process: Pid, address: u64, bytes: &[u8]) -> Result<(), InjectError> {
    let remote = [RemoteIoVec { base: address as usize, len: bytes.len() }];
    check_complete(process, address, bytes.len(), process_vm_writev(process, &[IoSlice::new(bytes)], &remote))
}

fn check_complete(
    tid: Pid,
    address: u64,
    expected: usize,
    result: Result<usize, Errno>,
) -> Result<(), InjectError> {
    match result {
        Ok(count) if count == expected => Ok(()),
        Ok(_) => Err(InjectError::Memory { tid, address, errno: Errno::EFAULT }),
        Err(Errno::ESRCH) => Err(InjectError::of(tid, Errno::ESRCH)),
        Err(errno) => Err(InjectError::Memory { tid, address, errno }),
    }
}

/// The first private writable mapping of a process.
fn writable_area(process: Pid) -> Option<u64> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, _) = range.split_once('-')?;
        rest.starts_with("rw-p").then(|| u64::from_str_radix(start, 16).ok()).flatten()
    })
}
