//! System calls that control traced threads.
//!
//! Signals and wait statuses are plain numbers, because programs use real-time signals, which have no names. All
//! functions must be called by the tracing thread.

use std::io;
use std::mem::{MaybeUninit, offset_of};

/// Id of a thread.
pub(crate) type Tid = i32;

/// The general registers.
pub(crate) type Regs = libc::user_regs_struct;

/// The ptrace options of every traced thread.
pub(crate) const OPTIONS: libc::c_int = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESYSGOOD;

/// Kills the target when the debugger dies. Not for attached processes.
pub(crate) const EXITKILL: libc::c_int = libc::PTRACE_O_EXITKILL;

/// Offset of the instruction pointer for `PTRACE_PEEKUSER`.
const RIP: usize = offset_of!(libc::user, regs) + offset_of!(Regs, rip);
const DEBUG: usize = offset_of!(libc::user, u_debugreg);

/// Calls `ptrace` with arguments that are plain numbers, or pointers that the caller guarantees.
///
/// # Safety
/// If the kernel accesses memory of this process for the request, `data` must point to memory fit for it.
unsafe fn ptrace(request: libc::c_uint, tid: Tid, addr: usize, data: usize) -> io::Result<libc::c_long> {
    // SAFETY: by the contract of this function.
    let result = unsafe { libc::ptrace(request, tid, addr, data) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same for requests that access no memory of this process.
fn ptrace_numeric(request: libc::c_uint, tid: Tid, addr: usize, data: usize) -> io::Result<()> {
    // SAFETY: the callers below only make requests with numeric arguments.
    unsafe { ptrace(request, tid, addr, data) }.map(drop)
}

pub(crate) fn seize(tid: Tid, options: libc::c_int) -> io::Result<()> {
    ptrace_numeric(libc::PTRACE_SEIZE, tid, 0, options as usize)
}

pub(crate) fn interrupt(tid: Tid) -> io::Result<()> {
    ptrace_numeric(libc::PTRACE_INTERRUPT, tid, 0, 0)
}

/// Leaves a thread in its job-control stop, and reports when that ends.
pub(crate) fn listen(tid: Tid) -> io::Result<()> {
    ptrace_numeric(libc::PTRACE_LISTEN, tid, 0, 0)
}

pub(crate) fn detach(tid: Tid, signal: i32) -> io::Result<()> {
    ptrace_numeric(libc::PTRACE_DETACH, tid, 0, signal as usize)
}

/// How a thread is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResumeRequest {
    /// Until its next stop.
    Continue,
    /// Until its next stop, or the entry or exit of a system call.
    ToSyscall,
    /// For one instruction.
    SingleStep,
}

pub(crate) fn resume(tid: Tid, kind: ResumeRequest, signal: i32) -> io::Result<()> {
    let request = match kind {
        ResumeRequest::Continue => libc::PTRACE_CONT,
        ResumeRequest::ToSyscall => libc::PTRACE_SYSCALL,
        ResumeRequest::SingleStep => libc::PTRACE_SINGLESTEP,
    };
    ptrace_numeric(request, tid, 0, signal as usize)
}

fn peek_user(tid: Tid, offset: usize) -> io::Result<u64> {
    // The C library returns the value as the result, so -1 is ambiguous.
    // SAFETY: `errno` belongs to this thread, and the call writes no memory of this process.
    let (value, errno) = unsafe {
        *libc::__errno_location() = 0;
        let value = libc::ptrace(libc::PTRACE_PEEKUSER, tid, offset, 0);
        (value, *libc::__errno_location())
    };
    if value == -1 && errno != 0 { Err(io::Error::from_raw_os_error(errno)) } else { Ok(value as u64) }
}

fn poke_user(tid: Tid, offset: usize, value: u64) -> io::Result<()> {
    ptrace_numeric(libc::PTRACE_POKEUSER, tid, offset, value as usize)
}

pub(crate) fn pc(tid: Tid) -> io::Result<u64> {
    peek_user(tid, RIP)
}

pub(crate) fn set_pc(tid: Tid, pc: u64) -> io::Result<()> {
    poke_user(tid, RIP, pc)
}

/// File size limit of a process; `None` if unknown.
pub(crate) fn file_size_limit(process: Tid) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes the limit there, and reads none.
    let done = unsafe { libc::prlimit(process, libc::RLIMIT_FSIZE, std::ptr::null(), &raw mut limit) };
    (done == 0).then_some(limit.rlim_cur)
}

/// A debug register: 0 to 3 hold addresses, 6 is the status, 7 the control.
pub(crate) fn debug_register(tid: Tid, number: usize) -> io::Result<u64> {
    peek_user(tid, DEBUG + 8 * number)
}

pub(crate) fn set_debug_register(tid: Tid, number: usize, value: u64) -> io::Result<()> {
    poke_user(tid, DEBUG + 8 * number, value)
}

pub(crate) fn registers(tid: Tid) -> io::Result<Regs> {
    let mut regs = MaybeUninit::<Regs>::uninit();
    // SAFETY: GETREGS fills the whole structure when it succeeds.
    unsafe {
        ptrace(libc::PTRACE_GETREGS, tid, 0, regs.as_mut_ptr() as usize)?;
        Ok(regs.assume_init())
    }
}

pub(crate) fn set_registers(tid: Tid, regs: &Regs) -> io::Result<()> {
    // SAFETY: SETREGS reads the whole structure.
    unsafe { ptrace(libc::PTRACE_SETREGS, tid, 0, &raw const *regs as usize) }.map(drop)
}

