//! The terminal that the target shares with the debugger.

use invigil_cockpit::Console;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, getpid, tcgetpgrp, tcsetpgrp};
use std::fs;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Modes and foreground process group of a terminal.
#[derive(Clone, PartialEq)]
struct TtyState {
    modes: Termios,
    /// The process group that reads from it.
    foreground: Pid,
}

struct TtyStates {
    debugger_state: TtyState,
    /// The state that the target has set, if it differs from that of the debugger.
    target_state: Option<TtyState>,
}

/// The terminal at standard input, with the states of debugger and target.
#[derive(Clone)]
pub(crate) struct Tty(Arc<Mutex<TtyStates>>);

impl Tty {
    /// Saves the state of the terminal, if standard input is one and this process group is in the foreground.
    pub(super) fn take() -> Option<Tty> {
        if !io::stdin().is_terminal() {
            return None;
        }
        let debugger_state = read()?;
        (debugger_state.foreground == getpgrp())
            .then(|| Tty(Arc::new(Mutex::new(TtyStates { debugger_state, target_state: None }))))
    }

    fn states(&self) -> MutexGuard<'_, TtyStates> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Console for Tty {
    fn give_to_program(&self) {
        if let Some(target_state) = &self.states().target_state
            && read().is_some_and(|now| now.foreground == getpgrp())
        {
            write(target_state);
        }
    }

    fn take_back(&self) {
        let mut states = self.states();
        let Some(now) = read() else { return };
        if now == states.debugger_state {
            states.target_state = None;
        } else if is_own_or_descendant(now.foreground) {
            write(&states.debugger_state);
            states.target_state = Some(now);
        }
    }

    fn reset(&self) {
        self.states().target_state = None;
    }
}

/// Restores the debugger's terminal state when it is dropped.
pub(crate) struct TerminalGuard(pub(super) Option<Tty>);

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        if let Some(tty) = &self.0 {
            tty.take_back();
        }
    }
}

fn read() -> Option<TtyState> {
    let modes = tcgetattr(io::stdin()).ok()?;
    Some(TtyState { modes, foreground: tcgetpgrp(io::stdin()).ok()? })
}

/// Sets the state of the terminal, even from the background.
fn write(settings: &TtyState) {
    // SIGTTOU would stop a background process here. It is blocked only during the call, because a program that is
    // started later inherits the mask.
    let mut stopping = SigSet::empty();
    stopping.add(Signal::SIGTTOU);
    let Ok(before) = stopping.thread_swap_mask(SigmaskHow::SIG_BLOCK) else { return };
    // Errors are harmless: the process group or the terminal may no longer exist.
    let _ = tcsetpgrp(io::stdin(), settings.foreground);
    let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &settings.modes);
    let _ = before.thread_set_mask();
}

/// Whether a foreground process group belongs to the debugger or the target: it is that of the debugger, its leader descends
/// from the debugger, or its leader has exited. Any other group has taken the terminal while the debugger is in the background.
fn is_own_or_descendant(group: Pid) -> bool {
    if group == getpgrp() {
        return true;
    }
    let mut process = group;
    while process.as_raw() > 1 {
        if process == getpid() {
            return true;
        }
        match parent(process) {
            Some(parent) => process = parent,
            None => return true,
        }
    }
    false
}

fn parent(process: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The process name before it is in parentheses and may contain any character.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().map(Pid::from_raw)
}
