//! Interrupting, killing and detaching the target.

use super::NativeTarget;
use crate::sys::{self, Tid};
use crate::tracer::{Tracer, signal_name};
use invigil_target::{Interrupter, TargetResult, Termination};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

impl NativeTarget {
    /// Returns a handle that can interrupt the target from another thread.
    pub(crate) fn interrupter(&self) -> InterruptHandle {
        InterruptHandle {
            flag: Arc::clone(&self.tracer.interrupt_requested),
            process: Arc::clone(&self.process),
        }
    }

    /// Kills the target and all checkpoints.
    pub(crate) fn kill(&mut self) -> TargetResult {
        self.checkpoints.clear();
        if self.termination.is_none() {
            self.release_foreign_processes();
            let _ = sys::kill(self.tracer.process, libc::SIGKILL);
            while let Some((tid, status)) = sys::wait(-1, true).ok().flatten() {
                if tid == self.tracer.process && status.has_exited() {
                    self.termination = Some(Tracer::termination(status));
                    break;
                }
                if !status.has_exited() {
                    let _ = sys::resume(tid, sys::ResumeRequest::Continue, 0);
                }
            }
            self.tracer.threads.clear();
            let killed = || Termination::Killed { signal: signal_name(libc::SIGKILL), core: false };
            self.termination.get_or_insert_with(killed);
        }
        self.cpu_affinity.unpin_all();
        Ok(())
    }

    /// Detaches the processes that share the target's memory; they continue without traps.
    fn release_foreign_processes(&mut self) {
        let all: Vec<Tid> = self
            .tracer
            .threads
            .values()
            .filter(|thread| thread.is_foreign_process)
            .map(|thread| thread.tid)
            .collect();
        if all.is_empty() || self.tracer.stop_all().is_err() {
            return;
        }
        self.tracer.sites.restore_original_code(&self.tracer.memory);
        for tid in all {
            self.tracer.detach_thread(tid, false);
        }
    }

    /// Detaches the target, which continues unmonitored.
    pub(crate) fn detach(&mut self) -> TargetResult {
        if self.termination.is_some() {
            return Ok(());
        }
        self.cpu_affinity.unpin_all();
        self.tracer.stop_all()?;
        self.disarm_all();
        self.unprotect_all()?;
        self.unmap_agent()?;
        self.tracer.sites.restore_original_code(&self.tracer.memory);
        let interrupted = self.tracer.interrupt_requested.swap(false, Ordering::SeqCst);
        for tid in self.tracer.threads.keys().copied().collect::<Vec<_>>() {
            self.tracer.detach_thread(tid, interrupted);
        }
        if interrupted {
            // A SIGSTOP of the debugger may still be pending; it must not stop the detached process.
            let _ = sys::kill(self.tracer.process, libc::SIGCONT);
        }
        self.tracer.threads.clear();
        self.checkpoints.clear();
        self.termination = Some(Termination::Detached);
        Ok(())
    }

    pub(crate) fn set_process(&mut self, process: Tid) {
        self.process.store(process, Ordering::SeqCst);
    }
}

impl Drop for NativeTarget {
    fn drop(&mut self) {
        // No stray process is left: a launched one is killed, an attached one is detached.
        let _ = if self.launched { self.kill() } else { self.detach() };
    }
}

/// Interrupts the target from any thread or from a signal handler.
#[derive(Clone)]
pub(crate) struct InterruptHandle {
    flag: Arc<AtomicBool>,
    process: Arc<AtomicI32>,
}

impl Interrupter for InterruptHandle {
    fn interrupt(&self) {
        if !self.flag.swap(true, Ordering::SeqCst) {
            let _ = sys::kill(self.process.load(Ordering::SeqCst), libc::SIGSTOP);
        }
    }
}
