//! What the monitors came to in a program that is no more.
//!
//! The library's memory is the tool's, too. When the program has died, or has become another one, a process of ours takes its
//! place for a moment: it maps the memory where it was, and has the library answer as usual. If the program left garbage
//! there, it is that process that comes to grief.

use super::agent::{Agent, MEMORY};
use invigil_probe::message::{Answer, Past, Request};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork, pipe};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;

/// So many seconds it may take.
const PATIENCE: u32 = 20;
/// More is never told.
const MOST: u64 = 4 << 30;

type Function<R> = unsafe extern "C" fn(u64, u64) -> R;

/// What [`serve`](Agent) gives: where the answer lies, and its length.
#[repr(C)]
struct Reply {
    at: *const u8,
    length: usize,
}

/// Asks what the monitors did, in the place of a program that is no more. `None` if that cannot be known.
pub(super) fn take(agent: &Agent) -> Option<Past> {
    let request = postcard::to_allocvec(&Request::Take).ok()?;
    let (read, write) = pipe().ok()?;
    // SAFETY: the new process only maps memory, runs the library, which needs nothing from outside, and ends.
    match unsafe { fork() }.ok()? {
        ForkResult::Child => {
            drop(read);
            // SAFETY: as above.
            unsafe { answer(agent, &request, write.as_raw_fd()) };
            // SAFETY: ends this process without touching anything of the other's.
            unsafe { libc::_exit(0) }
        }
        ForkResult::Parent { child } => {
            drop(write);
            let mut bytes = Vec::new();
            let told = File::from(read).take(MOST).read_to_end(&mut bytes);
            let _ = waitpid(child, None);
            told.ok()?;
            match postcard::from_bytes(&bytes) {
                Ok(Answer::Taken(past)) => past,
                _ => None,
            }
        }
    }
}

/// Maps the memory, asks the library, and writes down what it says.
///
/// # Safety
/// In a process of its own, which ends then.
unsafe fn answer(agent: &Agent, request: &[u8], into: i32) {
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let start = agent.range.start as *mut libc::c_void;
    // SAFETY: nothing of this process is there, or the call fails.
    let mapped =
        unsafe { libc::mmap(start, MEMORY as usize, protection, flags, agent.memory.as_raw_fd(), 0) };
    if mapped != start {
        return;
    }
    // SAFETY: the library lies there with its functions at these places, made to lie just there; nobody else uses it.
    unsafe {
        libc::alarm(PATIENCE);
        let alone: Function<()> = std::mem::transmute(agent.places.alone as usize);
        let malloc: Function<*mut u8> = std::mem::transmute(agent.places.bound[0] as usize);
        let serve: Function<Reply> = std::mem::transmute(agent.places.serve as usize);
        alone(0, 0);
        let at = malloc(request.len() as u64, 0);
        if at.is_null() {
            return;
        }
        std::ptr::copy_nonoverlapping(request.as_ptr(), at, request.len());
        let Reply { at, length } = serve(at as u64, request.len() as u64);
        let mut done = 0;
        while done < length {
            match libc::write(into, at.add(done).cast(), length - done) {
                written if written > 0 => done += written as usize,
                _ => return,
            }
        }
    }
}
