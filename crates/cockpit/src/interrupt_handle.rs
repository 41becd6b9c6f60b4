//! Interrupting the target or a search with Ctrl-C.

use invigil_session::target::Interrupter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Handle that interrupts a running target. The signal handler of Ctrl-C holds a clone.
#[derive(Clone, Default)]
pub struct InterruptHandle(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    interrupter: Option<Box<dyn Interrupter>>,
    is_running: bool,
    was_interrupted: bool,
    is_exit_requested: bool,
}

impl InterruptHandle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Interrupts the target if it runs, and returns whether it does.
    pub fn interrupt(&self) -> bool {
        let mut state = self.state();
        state.was_interrupted = true;
        if state.is_running
            && let Some(interrupter) = &state.interrupter
        {
            interrupter.interrupt();
        }
        state.is_running
    }

    /// Interrupts the target and ends the prompt: no further commands are read.
    pub fn request_exit(&self) {
        self.state().is_exit_requested = true;
        self.interrupt();
    }

    /// Whether an exit was requested.
    pub fn is_exit_requested(&self) -> bool {
        self.state().is_exit_requested
    }

    /// Whether an interrupt arrived since the target was last resumed.
    pub fn was_interrupted(&self) -> bool {
        self.state().was_interrupted
    }

    /// Directs interrupts to this target from now on.
    pub fn attach(&self, interrupter: Box<dyn Interrupter>) {
        self.state().interrupter = Some(interrupter);
    }

    /// Runs `work`, during which interrupts are passed to the target.
    pub fn while_running<T>(&self, work: impl FnOnce() -> T) -> T {
        {
            let mut state = self.state();
            (state.is_running, state.was_interrupted) = (true, false);
        }
        let done = work();
        self.state().is_running = false;
        done
    }
}
