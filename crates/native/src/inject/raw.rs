//! The requests to the kernel that have no safe wrapper elsewhere.
//!
//! Everything here acts on a thread that the calling thread traces, and hands back plain data.

use std::fs::File;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_long, c_uint, c_void};
use nix::errno::Errno;
use nix::unistd::Pid;

const PTRACE_SETSIGMASK: c_uint = 0x420b;
const NT_X86_XSTATE: usize = 0x202;
/// The most that the extended registers of an x86-64 processor need, tiles included, with room to spare.
const MOST_EXTENDED: usize = 16 * 1024;

/// What a wait for one thread has brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// The thread stands still.
    Stopped {
        /// The signal it stopped with.
        signal: c_int,
        /// The `PTRACE_EVENT_…`, 0 if it is none.
        event: c_int,
    },
    /// The thread has ended.
    Ended,
}

/// The two stops of a system call that is being traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallStop {
    /// It is about to begin.
    Entry,
    /// It is over.
    Exit,
}

/// What the kernel tells of a signal, kept as bytes.
#[derive(Clone, Copy)]
pub(crate) struct SignalInfo([u64; 16]);

impl SignalInfo {
    /// The number of the signal.
    pub(crate) fn signal(&self) -> c_int {
        self.0[0] as u32 as c_int
    }

    /// Where it comes from.
    pub(crate) fn code(&self) -> c_int {
        self.0[1] as u32 as c_int
    }

    /// As it lies in the memory of a program.
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

/// One ptrace request whose arguments are two words.
///
/// # Safety
/// `address` and `data` must be what `request` expects: pointers among them are to memory of the right size.
unsafe fn ptrace(request: c_uint, tid: Pid, address: usize, data: *mut c_void) -> Result<c_long, Errno> {
    // SAFETY: the caller vouches for the two words.
    Errno::result(unsafe { libc::ptrace(request, tid.as_raw(), address as *mut c_void, data) })
}

/// So often it is asked whether a thread has stopped before we sleep until it has. What it does for us takes
/// microseconds; being woken on another processor takes ten times that.
const GLANCES: u32 = 200;

/// Waits until this one thread stops or ends. Its end stays to be told: whoever waits for all threads of the
/// program must hear of it, and [`see_end`] is for those of whom nobody else knows.
pub(crate) fn wait(tid: Pid) -> Result<Status, Errno> {
    // Not the wrapper of `nix`: it fails, and loses the stop, when the signal is a real-time one.
    let mut glances = 0;
    loop {
        let glance = if glances < GLANCES { libc::WNOHANG } else { 0 };
        glances += 1;
        let found = look(tid, libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | glance);
        match found {
            // It may be waiting for this very processor.
            Ok(None) => std::thread::yield_now(),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
            Ok(Some((libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED, _))) => {
                return Ok(Status::Ended);
            }
            // It may have been killed since: then it is looked at once more.
            Ok(Some(_)) => {
                if let Ok(Some((_, status))) = look(tid, libc::WSTOPPED | libc::WNOHANG) {
                    return Ok(Status::Stopped { signal: status & 0xff, event: status >> 8 });
                }
            }
        }
    }
}

/// What there is to tell of a thread: what came to pass, and with what number.
fn look(tid: Pid, options: c_int) -> Result<Option<(c_int, c_int)>, Errno> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let who = tid.as_raw() as libc::id_t;
    // SAFETY: the kernel writes one `siginfo_t`.
    Errno::result(unsafe { libc::waitid(libc::P_PID, who, info.as_mut_ptr(), options | libc::__WALL) })?;
    // SAFETY: zeroed, and then written by the kernel; the fields are plain numbers.
    let (found, code, status) = unsafe {
        let info = info.assume_init();
        (info.si_pid() != 0, info.si_code, info.si_status())
    };
    Ok(found.then_some((code, status)))
}

/// Takes note of the end of a thread that has ended, so that its id is free.
pub(crate) fn see_end(tid: Pid) {
    // It fails only if it has been taken note of.
    let _ = look(tid, libc::WEXITED | libc::WNOHANG);
}

/// In which stop of a system call the thread is, if it is in one.
pub(crate) fn call_stop(tid: Pid) -> Result<Option<CallStop>, Errno> {
    let mut info = MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
    let size = size_of::<libc::ptrace_syscall_info>();
    // SAFETY: the kernel writes no more bytes than it is told of.
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
    // SAFETY: the kernel writes the 8 bytes it is told of.
    unsafe { ptrace(libc::PTRACE_GETSIGMASK, tid, size_of::<u64>(), (&raw mut mask).cast()) }?;
    Ok(mask)
}

/// Blocks just these signals.
pub(crate) fn set_signal_mask(tid: Pid, mut mask: u64) -> Result<(), Errno> {
    // SAFETY: the kernel reads the 8 bytes it is told of.
    unsafe { ptrace(PTRACE_SETSIGMASK, tid, size_of::<u64>(), (&raw mut mask).cast()) }.map(drop)
}

