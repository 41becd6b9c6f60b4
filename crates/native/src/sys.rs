//! The system calls that control a traced thread.
//!
//! Signals and wait statuses stay plain numbers here: programs use real-time signals, for which there are no
//! names. All of these must be called by the thread that traces.

use std::io;
use std::mem::{MaybeUninit, offset_of};

/// A thread, by the number the system gives it.
pub(crate) type Tid = i32;

/// The general registers.
pub(crate) type Regs = libc::user_regs_struct;

/// What every traced thread is traced with.
pub(crate) const OPTIONS: libc::c_int = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESYSGOOD;

/// Kills the subject when the tool dies: no orphans. Not for processes that we attached to.
pub(crate) const EXITKILL: libc::c_int = libc::PTRACE_O_EXITKILL;

/// Where the instruction pointer is in the area that `PTRACE_PEEKUSER` reads.
const RIP: usize = offset_of!(libc::user, regs) + offset_of!(Regs, rip);
const DEBUG: usize = offset_of!(libc::user, u_debugreg);

/// Calls `ptrace` for a request whose arguments are plain numbers, or pointers that the caller vouches for.
///
/// # Safety
/// If the request makes the kernel read or write our memory, `data` must point to memory fit for it.
unsafe fn ptrace(request: libc::c_uint, tid: Tid, addr: usize, data: usize) -> io::Result<libc::c_long> {
    // SAFETY: as the caller says.
    let result = unsafe { libc::ptrace(request, tid, addr, data) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same for requests that touch none of our memory.
fn plain(request: libc::c_uint, tid: Tid, addr: usize, data: usize) -> io::Result<()> {
    // SAFETY: the callers below only make requests whose arguments are numbers.
    unsafe { ptrace(request, tid, addr, data) }.map(drop)
}

pub(crate) fn seize(tid: Tid, options: libc::c_int) -> io::Result<()> {
    plain(libc::PTRACE_SEIZE, tid, 0, options as usize)
}

pub(crate) fn interrupt(tid: Tid) -> io::Result<()> {
    plain(libc::PTRACE_INTERRUPT, tid, 0, 0)
}

/// Leaves a thread stopped as job control wants it, and be told when that ends.
pub(crate) fn listen(tid: Tid) -> io::Result<()> {
    plain(libc::PTRACE_LISTEN, tid, 0, 0)
}

pub(crate) fn detach(tid: Tid, signal: i32) -> io::Result<()> {
    plain(libc::PTRACE_DETACH, tid, 0, signal as usize)
}

/// How a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    /// Until something happens.
    On,
    /// Until something happens, or it enters or leaves a system call.
    ToSyscall,
    /// For one instruction.
    Step,
}

pub(crate) fn go(tid: Tid, how: Go, signal: i32) -> io::Result<()> {
    let request = match how {
        Go::On => libc::PTRACE_CONT,
        Go::ToSyscall => libc::PTRACE_SYSCALL,
        Go::Step => libc::PTRACE_SINGLESTEP,
    };
    plain(request, tid, 0, signal as usize)
}

fn peek_user(tid: Tid, offset: usize) -> io::Result<u64> {
    // The C library's function gives the value as its result, so -1 says nothing.
    // SAFETY: clears and reads this thread's errno; PEEKUSER touches none of our memory.
    let (value, errno) = unsafe {
        *libc::__errno_location() = 0;
        let value = libc::ptrace(libc::PTRACE_PEEKUSER, tid, offset, 0);
        (value, *libc::__errno_location())
    };
    if value == -1 && errno != 0 { Err(io::Error::from_raw_os_error(errno)) } else { Ok(value as u64) }
}

fn poke_user(tid: Tid, offset: usize, value: u64) -> io::Result<()> {
    plain(libc::PTRACE_POKEUSER, tid, offset, value as usize)
}

pub(crate) fn pc(tid: Tid) -> io::Result<u64> {
    peek_user(tid, RIP)
}

pub(crate) fn set_pc(tid: Tid, pc: u64) -> io::Result<()> {
    poke_user(tid, RIP, pc)
}

/// How large files a process may make; none if that cannot be known.
pub(crate) fn file_size_limit(process: Tid) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes the limit there, and reads none.
    let done = unsafe { libc::prlimit(process, libc::RLIMIT_FSIZE, std::ptr::null(), &raw mut limit) };
    (done == 0).then_some(limit.rlim_cur)
}

/// A debug register: 0 to 3 hold addresses, 6 says what happened, 7 what is watched.
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

/// The first eight bytes each of what the sixteen vector registers hold, in the old format.
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

/// What a signal is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalInfo {
    pub(crate) number: i32,
    /// Who made it: see `SI_USER`, `SI_TKILL` and the like.
    pub(crate) code: i32,
    /// The process that sent it, if one did.
    pub(crate) sender: i32,
    /// The address that it is about, for faults.
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

/// The number that comes with an event stop: the new thread or process, or the old number after `exec`.
pub(crate) fn event_message(tid: Tid) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: GETEVENTMSG writes one `unsigned long`.
    unsafe { ptrace(libc::PTRACE_GETEVENTMSG, tid, 0, &raw mut message as usize)? };
    Ok(message)
}

/// Whether a thread that stopped at a system call enters it.
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

/// What a traced thread did, as `waitpid` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) i32);

impl Status {
    pub(crate) fn exited(self) -> Option<i32> {
        libc::WIFEXITED(self.0).then(|| libc::WEXITSTATUS(self.0))
    }

    /// The signal that killed it, and whether it dumped core.
    pub(crate) fn killed(self) -> Option<(i32, bool)> {
        libc::WIFSIGNALED(self.0).then(|| (libc::WTERMSIG(self.0), libc::WCOREDUMP(self.0)))
    }

    pub(crate) fn is_gone(self) -> bool {
        !libc::WIFSTOPPED(self.0)
    }

    /// The signal that it stopped with.
    pub(crate) fn signal(self) -> i32 {
        self.0 >> 8 & 0xff
    }

    /// The event that it stopped for, zero for a plain signal.
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

/// Waits for a thread that we trace: this one, or any (-1). `None` if `patient` is false and there is
/// nothing to tell.
pub(crate) fn wait(tid: Tid, patient: bool) -> io::Result<Option<(Tid, Status)>> {
    let flags = libc::__WALL | libc::__WNOTHREAD | if patient { 0 } else { libc::WNOHANG };
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
            who => return Ok(Some((who, Status(status)))),
        }
    }
}

pub(crate) fn kill(process: i32, signal: i32) -> io::Result<()> {
    // SAFETY: only numbers.
    if unsafe { libc::kill(process, signal) } == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets a thread run on these processors only; gives those it could run on before.
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

/// The processor that we run on now, alone in its set.
pub(crate) fn this_processor() -> libc::cpu_set_t {
    // SAFETY: an empty set is all zeros, and the processor's number fits the set or is ignored.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu().max(0) as usize, &mut set);
        set
    }
}
