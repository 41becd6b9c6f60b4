//! Executes system calls in a stopped thread.
//!
//! The thread is borrowed: its registers and its signal mask are saved, it executes a `syscall` instruction that the
//! tracer has prepared, stops at the `int3` after it, and its state is restored. Signals are blocked meanwhile
//! and stay pending. A thread that was stopped in the middle of a system call continues it afterwards: its registers
//! determine that, and the kernel reads them when it resumes the thread.
//!
//! A thread that is stopped at the entry of a system call cannot execute another one first. So this call is
//! cancelled, and the thread is taken to its entry again afterwards. Code that waits for the end of the call observes
//! it as usual.
//!
//! There is one `int3` per call, without single steps or stops at the call's entry: a stop costs more than anything
//! else here, and a single step in a virtual machine several times as much.

mod error;
pub(crate) mod raw;

use libc::user_regs_struct;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::unistd::Pid;

pub use error::InjectError;
use raw::{CallStop, SignalInfo, Status};

/// The bytes required at the scratch address: `syscall`, `int3`.
pub const SCRATCH: [u8; 3] = [0x0f, 0x05, 0xcc];

/// All signals but those that code can raise itself, such as by `int3`. If one of those is raised while it is
/// blocked, the kernel resets its handler.
const ALL_BUT_FAULTS: u64 =
    !(bit(libc::SIGTRAP) | bit(libc::SIGSEGV) | bit(libc::SIGBUS) | bit(libc::SIGILL));
/// Flag in `rflags` that stops the processor after one instruction.
const TRAP_FLAG: u64 = 0x100;
/// Flag that makes string instructions run backwards.
const DIRECTION_FLAG: u64 = 0x400;
/// Number of unrelated stops after which a call is given up.
const MAX_STOPS: usize = 1000;

/// Results in the kernel of an interrupted system call that will be restarted.
const RESTARTS: std::ops::RangeInclusive<i64> = -516..=-512;
/// Stop signal of a system call.
const CALL_STOP: i32 = libc::SIGTRAP | 0x80;

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Executes one system call in a stopped thread and returns its result (errors as negative numbers).
///
/// `scratch` is the address of [`SCRATCH`] in executable memory of the target. The thread is traced by the calling
/// thread, seized and stopped; no other thread may execute `scratch` meanwhile.
///
/// A thread that was stopped at the entry or exit of a system call is there afterwards. Any other thread is in a
/// signal-delivery stop, whatever stop it was in before, with the same signal information (`PTRACE_GETSIGINFO`). So a
/// signal that it was about to receive can still be delivered, but a group stop can no longer be listened to.
///
/// # Errors
/// If the thread has ended, is not stopped, or is where no call can be executed: see [`InjectError`].
pub fn syscall(tid: Pid, scratch: u64, number: i64, arguments: [u64; 6]) -> Result<i64, InjectError> {
    let mut thread = BorrowedThread::begin(tid, scratch)?;
    let result = thread.call(number, arguments)?;
    thread.end()?;
    Ok(result)
}

/// A stopped thread that executes system calls for the debugger. Its own state is restored by
/// [`end`](BorrowedThread::end), and also when this is dropped.
#[must_use = "the thread is released at once"]
pub struct BorrowedThread {
    tid: Pid,
    scratch: u64,
    registers: user_regs_struct,
    mask: u64,
    stop: Option<SignalInfo>,
    /// The system call stop that the thread was in.
    call_stop: Option<CallStop>,
    /// Signals that arrived meanwhile and could not be blocked.
    unblockable: Vec<i32>,
    given_back: bool,
}

impl BorrowedThread {
    /// Borrows a thread. See [`syscall`] for the requirements.
    ///
    /// # Errors
    /// If the thread has ended, is not stopped, or is where no call can be executed.
    pub fn begin(tid: Pid, scratch: u64) -> Result<Self, InjectError> {
        let failed = |errno| InjectError::of(tid, errno);
        let call_stop = raw::call_stop(tid).map_err(failed)?;
        let stop = if call_stop.is_some() { None } else { move_to_user_boundary(tid)? };
        let registers = ptrace::getregs(tid).map_err(failed)?;
        let mask = raw::signal_mask(tid).map_err(failed)?;
        raw::set_signal_mask(tid, ALL_BUT_FAULTS).map_err(failed)?;
        let unblockable = Vec::new();
        let mut thread =
            Self { tid, scratch, registers, mask, stop, call_stop, unblockable, given_back: false };
        if call_stop == Some(CallStop::Entry) {
            let cancelled = user_regs_struct { orig_rax: u64::MAX, ..registers };
            ptrace::setregs(tid, cancelled).map_err(failed)?;
            thread.run_to_call_stop()?;
        }
        Ok(thread)
    }

