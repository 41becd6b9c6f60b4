//! Ctrl-C: the first one asks for the result so far, the second one ends the command at once.

use crate::INTERRUPTED;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants to stop.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn listen() -> Interrupt {
        let interrupt = Interrupt::default();
        // The order matters: the first signal finds the flag unset here, and sets it there. If the system
        // refuses, Ctrl-C ends the command as ever.
        let _ = flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&interrupt.0))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&interrupt.0)));
        interrupt
    }

    /// Listens from now on, and never ends the command.
    pub(crate) fn again_and_again() -> Interrupt {
        let interrupt = Interrupt::default();
        // If the system refuses, Ctrl-C ends the command as ever.
        let _ = flag::register(SIGINT, Arc::clone(&interrupt.0));
        interrupt
    }

    /// Whether the user wanted to stop since this was last asked.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream that may be silent for long: waiting for it ends when the user wants to stop.
pub(crate) struct Stream {
    file: File,
    interrupt: Interrupt,
}

impl Stream {
    pub(crate) fn new(file: File, interrupt: Interrupt) -> Stream {
        Stream { file, interrupt }
    }
}

/// How long a wish to stop may wait for a silent stream.
pub(crate) const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.interrupt.is_set() {
                // Not the end: what is read of the last line may be half of it.
                return Err(io::Error::other("stopped by the user"));
            }
            let mut waiting = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut waiting, Some(&PATIENCE)) {
                Ok(0) | Err(Errno::INTR) => {}
                // What cannot be waited for is read at once.
                _ => return self.file.read(buffer),
            }
        }
    }
}
