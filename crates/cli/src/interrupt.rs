//! Ctrl-C: the first one requests the result so far. With [`InterruptFlag::install`], the second one terminates the
//! command.

use crate::INTERRUPTED;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Flag that Ctrl-C sets.
#[derive(Clone, Default)]
pub(crate) struct InterruptFlag(Arc<AtomicBool>);

impl InterruptFlag {
    /// Installs the handler: the first Ctrl-C sets the flag, the second one terminates the command.
    pub(crate) fn install() -> InterruptFlag {
        let interrupt = InterruptFlag::default();
        // The order matters: the conditional shutdown must see the flag before the second handler sets it. If the
        // handlers cannot be installed, Ctrl-C terminates the command as it does by default.
        let _ = flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&interrupt.0))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&interrupt.0)));
        interrupt
    }

    /// Installs a handler that only sets the flag, however often Ctrl-C is pressed.
    pub(crate) fn install_without_exit() -> InterruptFlag {
        let interrupt = InterruptFlag::default();
        // If the handler cannot be installed, Ctrl-C terminates the command as it does by default.
        let _ = flag::register(SIGINT, Arc::clone(&interrupt.0));
        interrupt
    }

    /// Resets the flag and returns whether it was set.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream whose blocking reads end when the user presses Ctrl-C.
pub(crate) struct InterruptibleStream {
    file: File,
    interrupt: InterruptFlag,
}

impl InterruptibleStream {
    pub(crate) fn new(file: File, interrupt: InterruptFlag) -> InterruptibleStream {
        InterruptibleStream { file, interrupt }
    }
}

/// Interval at which a blocked read polls the flag.
pub(crate) const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

impl Read for InterruptibleStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.interrupt.is_set() {
                // An error, not the end of input: the last line may be incomplete.
                return Err(io::Error::other("stopped by the user"));
            }
            let mut waiting = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut waiting, Some(&POLL_INTERVAL)) {
                Ok(0) | Err(Errno::INTR) => {}
                // The file is ready, or it cannot be polled: read it.
                _ => return self.file.read(buffer),
            }
        }
    }
}
