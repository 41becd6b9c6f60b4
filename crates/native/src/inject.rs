//! Running system calls inside a stopped thread.
//!
//! The thread is borrowed: its registers and its signal mask are put aside, it runs `syscall` at a place that
//! the tracer has prepared, stops at the `int3` behind it, and gets everything back. Signals are blocked
//! meanwhile and stay pending. A thread that was stopped in the middle of a system call goes on with it
//! afterwards as if nothing had been: its registers say so, and the kernel reads them when it resumes.
//!
//! A thread that is stopped because it enters a system call cannot run another one before that. So this one
//! comes to nothing, and the thread is taken to the entry of it again afterwards: nothing was done, and it
//! stands where it stood. Whoever waits for the end of the call gets to see it.
//!
//! One `int3` per call, no single steps and no stops at the entry of the call: a stop costs more than anything
//! else here, and a single step in a virtual machine several times that.

mod error;
pub(crate) mod raw;

use libc::user_regs_struct;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::unistd::Pid;

pub use error::InjectError;
use raw::{CallStop, SignalInfo, Status};

/// The bytes that must lie at the scratch address: `syscall`, `int3`.
pub const SCRATCH: [u8; 3] = [0x0f, 0x05, 0xcc];

/// Everything but the signals that code can raise by itself, such as `int3`. When one of those is raised while
/// it is blocked, the kernel forgets how the program handles it.
const ALL_BUT_FAULTS: u64 =
    !(bit(libc::SIGTRAP) | bit(libc::SIGSEGV) | bit(libc::SIGBUS) | bit(libc::SIGILL));
/// The flag in `rflags` that makes a processor stop after one instruction.
const TRAP_FLAG: u64 = 0x100;
/// The flag that makes instructions on strings go backwards.
const DIRECTION_FLAG: u64 = 0x400;
/// So many stops for other reasons are passed over before a call is given up.
const PATIENCE: usize = 1000;

/// What a system call gives, inside the kernel, that was interrupted and is to be started again.
const RESTARTS: std::ops::RangeInclusive<i64> = -516..=-512;
/// What a thread stops with at a system call.
const CALL_STOP: i32 = libc::SIGTRAP | 0x80;

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Runs one system call in a stopped thread, and gives what it returned (errors as negative numbers).
///
/// `scratch` is the address of [`SCRATCH`] in executable memory of the program. The thread is traced by the
/// calling thread, seized, and stopped; no other thread of it may run through `scratch` meanwhile.
///
/// A thread that was stopped at the begin or the end of a system call is there afterwards. Any other thread is
/// in a signal-delivery-stop, whatever stop it was in before, and tells of it what it told before
/// (`PTRACE_GETSIGINFO`). So a signal it was about to take can still be given to it when it is
/// continued, and a stop of the whole group can no longer be listened to.
///
/// # Errors
/// If the thread has ended, does not stand still, or is where no call can be run: see [`InjectError`].
pub fn syscall(tid: Pid, scratch: u64, number: i64, arguments: [u64; 6]) -> Result<i64, InjectError> {
    let mut thread = Borrowed::begin(tid, scratch)?;
    let result = thread.call(number, arguments)?;
    thread.end()?;
    Ok(result)
}

/// A stopped thread that runs system calls for us. It gets its own state back by [`end`](Borrowed::end), and
/// also when it is dropped.
#[must_use = "the thread is given back at once"]
pub struct Borrowed {
    tid: Pid,
    scratch: u64,
    registers: user_regs_struct,
    mask: u64,
    stop: Option<SignalInfo>,
    /// The stop of a system call that the thread was in.
    call_stop: Option<CallStop>,
    /// Signals that could not be blocked and came in between.
    strays: Vec<i32>,
    given_back: bool,
}