    /// The registers that the thread gets back.
    #[must_use]
    pub fn registers(&self) -> &user_regs_struct {
        &self.registers
    }

    /// The thread's blocked signals; bit 0 is signal 1.
    #[must_use]
    pub fn signal_mask(&self) -> u64 {
        self.mask
    }

    /// Signal information of the thread's stop.
    pub(crate) fn stop(&self) -> Option<SignalInfo> {
        self.stop
    }

    /// The system call stop that the thread was in.
    pub(crate) fn call_stop(&self) -> Option<CallStop> {
        self.call_stop
    }

    /// Executes a system call and returns its result (errors as negative numbers).
    ///
    /// # Errors
    /// If the thread ends meanwhile, or does not reach the end of the call.
    pub fn call(&mut self, number: i64, arguments: [u64; 6]) -> Result<i64, InjectError> {
        let [rdi, rsi, rdx, r10, r8, r9] = arguments;
        let registers = user_regs_struct {
            rip: self.scratch,
            rax: number as u64,
            // Not in a system call, so the kernel restarts none.
            orig_rax: u64::MAX,
            eflags: self.registers.eflags & !TRAP_FLAG,
            // The stack is not used. A null pointer is not on the alternative signal stack, which may then be
            // changed.
            rsp: 0,
            rdi,
            rsi,
            rdx,
            r10,
            r8,
            r9,
            ..self.registers
        };
        self.run(registers).map(|registers| registers.rax as i64)
    }

    /// Calls a function of the library and returns its two result words. The top of `stack` holds the return address:
    /// that of the `int3` in the scratch bytes.
    pub(crate) fn call_function(
        &mut self,
        function: u64,
        stack: u64,
        arguments: [u64; 2],
    ) -> Result<(u64, u64), InjectError> {
        let [rdi, rsi] = arguments;
        let registers = user_regs_struct {
            rip: function,
            orig_rax: u64::MAX,
            eflags: self.registers.eflags & !(TRAP_FLAG | DIRECTION_FLAG),
            rsp: stack,
            rdi,
            rsi,
            ..self.registers
        };
        // The function may change the vector registers.
        let kept = raw::extended_registers(self.tid).map_err(|errno| InjectError::of(self.tid, errno))?;
        let result = self.run(registers).map(|registers| (registers.rax, registers.rdx));
        raw::set_extended_registers(self.tid, &kept).map_err(|errno| InjectError::of(self.tid, errno))?;
        result
    }

    /// Runs from these registers to the trap after the system call.
    fn run(&mut self, registers: user_regs_struct) -> Result<user_regs_struct, InjectError> {
        ptrace::setregs(self.tid, registers).map_err(|errno| InjectError::of(self.tid, errno))?;
        for _ in 0..MAX_STOPS {
            ptrace::cont(self.tid, None).map_err(|errno| InjectError::of(self.tid, errno))?;
            match raw::wait(self.tid).map_err(|errno| InjectError::of(self.tid, errno))? {
                Status::Ended => {
                    self.given_back = true;
                    return Err(InjectError::Ended(self.tid));
                }
                Status::Stopped { event, .. } if event != 0 => {}
                Status::Stopped { signal: libc::SIGTRAP, .. } => {
                    let now = ptrace::getregs(self.tid).map_err(|errno| InjectError::of(self.tid, errno))?;
                    if now.rip == self.scratch + SCRATCH.len() as u64 {
                        return Ok(now);
                    }
                    self.unblockable.push(libc::SIGTRAP);
                }
                Status::Stopped {
                    signal: signal @ (libc::SIGSEGV | libc::SIGILL | libc::SIGBUS), ..
                } => {
                    return Err(InjectError::Scratch { tid: self.tid, address: self.scratch, signal });
                }
                Status::Stopped { signal, .. } => self.unblockable.push(signal),
            }
        }
        Err(InjectError::StoppedRepeatedly(self.tid))
    }

    /// Restores the thread's state.
    ///
    /// # Errors
    /// If the thread has ended meanwhile.
    pub fn end(mut self) -> Result<(), InjectError> {
        self.give_back()
    }

    /// Replaces the state that the thread will get: registers, blocked signals and stop.
    pub(crate) fn replace_state(
        &mut self,
        registers: user_regs_struct,
        mask: u64,
        stop: Option<SignalInfo>,
        call_stop: Option<CallStop>,
    ) {
        (self.registers, self.mask, self.stop) = (registers, mask, stop);
        self.call_stop = call_stop;
    }

