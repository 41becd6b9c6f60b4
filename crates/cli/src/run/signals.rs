//! Signals during a session: Ctrl-C stops the program; SIGTERM, SIGHUP and SIGQUIT shut the session down cleanly.

use super::console::Tty;
use crate::INTERRUPTED;
use invigil_cockpit::{Console, InterruptHandle};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::time::{Duration, Instant};
use std::{fs, process, thread};

/// How long a clean shutdown may take after a signal.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a clean shutdown may take after repeated Ctrl-C.
const FORCED_EXIT_TIMEOUT: Duration = Duration::from_secs(3);
/// How often the main thread is asked to shut down.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Makes Ctrl-C stop the program. The third Ctrl-C without an effect shuts the session down, as other signals do.
pub(super) fn install(interrupt: &InterruptHandle, console: Option<Tty>) {
    // Ignored signals stay ignored, as `nohup` requires.
    let handled = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal));
    // If the handlers cannot be installed, signals terminate the command as by default.
    let Ok(mut signals) = Signals::new(handled) else { return };
    let interrupt = interrupt.clone();
    thread::spawn(move || {
        let mut unanswered = 0;
        for signal in signals.forever() {
            if signal != SIGINT {
                exit_main_thread(&interrupt, console.as_ref(), EXIT_TIMEOUT);
            }
            unanswered = if interrupt.was_interrupted() { unanswered + 1 } else { 0 };
            interrupt.interrupt();
            if unanswered >= 2 {
                exit_main_thread(&interrupt, console.as_ref(), FORCED_EXIT_TIMEOUT);
            }
        }
    });
}

/// Asks the main thread, which alone can detach from the program, to shut down. Exits when the time-out has passed.
fn exit_main_thread(interrupt: &InterruptHandle, console: Option<&Tty>, timeout: Duration) -> ! {
    let until = Instant::now() + timeout;
    while Instant::now() < until {
        // Repeatedly, because the program may be just about to run, or the prompt just about to read.
        interrupt.request_exit();
        // Wakes the prompt, which waits for a line. Signals are delivered to the main thread.
        let _ = kill_process(getpid(), Signal::INT);
        thread::sleep(RETRY_INTERVAL);
    }
    if let Some(console) = console {
        console.take_back();
    }
    process::exit(INTERRUPTED.into())
}

fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
