//! Ctrl-C while the program runs.

use invigil_session::subject::Interrupter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stops the program when it is rung. Whoever listens to Ctrl-C has a copy.
#[derive(Clone, Default)]
pub struct Bell(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    interrupter: Option<Box<dyn Interrupter>>,
    is_running: bool,
    was_rung: bool,
    is_leaving: bool,
}

impl Bell {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the program stop if it runs; says whether it does.
    pub fn ring(&self) -> bool {
        let mut state = self.state();
        state.was_rung = true;
        if state.is_running
            && let Some(interrupter) = &state.interrupter
        {
            interrupter.interrupt();
        }
        state.is_running
    }

    /// Rings, and wants everyone to leave: no more commands are asked for.
    pub fn leave(&self) {
        self.state().is_leaving = true;
        self.ring();
    }

    /// Whether everyone is to leave.
    pub fn is_leaving(&self) -> bool {
        self.state().is_leaving
    }

    /// Whether it was rung since the program was last made to run.
    pub fn was_rung(&self) -> bool {
        self.state().was_rung
    }

    /// Stops this program from now on.
    pub fn attach(&self, interrupter: Box<dyn Interrupter>) {
        self.state().interrupter = Some(interrupter);
    }

    /// Does something during which the program runs.
    pub fn running<T>(&self, work: impl FnOnce() -> T) -> T {
        {
            let mut state = self.state();
            (state.is_running, state.was_rung) = (true, false);
        }
        let done = work();
        self.state().is_running = false;
        done
    }
}