/// What the kernel tells of the stop in which the thread is.
pub(crate) fn signal_info(tid: Pid) -> Result<SignalInfo, Errno> {
    const { assert!(size_of::<libc::siginfo_t>() == size_of::<SignalInfo>()) };
    let mut info = SignalInfo([0; 16]);
    // SAFETY: the kernel writes one `siginfo_t`, which is as large as this.
    unsafe { ptrace(libc::PTRACE_GETSIGINFO, tid, 0, (&raw mut info).cast()) }?;
    Ok(info)
}

/// Changes what is told of the stop, and what a handler is told if the signal is delivered.
pub(crate) fn set_signal_info(tid: Pid, info: &SignalInfo) -> Result<(), Errno> {
    let mut info = *info;
    // SAFETY: the kernel reads one `siginfo_t`, which is as large as this.
    unsafe { ptrace(libc::PTRACE_SETSIGINFO, tid, 0, (&raw mut info).cast()) }.map(drop)
}

/// The signals waiting for the thread, or with `shared` those waiting for its process.
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

/// The floating point, vector and further extended registers, as the kernel lays them out.
pub(crate) fn extended_registers(tid: Pid) -> Result<Box<[u8]>, Errno> {
    let mut space = MaybeUninit::<[u8; MOST_EXTENDED]>::uninit();
    let mut vector = libc::iovec { iov_base: space.as_mut_ptr().cast(), iov_len: MOST_EXTENDED };
    // SAFETY: the kernel writes no more than `iov_len` bytes, and says how many.
    unsafe { ptrace(libc::PTRACE_GETREGSET, tid, NT_X86_XSTATE, (&raw mut vector).cast()) }?;
    // SAFETY: the kernel has written this many bytes.
    Ok(unsafe { std::slice::from_raw_parts(space.as_ptr().cast::<u8>(), vector.iov_len) }.into())
}

/// Sets what [`extended_registers`] has told.
pub(crate) fn set_extended_registers(tid: Pid, bytes: &[u8]) -> Result<(), Errno> {
    let mut vector = libc::iovec { iov_base: bytes.as_ptr() as *mut c_void, iov_len: bytes.len() };
    // SAFETY: the kernel only reads the bytes.
    unsafe { ptrace(libc::PTRACE_SETREGSET, tid, NT_X86_XSTATE, (&raw mut vector).cast()) }.map(drop)
}

/// The list of robust mutexes of the thread: address of its head, and the size of that.
pub(crate) fn robust_list(tid: Pid) -> Result<(u64, u64), Errno> {
    let (mut head, mut size) = (0u64, 0u64);
    // SAFETY: the kernel writes two words.
    Errno::result(unsafe {
        libc::syscall(libc::SYS_get_robust_list, tid.as_raw(), &raw mut head, &raw mut size)
    })?;
    Ok((head, size))
}

/// How the thread is registered for restartable sequences, if it is.
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
    // SAFETY: the kernel writes one configuration, whose size it is told.
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
    // SAFETY: the kernel writes no more bytes than it is told of.
    Errno::result(unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, tid.as_raw(), size_of_val(&set), set.as_mut_ptr())
    })?;
    Ok(set)
}

/// Lets the thread run on these processors.
pub(crate) fn set_affinity(tid: Pid, set: &[u64; 16]) -> Result<(), Errno> {
    // SAFETY: the kernel reads the bytes it is told of.
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

/// Whether the two processes have the same memory, as after `vfork`. `None` if the kernel does not tell.
pub(crate) fn same_memory(one: Pid, other: Pid) -> Option<bool> {
    const KCMP_VM: c_int = 1;
    // SAFETY: takes numbers only.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, one.as_raw(), other.as_raw(), KCMP_VM, 0, 0) };
    (order >= 0).then_some(order == 0)
}

/// Whether the process is a child of ours, or traced by us, so that we can wait for it.
pub(crate) fn is_ours(process: Pid) -> bool {
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: a null pointer is allowed here by the kernel: nothing is told.
    let found = unsafe {
        libc::syscall(libc::SYS_waitid, libc::P_PID, process.as_raw(), std::ptr::null::<u8>(), options, 0)
    };
    found == 0
}

/// A handle of a process.
pub(crate) fn process_handle(process: Pid) -> Result<OwnedFd, Errno> {
    // SAFETY: takes numbers only.
    let handle = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, process.as_raw(), 0) })?;
    // SAFETY: the kernel has just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(handle as c_int) })
}

/// A descriptor of another process, for us: of the same open file, with the same position.
pub(crate) fn descriptor_of(process: &OwnedFd, number: c_int) -> Result<File, Errno> {
    // SAFETY: takes numbers only.
    let ours =
        Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) })?;
    // SAFETY: the kernel has just made it for us.
    Ok(unsafe { File::from_raw_fd(ours as c_int) })
}
