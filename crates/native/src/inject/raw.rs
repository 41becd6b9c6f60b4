//! Kernel requests without a safe wrapper elsewhere.
//!
//! Everything here acts on a thread that the calling thread traces, and returns plain data.

use std::fs::File;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_long, c_uint, c_void};
use nix::errno::Errno;
use nix::unistd::Pid;

const PTRACE_SETSIGMASK: c_uint = 0x420b;
const NT_X86_XSTATE: usize = 0x202;
/// Upper bound on the size of the extended registers of an x86-64 processor, tile registers included.
const MAX_EXTENDED: usize = 16 * 1024;

/// Result of waiting for one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// The thread is stopped.
    Stopped {
        /// The signal it stopped with.
        signal: c_int,
        /// The `PTRACE_EVENT_…`, or 0.
        event: c_int,
    },
    /// The thread has ended.
    Ended,
}

/// The two stops of a traced system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallStop {
    /// Its entry.
    Entry,
    /// Its exit.
    Exit,
}

/// Signal information (`siginfo_t`), kept as bytes.
#[derive(Clone, Copy)]
pub(crate) struct SignalInfo([u64; 16]);

impl SignalInfo {
    /// Number of the signal.
    pub(crate) fn signal(&self) -> c_int {
        self.0[0] as u32 as c_int
    }

    /// Origin of the signal (`si_code`).
    pub(crate) fn code(&self) -> c_int {
        self.0[1] as u32 as c_int
    }

    /// As laid out in memory.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

/// The registration of a thread for restartable sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rseq {
    pub(crate) address: u64,
    pub(crate) size: u32,
    pub(crate) signature: u32,
}

/// One ptrace request with two arguments.
///
/// # Safety
/// `address` and `data` must be what `request` expects; pointers among them must refer to memory of the right size.
unsafe fn ptrace(request: c_uint, tid: Pid, address: usize, data: *mut c_void) -> Result<c_long, Errno> {
    // SAFETY: by the contract of this function.
    Errno::result(unsafe { libc::ptrace(request, tid.as_raw(), address as *mut c_void, data) })
}

/// Number of polls before sleeping until a thread stops. The thread's work takes microseconds; being woken on another
/// processor takes ten times that.
const POLLS: u32 = 200;

/// Waits until this thread stops or ends. Its exit stays to be collected: code that waits for all threads must see
/// it, and [`reap`] is for threads that no other code knows.
pub(crate) fn wait(tid: Pid) -> Result<Status, Errno> {
    // Not the wrapper of `nix`, which fails and loses the stop if the signal is a real-time one.
    let mut polls = 0;
    loop {
        let flag = if polls < POLLS { libc::WNOHANG } else { 0 };
        polls += 1;
        let found = waitid(tid, libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | flag);
        match found {
            // It may be waiting for this very processor.
            Ok(None) => std::thread::yield_now(),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
            Ok(Some((libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED, _))) => {
                return Ok(Status::Ended);
            }
            // It may have been killed since: then poll again.
            Ok(Some(_)) => {
                if let Ok(Some((_, status))) = waitid(tid, libc::WSTOPPED | libc::WNOHANG) {
                    return Ok(Status::Stopped { signal: status & 0xff, event: status >> 8 });
                }
            }
        }
    }
}

/// Queries the state change of a thread: code and status.
fn waitid(tid: Pid, options: c_int) -> Result<Option<(c_int, c_int)>, Errno> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let id = tid.as_raw() as libc::id_t;
    // SAFETY: the kernel writes one `siginfo_t`.
    Errno::result(unsafe { libc::waitid(libc::P_PID, id, info.as_mut_ptr(), options | libc::__WALL) })?;
    // SAFETY: zeroed, and then written by the kernel; the fields are plain numbers.
    let (found, code, status) = unsafe {
        let info = info.assume_init();
        (info.si_pid() != 0, info.si_code, info.si_status())
    };
    Ok(found.then_some((code, status)))
}

/// Collects the exit of a thread, so that its id is free.
pub(crate) fn reap(tid: Pid) {
    // It fails only if the exit was collected already.
    let _ = waitid(tid, libc::WEXITED | libc::WNOHANG);
}

