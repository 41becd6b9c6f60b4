//! Signals that are about to be delivered.

use super::NativeTarget;
use crate::sys::{SignalInfo, Tid};
use crate::tracer::signal_name;
use invigil_target::{StopReason, TargetResult};
use std::sync::atomic::Ordering;

impl NativeTarget {
    /// Handles a signal before its delivery.
    pub(super) fn on_signal(&mut self, tid: Tid, info: SignalInfo) -> TargetResult<Option<StopReason>> {
        if info.number == libc::SIGSEGV && self.watchpoints.is_protected(info.address) {
            return match self.tracer.thread(tid)?.is_foreign_process {
                true => self.on_foreign_access(tid, info.address).map(|()| None),
                false => self.on_protected_access(tid, info.address),
            };
        }
        if self.tracer.threads.get(&tid).is_some_and(|thread| thread.is_foreign_process) {
            // A process that shares the memory, but is not the target.
            self.tracer.thread(tid)?.signal = info.number;
            self.tracer.cont(tid)?;
            return Ok(None);
        }
        // The terminal sends Ctrl-C to the debugger as well, which handles it.
        if info.number == libc::SIGINT && info.code == libc::SI_KERNEL {
            self.tracer.interrupt_requested.store(false, Ordering::SeqCst);
            self.current = tid;
            return self.stop_for_user(StopReason::Interrupted).map(Some);
        }
        self.tracer.thread(tid)?.signal = info.number;
        self.current = tid;
        self.event_thread = Some(tid);
        if is_harmful(info.number) && !self.has_handler(info.number) {
            self.pending_signal = Some(info);
        }
        if let Some(stop) = self.emit_signal_event(tid, info)? {
            return Ok(Some(stop));
        }
        if let Some(info) = self.pending_signal.take() {
            let stop = StopReason::Signal { name: signal_name(info.number), detail: detail(info) };
            return self.stop_for_user(stop).map(Some);
        }
        self.deliver_with_pages_unprotected(tid)?;
        self.resume_program()?;
        Ok(None)
    }

    /// Whether the target has a handler for a signal.
    pub(crate) fn has_handler(&self, signal: i32) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.tracer.process));
        let mask = status.ok().and_then(|status| {
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            u64::from_str_radix(caught.trim(), 16).ok()
        });
        mask.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
    }
}

/// Whether a signal kills a program without a handler for a reason that the user will want to inspect.
fn is_harmful(signal: i32) -> bool {
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP].contains(&signal)
}

/// Describes the cause of a signal.
pub(super) fn detail(info: SignalInfo) -> String {
    match info.number {
        libc::SIGSEGV if info.code > 0 => format!("bad access to {:#x}", info.address),
        libc::SIGBUS if info.code > 0 => format!("bad access to {:#x}", info.address),
        libc::SIGFPE if info.code > 0 => "arithmetic error".to_owned(),
        libc::SIGILL if info.code > 0 => format!("bad instruction at {:#x}", info.address),
        libc::SIGTRAP if info.code > 0 => "a trap instruction of the program".to_owned(),
        libc::SIGABRT => "the program aborted".to_owned(),
        _ if info.sender > 0 => format!("sent by process {}", info.sender),
        _ => String::new(),
    }
}