impl Borrowed {
    /// Borrows a thread. See [`syscall`] for what is asked of it.
    ///
    /// # Errors
    /// If the thread has ended, does not stand still, or is where no call can be run.
    pub fn begin(tid: Pid, scratch: u64) -> Result<Self, InjectError> {
        let failed = |errno| InjectError::of(tid, errno);
        let call_stop = raw::call_stop(tid).map_err(failed)?;
        let stop = if call_stop.is_some() { None } else { settle(tid)? };
        let registers = ptrace::getregs(tid).map_err(failed)?;
        let mask = raw::signal_mask(tid).map_err(failed)?;
        raw::set_signal_mask(tid, ALL_BUT_FAULTS).map_err(failed)?;
        let strays = Vec::new();
        let mut thread = Self { tid, scratch, registers, mask, stop, call_stop, strays, given_back: false };
        if call_stop == Some(CallStop::Entry) {
            let nothing = user_regs_struct { orig_rax: u64::MAX, ..registers };
            ptrace::setregs(tid, nothing).map_err(failed)?;
            thread.run_to_call_stop()?;
        }
        Ok(thread)
    }

    /// The registers that the thread gets back.
    #[must_use]
    pub fn registers(&self) -> &user_regs_struct {
        &self.registers
    }

    /// The signals that the thread has blocked, bit 0 being signal 1.
    #[must_use]
    pub fn signal_mask(&self) -> u64 {
        self.mask
    }

    /// What the thread tells of its stop.
    pub(crate) fn stop(&self) -> Option<SignalInfo> {
        self.stop
    }

    /// The stop of a system call that the thread was in.
    pub(crate) fn call_stop(&self) -> Option<CallStop> {
        self.call_stop
    }

