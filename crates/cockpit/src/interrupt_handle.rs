//! Interrupting the target or a search with Ctrl-C.

use invigil_target::Interrupter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Handle that interrupts whatever is running, a target or a search. The signal handler of Ctrl-C holds a clone.
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

    /// Interrupts the target if it is running. Returns whether it was running. In either case,
    /// [`was_interrupted`](Self::was_interrupted) is true until the next run starts.
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

    /// Interrupts the target and ends the prompt, which reads no further commands.
    pub fn request_exit(&self) {
        self.state().is_exit_requested = true;
        self.interrupt();
    }

    /// Whether an exit was requested.
    pub fn is_exit_requested(&self) -> bool {
        self.state().is_exit_requested
    }

    /// Whether an interrupt has arrived since the target or search was last started.
    pub fn was_interrupted(&self) -> bool {
        self.state().was_interrupted
    }

    /// Sets the interrupter of the current target.
    pub fn set_interrupter(&self, interrupter: Box<dyn Interrupter>) {
        self.state().interrupter = Some(interrupter);
    }

    /// Runs `work`; meanwhile [`interrupt`](Self::interrupt) reaches the target or search.
    pub fn while_running<T>(&self, work: impl FnOnce() -> T) -> T {
        {
            let mut state = self.state();
            (state.is_running, state.was_interrupted) = (true, false);
        }
        let result = work();
        self.state().is_running = false;
        result
    }
}