/// The system call stop in which the thread is, if any.
pub(crate) fn call_stop(tid: Pid) -> Result<Option<CallStop>, Errno> {
    let mut info = MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
    let size = size_of::<libc::ptrace_syscall_info>();
    // SAFETY: the kernel writes no more bytes than the given length.
    unsafe { ptrace(libc::PTRACE_GET_SYSCALL_INFO, tid, size, info.as_mut_ptr().cast()) }?;
    // SAFETY: zeroed, and then written by the kernel; plain numbers all of it.
    Ok(match unsafe { info.assume_init() }.op {
        libc::PTRACE_SYSCALL_INFO_ENTRY => Some(CallStop::Entry),
        libc::PTRACE_SYSCALL_INFO_EXIT => Some(CallStop::Exit),
        _ => None,
    })
}

/// The signals that the thread has blocked.
pub(crate) fn signal_mask(tid: Pid) -> Result<u64, Errno> {
    let mut mask = 0u64;
    // SAFETY: the kernel writes exactly 8 bytes.
    unsafe { ptrace(libc::PTRACE_GETSIGMASK, tid, size_of::<u64>(), (&raw mut mask).cast()) }?;
    Ok(mask)
}

/// Blocks exactly these signals.
pub(crate) fn set_signal_mask(tid: Pid, mut mask: u64) -> Result<(), Errno> {
    // SAFETY: the kernel reads exactly 8 bytes.
    unsafe { ptrace(PTRACE_SETSIGMASK, tid, size_of::<u64>(), (&raw mut mask).cast()) }.map(drop)
}

/// Signal information of the thread's stop.
pub(crate) fn signal_info(tid: Pid) -> Result<SignalInfo, Errno> {
    const { assert!(size_of::<libc::siginfo_t>() == size_of::<SignalInfo>()) };
    let mut info = SignalInfo([0; 16]);
    // SAFETY: the kernel writes one `siginfo_t`, which is as large as this.
    unsafe { ptrace(libc::PTRACE_GETSIGINFO, tid, 0, (&raw mut info).cast()) }?;
    Ok(info)
}

/// Changes the signal information of the stop, which a handler receives if the signal is delivered.
pub(crate) fn set_signal_info(tid: Pid, info: &SignalInfo) -> Result<(), Errno> {
    let mut info = *info;
    // SAFETY: the kernel reads one `siginfo_t`, which is as large as this.
    unsafe { ptrace(libc::PTRACE_SETSIGINFO, tid, 0, (&raw mut info).cast()) }.map(drop)
}

/// The pending signals of the thread, or with `shared` those of its process.
pub(crate) fn pending(tid: Pid, shared: bool) -> Result<Vec<SignalInfo>, Errno> {
    const BATCH: usize = 8;
    let mut all = Vec::new();
    loop {
        let mut batch = [SignalInfo([0; 16]); BATCH];
        let flags = if shared { libc::PTRACE_PEEKSIGINFO_SHARED } else { 0 };
        let arguments = libc::ptrace_peeksiginfo_args { off: all.len() as u64, flags, nr: BATCH as i32 };
        // SAFETY: the kernel reads the arguments, and writes at most `BATCH` entries.
        let count = unsafe {
            ptrace(
                libc::PTRACE_PEEKSIGINFO,
                tid,
                (&raw const arguments) as usize,
                batch.as_mut_ptr().cast::<c_void>(),
            )
        }? as usize;
        all.extend_from_slice(&batch[..count.min(BATCH)]);
        if count < BATCH {
            return Ok(all);
        }
    }
}

/// The floating point, vector and further extended registers, in the kernel's layout.
pub(crate) fn extended_registers(tid: Pid) -> Result<Box<[u8]>, Errno> {
    let mut space = MaybeUninit::<[u8; MAX_EXTENDED]>::uninit();
    let mut vector = libc::iovec { iov_base: space.as_mut_ptr().cast(), iov_len: MAX_EXTENDED };
    // SAFETY: the kernel writes no more than `iov_len` bytes, and says how many.
    unsafe { ptrace(libc::PTRACE_GETREGSET, tid, NT_X86_XSTATE, (&raw mut vector).cast()) }?;
    // SAFETY: the kernel has written this many bytes.
    Ok(unsafe { std::slice::from_raw_parts(space.as_ptr().cast::<u8>(), vector.iov_len) }.into())
}

