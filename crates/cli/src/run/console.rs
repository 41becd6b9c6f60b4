//! The terminal that the program and we share.

use invigil_cockpit::Console;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, getpid, tcgetpgrp, tcsetpgrp};
use std::fs;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a terminal is set, and whose it is.
#[derive(Clone, PartialEq)]
struct Settings {
    modes: Termios,
    /// The process group that reads from it.
    foreground: Pid,
}

struct Kept {
    ours: Settings,
    /// What the program made of it.
    theirs: Option<Settings>,
}

/// The terminal at standard input.
#[derive(Clone)]
pub(crate) struct Tty(Arc<Mutex<Kept>>);

impl Tty {
    /// Remembers how the terminal is, if there is one and it is ours.
    pub(super) fn take() -> Option<Tty> {
        if !io::stdin().is_terminal() {
            return None;
        }
        let ours = read()?;
        (ours.foreground == getpgrp()).then(|| Tty(Arc::new(Mutex::new(Kept { ours, theirs: None }))))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Console for Tty {
    fn theirs(&self) {
        if let Some(theirs) = &self.kept().theirs
            && read().is_some_and(|now| now.foreground == getpgrp())
        {
            write(theirs);
        }
    }

    fn ours(&self) {
        let mut kept = self.kept();
        let Some(now) = read() else { return };
        if now == kept.ours {
            kept.theirs = None;
        } else if is_from_here(now.foreground) {
            write(&kept.ours);
            kept.theirs = Some(now);
        }
    }

    fn forget(&self) {
        self.kept().theirs = None;
    }
}

/// Gives the terminal back when it is dropped.
pub(crate) struct Restored(pub(super) Option<Tty>);

impl Drop for Restored {
    fn drop(&mut self) {
        if let Some(tty) = &self.0 {
            tty.ours();
        }
    }
}

fn read() -> Option<Settings> {
    let modes = tcgetattr(io::stdin()).ok()?;
    Some(Settings { modes, foreground: tcgetpgrp(io::stdin()).ok()? })
}

/// Sets the terminal, be it ours at the moment or not.
fn write(settings: &Settings) {
    // Who is not in the foreground is stopped for this, unless the signal is blocked. The program must not
    // inherit that, so it is for this moment only.
    let mut stopping = SigSet::empty();
    stopping.add(Signal::SIGTTOU);
    let Ok(before) = stopping.thread_swap_mask(SigmaskHow::SIG_BLOCK) else { return };
    // A group that is gone cannot have it, and a terminal that is gone needs nothing.
    let _ = tcsetpgrp(io::stdin(), settings.foreground);
    let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &settings.modes);
    let _ = before.thread_set_mask();
}

/// Whether a group in the foreground came there through the program: it is ours, it descends from us, or its first
/// process is gone. Any other is of someone who took the terminal while we are in the background.
fn is_from_here(group: Pid) -> bool {
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
    // The name before it stands in parentheses, and may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().map(Pid::from_raw)
}
