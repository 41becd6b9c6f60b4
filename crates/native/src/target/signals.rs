//! Signals that are about to be delivered.

use super::Target;
use crate::engine::signal_name;
use crate::sys::{SignalInfo, Tid};
use invigil_session::subject::{Done, Stop};
use std::sync::atomic::Ordering;

impl Target {
    /// A signal is about to be delivered.
    pub(super) fn signal(&mut self, tid: Tid, info: SignalInfo) -> Done<Option<Stop>> {
        if info.number == libc::SIGSEGV && self.watches.is_protected(info.address) {
            return match self.engine.task(tid)?.foreign {
                true => self.touched_by_another(tid, info.address).map(|()| None),
                false => self.touched(tid, info.address),
            };
        }
        if self.engine.tasks.get(&tid).is_some_and(|task| task.foreign) {
            // A process that shares our memory, but is not our program.
            self.engine.task(tid)?.signal = info.number;
            self.engine.let_go(tid)?;
            return Ok(None);
        }
        // What the terminal sends on Ctrl-C goes to us as well, and means us.
        if info.number == libc::SIGINT && info.code == libc::SI_KERNEL {
            self.engine.interrupted.store(false, Ordering::SeqCst);
            self.current = tid;
            return self.tell(Stop::Interrupted).map(Some);
        }
        self.engine.task(tid)?.signal = info.number;
        self.current = tid;
        self.serving = Some(tid);
        if is_harmful(info.number) && !self.handles(info.number) {
            self.alert = Some(info);
        }
        if let Some(stop) = self.signal_event(tid, info)? {
            return Ok(Some(stop));
        }
        if let Some(info) = self.alert.take() {
            let stop = Stop::Signal { name: signal_name(info.number), detail: detail(info) };
            return self.tell(stop).map(Some);
        }
        self.deliver_to_closed(tid)?;
        self.go_on()?;
        Ok(None)
    }

    /// Whether the program handles a signal itself.
    pub(crate) fn handles(&self, signal: i32) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.engine.process));
        let mask = status.ok().and_then(|status| {
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            u64::from_str_radix(caught.trim(), 16).ok()
        });
        mask.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
    }
}

/// Whether a signal ends a program that does not handle it, in a way that someone will want to look at.
fn is_harmful(signal: i32) -> bool {
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP].contains(&signal)
}

/// What a signal is about, in words.
pub(super) fn detail(info: SignalInfo) -> String {
    match info.number {
        libc::SIGSEGV if info.code > 0 => format!("bad access to {:#x}", info.address),
        libc::SIGBUS if info.code > 0 => format!("bad access to {:#x}", info.address),
        libc::SIGFPE if info.code > 0 => "arithmetic error".to_owned(),
        libc::SIGILL if info.code > 0 => format!("bad instruction at {:#x}", info.address),
        libc::SIGTRAP if info.code > 0 => "a trap of the program's own".to_owned(),
        libc::SIGABRT => "the program aborts itself".to_owned(),
        _ if info.sender > 0 => format!("sent by process {}", info.sender),
        _ => String::new(),
    }
}
