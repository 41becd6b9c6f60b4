//! Drains the monitors of a dead target.
//!
//! The library's memory is shared with the debugger. When the target has died or executed another program, a forked
//! process takes its place: it maps the memory at its address and calls the library as usual. If the target has
//! corrupted the memory, only that process crashes.

use super::agent::{Agent, MEMORY};
use invigil_monitor::embedded::{EncodedReplayLog, HostReply, HostRequest};
use invigil_probe::message::{Answer, Request};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork, pipe};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;

/// Time limit in seconds.
const TIMEOUT_SECONDS: u32 = 20;
/// Upper bound on the size of an answer.
const MAX_ANSWER: u64 = 4 << 30;

type Function<R> = unsafe extern "C" fn(u64, u64) -> R;

/// Result of the library's `serve`: address and length of the answer.
#[repr(C)]
struct EncodedAnswer {
    at: *const u8,
    length: usize,
}

/// Requests the replay log in the place of a dead target. `None` if it cannot be obtained.
pub(super) fn drain(agent: &Agent) -> Option<EncodedReplayLog> {
    let request = postcard::to_allocvec(&Request::Host(HostRequest::Drain)).ok()?;
    let (read, write) = pipe().ok()?;
    // SAFETY: the new process only maps memory, runs the library, which needs nothing of this process, and exits.
    match unsafe { fork() }.ok()? {
        ForkResult::Child => {
            drop(read);
            // SAFETY: as above.
            unsafe { answer(agent, &request, write.as_raw_fd()) };
            // SAFETY: ends the process without running any cleanup of the parent's.
            unsafe { libc::_exit(0) }
        }
        ForkResult::Parent { child } => {
            drop(write);
            let mut bytes = Vec::new();
            let read_result = File::from(read).take(MAX_ANSWER).read_to_end(&mut bytes);
            let _ = waitpid(child, None);
            read_result.ok()?;
            match postcard::from_bytes(&bytes) {
                Ok(Answer::Host(HostReply::Drained(log))) => log,
                _ => None,
            }
        }
    }
}

/// Maps the memory, calls the library and writes its answer to a descriptor.
///
/// # Safety
/// To be called in a process of its own, which exits afterwards.
unsafe fn answer(agent: &Agent, request: &[u8], into: i32) {
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let start = agent.range.start as *mut libc::c_void;
    // SAFETY: the call fails if this process has a mapping there.
    let mapped =
        unsafe { libc::mmap(start, MEMORY as usize, protection, flags, agent.memory.as_raw_fd(), 0) };
    if mapped != start {
        return;
    }
    // SAFETY: the library is mapped at the address it was relocated for, with these functions, and no other thread
    // uses it.
    unsafe {
        libc::alarm(TIMEOUT_SECONDS);
        let force_unlock: Function<()> = std::mem::transmute(agent.entry_points.force_unlock as usize);
        let malloc: Function<*mut u8> = std::mem::transmute(agent.entry_points.bound[0] as usize);
        let serve: Function<EncodedAnswer> = std::mem::transmute(agent.entry_points.serve as usize);
        force_unlock(0, 0);
        let at = malloc(request.len() as u64, 0);
        if at.is_null() {
            return;
        }
        std::ptr::copy_nonoverlapping(request.as_ptr(), at, request.len());
        let EncodedAnswer { at, length } = serve(at as u64, request.len() as u64);
        let mut done = 0;
        while done < length {
            match libc::write(into, at.add(done).cast(), length - done) {
                written if written > 0 => done += written as usize,
                _ => return,
            }
        }
    }
}