/// Sets the registers that [`extended_registers`] returned.
pub(crate) fn set_extended_registers(tid: Pid, bytes: &[u8]) -> Result<(), Errno> {
    let mut vector = libc::iovec { iov_base: bytes.as_ptr() as *mut c_void, iov_len: bytes.len() };
    // SAFETY: the kernel only reads the bytes.
    unsafe { ptrace(libc::PTRACE_SETREGSET, tid, NT_X86_XSTATE, (&raw mut vector).cast()) }.map(drop)
}

/// The thread's list of robust mutexes: address and size of its head.
pub(crate) fn robust_list(tid: Pid) -> Result<(u64, u64), Errno> {
    let (mut head, mut size) = (0u64, 0u64);
    // SAFETY: the kernel writes two words.
    Errno::result(unsafe {
        libc::syscall(libc::SYS_get_robust_list, tid.as_raw(), &raw mut head, &raw mut size)
    })?;
    Ok((head, size))
}

/// The thread's registration for restartable sequences, if there is one.
pub(crate) fn rseq(tid: Pid) -> Result<Option<Rseq>, Errno> {
    #[repr(C)]
    #[derive(Default)]
    struct Configuration {
        address: u64,
        size: u32,
        signature: u32,
        flags: u32,
        pad: u32,
    }
    let mut found = Configuration::default();
    let size = size_of::<Configuration>();
    // SAFETY: the kernel writes one configuration of the given size.
    match unsafe { ptrace(libc::PTRACE_GET_RSEQ_CONFIGURATION, tid, size, (&raw mut found).cast()) } {
        Ok(_) if found.address == 0 => Ok(None),
        Ok(_) => Ok(Some(Rseq { address: found.address, size: found.size, signature: found.signature })),
        // A kernel without restartable sequences.
        Err(Errno::EIO | Errno::EINVAL) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// The processors on which the thread may run.
pub(crate) fn affinity(tid: Pid) -> Result<[u64; 16], Errno> {
    let mut set = [0u64; 16];
    // SAFETY: the kernel writes no more bytes than the given length.
    Errno::result(unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, tid.as_raw(), size_of_val(&set), set.as_mut_ptr())
    })?;
    Ok(set)
}

/// Sets the processors on which the thread may run.
pub(crate) fn set_affinity(tid: Pid, set: &[u64; 16]) -> Result<(), Errno> {
    // SAFETY: the kernel reads no more bytes than the given length.
    Errno::result(unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, tid.as_raw(), size_of_val(set), set.as_ptr())
    })
    .map(drop)
}

/// Sends a signal to one thread.
pub(crate) fn send(tid: Pid, signal: c_int) -> Result<(), Errno> {
    // SAFETY: takes two numbers.
    Errno::result(unsafe { libc::syscall(libc::SYS_tkill, tid.as_raw(), signal) }).map(drop)
}

/// Whether two processes share their memory, as after `vfork`. `None` if the kernel does not support the query.
pub(crate) fn same_memory(one: Pid, other: Pid) -> Option<bool> {
    const KCMP_VM: c_int = 1;
    // SAFETY: takes numbers only.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, one.as_raw(), other.as_raw(), KCMP_VM, 0, 0) };
    (order >= 0).then_some(order == 0)
}

/// Whether the process is a child of the caller or traced by it, so that it can be waited for.
pub(crate) fn is_ours(process: Pid) -> bool {
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: the kernel allows a null pointer here and writes nothing.
    let found = unsafe {
        libc::syscall(libc::SYS_waitid, libc::P_PID, process.as_raw(), std::ptr::null::<u8>(), options, 0)
    };
    found == 0
}

/// Opens a handle of a process.
pub(crate) fn process_handle(process: Pid) -> Result<OwnedFd, Errno> {
    // SAFETY: takes numbers only.
    let handle = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, process.as_raw(), 0) })?;
    // SAFETY: the kernel has just created the descriptor for this process.
    Ok(unsafe { OwnedFd::from_raw_fd(handle as c_int) })
}

/// Duplicates a descriptor of another process: the same open file, with the same position.
pub(crate) fn descriptor_of(process: &OwnedFd, number: c_int) -> Result<File, Errno> {
    // SAFETY: takes numbers only.
    let ours =
        Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) })?;
    // SAFETY: the kernel has just created the descriptor for this process.
    Ok(unsafe { File::from_raw_fd(ours as c_int) })
}