    /// Runs the thread to its next system call stop.
    fn run_to_call_stop(&mut self) -> Result<(), InjectError> {
        let failed = |errno| InjectError::of(self.tid, errno);
        for _ in 0..MAX_STOPS {
            ptrace::syscall(self.tid, None).map_err(failed)?;
            match raw::wait(self.tid).map_err(failed)? {
                Status::Ended => {
                    self.given_back = true;
                    return Err(InjectError::Ended(self.tid));
                }
                Status::Stopped { signal: CALL_STOP, .. } => return Ok(()),
                Status::Stopped { event, .. } if event != 0 => {}
                Status::Stopped {
                    signal: signal @ (libc::SIGSEGV | libc::SIGILL | libc::SIGBUS), ..
                } => {
                    return Err(InjectError::Scratch { tid: self.tid, address: self.scratch, signal });
                }
                Status::Stopped { signal, .. } => self.unblockable.push(signal),
            }
        }
        Err(InjectError::StoppedRepeatedly(self.tid))
    }

    /// Takes the thread to a system call stop. Its registers determine which call it is.
    fn enter_call(&mut self, stop: CallStop) -> Result<(), InjectError> {
        let registers = user_regs_struct {
            rip: self.scratch,
            // An invalid call number: nothing is done if the call completes.
            rax: u64::MAX,
            orig_rax: u64::MAX,
            eflags: self.registers.eflags & !TRAP_FLAG,
            ..self.registers
        };
        ptrace::setregs(self.tid, registers).map_err(|errno| InjectError::of(self.tid, errno))?;
        self.run_to_call_stop()?;
        match stop {
            CallStop::Entry => Ok(()),
            CallStop::Exit => self.run_to_call_stop(),
        }
    }

    fn give_back(&mut self) -> Result<(), InjectError> {
        if std::mem::replace(&mut self.given_back, true) {
            return Ok(());
        }
        if let Some(stop) = self.call_stop {
            self.enter_call(stop)?;
        }
        self.put_back().map_err(|errno| InjectError::of(self.tid, errno))
    }

    /// Restores everything at the thread's current stop.
    fn put_back(&mut self) -> Result<(), Errno> {
        ptrace::setregs(self.tid, self.registers)?;
        raw::set_signal_mask(self.tid, self.mask)?;
        if let Some(stop) = &self.stop {
            raw::set_signal_info(self.tid, stop)?;
        }
        for signal in self.unblockable.drain(..) {
            raw::send(self.tid, signal)?;
        }
        // The kernel checks whether to restart a call only if another event than the call is pending. There was one,
        // and it was consumed with the stop: this is another one.
        if self.call_stop == Some(CallStop::Exit)
            && self.registers.orig_rax as i64 >= 0
            && RESTARTS.contains(&(self.registers.rax as i64))
        {
            ptrace::interrupt(self.tid)?;
        }
        Ok(())
    }
}

impl Drop for BorrowedThread {
    fn drop(&mut self) {
        // Only does something after an error, which was reported already.
        let _ = self.give_back();
    }
}

/// Brings a stopped thread to a stop at the boundary of user space, where its registers determine what it returns to.
/// In a stop in the middle of a system call (after a clone, say), the kernel would overwrite them with the result of
/// the call. Returns the signal information of the new stop.
fn move_to_user_boundary(tid: Pid) -> Result<Option<SignalInfo>, InjectError> {
    let stop = match raw::signal_info(tid) {
        Ok(stop) => stop,
        // A group stop of a thread that was not seized.
        Err(Errno::EINVAL) => return Ok(None),
        Err(errno) => return Err(InjectError::of(tid, errno)),
    };
    let code = stop.code();
    let event = if code > 0 { code >> 8 } else { 0 };
    // A system call stop whose tracer has not set `PTRACE_O_TRACESYSGOOD`.
    let in_system_call = event == 0 && stop.signal() == libc::SIGTRAP && code == libc::SIGTRAP;
    match event {
        libc::PTRACE_EVENT_EXIT => return Err(InjectError::Exiting(tid)),
        libc::PTRACE_EVENT_VFORK => return Err(InjectError::Vfork(tid)),
        libc::PTRACE_EVENT_STOP => return Ok(Some(stop)),
        0 if !in_system_call => return Ok(Some(stop)),
        _ => {}
    }
    ptrace::interrupt(tid).map_err(|errno| InjectError::of(tid, errno))?;
    for _ in 0..MAX_STOPS {
        ptrace::cont(tid, None).map_err(|errno| InjectError::of(tid, errno))?;
        match raw::wait(tid).map_err(|errno| InjectError::of(tid, errno))? {
            Status::Ended => return Err(InjectError::Ended(tid)),
            Status::Stopped { event: libc::PTRACE_EVENT_EXIT, .. } => return Err(InjectError::Exiting(tid)),
            Status::Stopped { event: libc::PTRACE_EVENT_STOP, .. } => {
                return raw::signal_info(tid).map(Some).map_err(|errno| InjectError::of(tid, errno));
            }
            Status::Stopped { .. } => {}
        }
    }
    Err(InjectError::StoppedRepeatedly(tid))
}