/// The sixteen `xmm` registers, in the `FXSAVE` format.
pub(crate) fn vector_registers(tid: Tid) -> io::Result<[u128; 16]> {
    let mut regs = MaybeUninit::<libc::user_fpregs_struct>::uninit();
    // SAFETY: GETFPREGS fills the whole structure when it succeeds.
    let regs = unsafe {
        ptrace(libc::PTRACE_GETFPREGS, tid, 0, regs.as_mut_ptr() as usize)?;
        regs.assume_init()
    };
    let mut vectors = [0u128; 16];
    for (vector, words) in vectors.iter_mut().zip(regs.xmm_space.chunks_exact(4)) {
        *vector = words.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word));
    }
    Ok(vectors)
}

/// Signal information.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalInfo {
    pub(crate) number: i32,
    /// Origin: see `SI_USER`, `SI_TKILL` and the like.
    pub(crate) code: i32,
    /// The process that sent it, if one did.
    pub(crate) sender: i32,
    /// The address concerned, for faults.
    pub(crate) address: u64,
}

pub(crate) fn signal_info(tid: Tid) -> io::Result<SignalInfo> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: GETSIGINFO fills the structure; its accessors read plain integers, whatever the signal.
    unsafe {
        ptrace(libc::PTRACE_GETSIGINFO, tid, 0, info.as_mut_ptr() as usize)?;
        let info = info.assume_init();
        Ok(SignalInfo {
            number: info.si_signo,
            code: info.si_code,
            sender: info.si_pid(),
            address: info.si_addr() as u64,
        })
    }
}

/// Message of an event stop: the new thread or process, or the former id after `exec`.
pub(crate) fn event_message(tid: Tid) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: GETEVENTMSG writes one `unsigned long`.
    unsafe { ptrace(libc::PTRACE_GETEVENTMSG, tid, 0, &raw mut message as usize)? };
    Ok(message)
}

/// Whether a thread in a system call stop is at the entry.
pub(crate) fn enters_syscall(tid: Tid) -> io::Result<bool> {
    let mut info = MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
    let size = size_of::<libc::ptrace_syscall_info>();
    // SAFETY: GET_SYSCALL_INFO writes `size` bytes at most, into zeroed memory of plain integers.
    let info = unsafe {
        ptrace(libc::PTRACE_GET_SYSCALL_INFO, tid, size, info.as_mut_ptr() as usize)?;
        info.assume_init()
    };
    Ok(info.op == libc::PTRACE_SYSCALL_INFO_ENTRY)
}

/// A wait status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitStatus(pub(crate) i32);

impl WaitStatus {
    pub(crate) fn exit_code(self) -> Option<i32> {
        libc::WIFEXITED(self.0).then(|| libc::WEXITSTATUS(self.0))
    }

    /// The signal that killed it, and whether it dumped core.
    pub(crate) fn kill_signal(self) -> Option<(i32, bool)> {
        libc::WIFSIGNALED(self.0).then(|| (libc::WTERMSIG(self.0), libc::WCOREDUMP(self.0)))
    }

    pub(crate) fn has_exited(self) -> bool {
        !libc::WIFSTOPPED(self.0)
    }

    /// The signal that it stopped with.
    pub(crate) fn signal(self) -> i32 {
        self.0 >> 8 & 0xff
    }

    /// The event that it stopped for; zero for a plain signal.
    pub(crate) fn event(self) -> i32 {
        self.0 >> 16
    }

    pub(crate) fn is_plain_trap(self) -> bool {
        self.signal() == libc::SIGTRAP && self.event() == 0
    }

    pub(crate) fn is_syscall(self) -> bool {
        self.signal() == libc::SIGTRAP | 0x80
    }
}

/// Waits for a traced thread: this one, or any (-1). Without `blocking`, returns `None` if there is no status.
pub(crate) fn wait(tid: Tid, blocking: bool) -> io::Result<Option<(Tid, WaitStatus)>> {
    let flags = libc::__WALL | libc::__WNOTHREAD | if blocking { 0 } else { libc::WNOHANG };
    loop {
        let mut status = 0;
        // SAFETY: writes one integer.
        match unsafe { libc::waitpid(tid, &raw mut status, flags) } {
            0 => return Ok(None),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            tid => return Ok(Some((tid, WaitStatus(status)))),
        }
    }
}

pub(crate) fn kill(process: i32, signal: i32) -> io::Result<()> {
    // SAFETY: only numbers.
    if unsafe { libc::kill(process, signal) } == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Sets the processors on which a thread may run.
pub(crate) fn set_affinity(tid: Tid, set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: reads one set of processors.
    let result = unsafe { libc::sched_setaffinity(tid, size_of::<libc::cpu_set_t>(), set) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(crate) fn affinity(tid: Tid) -> io::Result<libc::cpu_set_t> {
    let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: fills one set of processors, which is an array of integers.
    let result = unsafe { libc::sched_getaffinity(tid, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed at first, and filled by the kernel.
    Ok(unsafe { set.assume_init() })
}

/// The current processor, as a set of one.
pub(crate) fn this_processor() -> libc::cpu_set_t {
    // SAFETY: an empty set is all zeros, and the processor's number fits the set or is ignored.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu().max(0) as usize, &mut set);
        set
    }
}
