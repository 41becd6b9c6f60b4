//! Interrupting the program, ending it, and letting it go.

use super::Target;
use crate::engine::{Engine, signal_name};
use crate::sys::{self, Tid};
use invigil_session::subject::{Done, Ending, Interrupter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

impl Target {
    /// Something that can stop the program from another thread.
    pub(crate) fn interrupter(&self) -> Interrupt {
        Interrupt { flag: Arc::clone(&self.engine.interrupted), process: Arc::clone(&self.process) }
    }

    /// Ends the program, and every copy of it.
    pub(crate) fn kill(&mut self) -> Done {
        self.kept.clear();
        if self.ended.is_none() {
            self.release_foreigners();
            let _ = sys::kill(self.engine.process, libc::SIGKILL);
            while let Some((tid, status)) = sys::wait(-1, true).ok().flatten() {
                if tid == self.engine.process && status.is_gone() {
                    self.ended = Some(Engine::ending(status));
                    break;
                }
                if !status.is_gone() {
                    let _ = sys::go(tid, sys::Go::On, 0);
                }
            }
            self.engine.tasks.clear();
            let killed = || Ending::Killed { signal: signal_name(libc::SIGKILL), core: false };
            self.ended.get_or_insert_with(killed);
        }
        self.affinity.free_all();
        Ok(())
    }

    /// Processes that share the program's memory are others' business: they go on without us and our traps.
    fn release_foreigners(&mut self) {
        let all: Vec<Tid> =
            self.engine.tasks.values().filter(|task| task.foreign).map(|task| task.tid).collect();
        if all.is_empty() || self.engine.hold().is_err() {
            return;
        }
        self.engine.sites.remove_from(&self.engine.memory);
        for tid in all {
            self.engine.leave(tid, false);
        }
    }

    /// Lets the program run on without us.
    pub(crate) fn detach(&mut self) -> Done {
        if self.ended.is_some() {
            return Ok(());
        }
        self.affinity.free_all();
        self.engine.hold()?;
        self.disarm_all();
        self.unprotect_all()?;
        self.move_library_out()?;
        self.engine.sites.remove_from(&self.engine.memory);
        let interrupted = self.engine.interrupted.swap(false, Ordering::SeqCst);
        for tid in self.engine.tasks.keys().copied().collect::<Vec<_>>() {
            self.engine.leave(tid, interrupted);
        }
        if interrupted {
            // The request may not have been seen yet: it must not stop a program that nobody watches.
            let _ = sys::kill(self.engine.process, libc::SIGCONT);
        }
        self.engine.tasks.clear();
        self.kept.clear();
        self.ended = Some(Ending::Detached);
        Ok(())
    }

    pub(crate) fn moved_to(&mut self, process: Tid) {
        self.process.store(process, Ordering::SeqCst);
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // No process is left behind that nobody knows of: ours ends, another's goes on.
        let _ = if self.launched { self.kill() } else { self.detach() };
    }
}

/// Stops the program from anywhere, a signal handler included.
#[derive(Clone)]
pub(crate) struct Interrupt {
    flag: Arc<AtomicBool>,
    process: Arc<AtomicI32>,
}

impl Interrupter for Interrupt {
    fn interrupt(&self) {
        if !self.flag.swap(true, Ordering::SeqCst) {
            let _ = sys::kill(self.process.load(Ordering::SeqCst), libc::SIGSTOP);
        }
    }
}