    /// Runs a system call, and gives what it returned (errors as negative numbers).
    ///
    /// # Errors
    /// If the thread ends meanwhile, or does not come to the end of the call.
    pub fn call(&mut self, number: i64, arguments: [u64; 6]) -> Result<i64, InjectError> {
        let [rdi, rsi, rdx, r10, r8, r9] = arguments;
        let registers = user_regs_struct {
            rip: self.scratch,
            rax: number as u64,
            // Not inside a system call, so that the kernel does not restart one.
            orig_rax: u64::MAX,
            eflags: self.registers.eflags & !TRAP_FLAG,
            // The stack is not used. A null one is on no alternative signal stack, which may then be changed.
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

    /// Calls a function that is in the program and is ours, and gives the two words that it returned. On top of the stack lies
    /// the address of the `int3` of the scratch bytes, to which it returns.
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
        // The function may use them.
        let kept = raw::extended_registers(self.tid).map_err(|errno| InjectError::of(self.tid, errno))?;
        let result = self.run(registers).map(|registers| (registers.rax, registers.rdx));
        raw::set_extended_registers(self.tid, &kept).map_err(|errno| InjectError::of(self.tid, errno))?;
        result
    }

    /// Runs from these registers to the trap behind the system call.
    fn run(&mut self, registers: user_regs_struct) -> Result<user_regs_struct, InjectError> {
        ptrace::setregs(self.tid, registers).map_err(|errno| InjectError::of(self.tid, errno))?;
        for _ in 0..PATIENCE {
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
                    self.strays.push(libc::SIGTRAP);
                }
                Status::Stopped {
                    signal: signal @ (libc::SIGSEGV | libc::SIGILL | libc::SIGBUS), ..
                } => {
                    return Err(InjectError::Scratch { tid: self.tid, address: self.scratch, signal });
                }
                Status::Stopped { signal, .. } => self.strays.push(signal),
            }
        }
        Err(InjectError::Restless(self.tid))
    }

    /// Gives the thread back as it was.
    ///
    /// # Errors
    /// If the thread has ended meanwhile.
    pub fn end(mut self) -> Result<(), InjectError> {
        self.give_back()
    }

    /// Lets the thread go on as another one would have: with these registers, blocked signals and stop.
    pub(crate) fn become_another(
        &mut self,
        registers: user_regs_struct,
        mask: u64,
        stop: Option<SignalInfo>,
        call_stop: Option<CallStop>,
    ) {
        (self.registers, self.mask, self.stop) = (registers, mask, stop);
        self.call_stop = call_stop;
    }

    /// Lets the thread run to the next stop at the begin or the end of a system call.
    fn run_to_call_stop(&mut self) -> Result<(), InjectError> {
        let failed = |errno| InjectError::of(self.tid, errno);
        for _ in 0..PATIENCE {
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
                Status::Stopped { signal, .. } => self.strays.push(signal),
            }
        }
        Err(InjectError::Restless(self.tid))
    }

    /// Takes the thread to the stop of a system call. Which call it is, and all the rest, its registers say.
    fn enter_call(&mut self, stop: CallStop) -> Result<(), InjectError> {
        let registers = user_regs_struct {
            rip: self.scratch,
            // No call at all: nothing is done if it comes to its end.
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

    /// Puts everything back where the thread now is.
    fn put_back(&mut self) -> Result<(), Errno> {
        ptrace::setregs(self.tid, self.registers)?;
        raw::set_signal_mask(self.tid, self.mask)?;
        if let Some(stop) = &self.stop {
            raw::set_signal_info(self.tid, stop)?;
        }
        for signal in self.strays.drain(..) {
            raw::send(self.tid, signal)?;
        }
        // The kernel looks whether a call is to be started again only if something else than the call has come
        // up. It had, and was taken away with the stop: this is something again.
        if self.call_stop == Some(CallStop::Exit)
            && self.registers.orig_rax as i64 >= 0
            && RESTARTS.contains(&(self.registers.rax as i64))
        {
            ptrace::interrupt(self.tid)?;
        }
        Ok(())
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // Only reached with something to give back after a failure, which has been told already.
        let _ = self.give_back();
    }
}

/// Brings a stopped thread to a stop at the edge of user space, if it is not at one: what it returns to then is
/// in its registers. In a stop in the middle of a system call (after a clone, say) the kernel would write
/// the result of the call over what we set. Gives what the thread tells of the stop it is now in.
fn settle(tid: Pid) -> Result<Option<SignalInfo>, InjectError> {
    let stop = match raw::signal_info(tid) {
        Ok(stop) => stop,
        // A stop of the group, of a thread that was not seized.
        Err(Errno::EINVAL) => return Ok(None),
        Err(errno) => return Err(InjectError::of(tid, errno)),
    };
    let code = stop.code();
    let event = if code > 0 { code >> 8 } else { 0 };
    // A stop of a system call whose tracer did not ask to be told which it is.
    let in_system_call = event == 0 && stop.signal() == libc::SIGTRAP && code == libc::SIGTRAP;
    match event {
        libc::PTRACE_EVENT_EXIT => return Err(InjectError::Leaving(tid)),
        libc::PTRACE_EVENT_VFORK => return Err(InjectError::Vfork(tid)),
        libc::PTRACE_EVENT_STOP => return Ok(Some(stop)),
        0 if !in_system_call => return Ok(Some(stop)),
        _ => {}
    }
    ptrace::interrupt(tid).map_err(|errno| InjectError::of(tid, errno))?;
    for _ in 0..PATIENCE {
        ptrace::cont(tid, None).map_err(|errno| InjectError::of(tid, errno))?;
        match raw::wait(tid).map_err(|errno| InjectError::of(tid, errno))? {
            Status::Ended => return Err(InjectError::Ended(tid)),
            Status::Stopped { event: libc::PTRACE_EVENT_EXIT, .. } => return Err(InjectError::Leaving(tid)),
            Status::Stopped { event: libc::PTRACE_EVENT_STOP, .. } => {
                return raw::signal_info(tid).map(Some).map_err(|errno| InjectError::of(tid, errno));
            }
            Status::Stopped { .. } => {}
        }
    }
    Err(InjectError::Restless(tid))
}
