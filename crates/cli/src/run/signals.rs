//! Signals while a program is watched: Ctrl-C stops the program, others make us leave it in good order.

use super::console::Tty;
use crate::INTERRUPTED;
use invigil_cockpit::{Bell, Console};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::time::{Duration, Instant};
use std::{fs, process, thread};

/// How long leaving may take when a signal wants it.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same when Ctrl-C was hit again and again.
const IMPATIENCE: Duration = Duration::from_secs(3);
/// How often whoever works or waits is told to leave.
const AGAIN: Duration = Duration::from_millis(100);

/// Lets Ctrl-C stop the program. If nothing comes of it, the third one ends the command, as other signals do.
pub(super) fn listen(bell: &Bell, console: Option<Tty>) {
    // What is ignored stays so: `nohup` means it.
    let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal));
    // If the system refuses, signals end the command as ever.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let bell = bell.clone();
    thread::spawn(move || {
        let mut unheard = 0;
        for signal in signals.forever() {
            if signal != SIGINT {
                leave(&bell, console.as_ref(), PATIENCE);
            }
            unheard = if bell.was_rung() { unheard + 1 } else { 0 };
            bell.ring();
            if unheard >= 2 {
                leave(&bell, console.as_ref(), IMPATIENCE);
            }
        }
    });
}

/// Makes the main thread leave, which alone can let go of the program. It has that much time.
fn leave(bell: &Bell, console: Option<&Tty>, patience: Duration) -> ! {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        // Again and again: the program may just have been about to run, or the prompt about to read.
        bell.leave();
        // Wakes the prompt, which waits for a line. The main thread is the one that takes signals.
        let _ = kill_process(getpid(), Signal::INT);
        thread::sleep(AGAIN);
    }
    if let Some(console) = console {
        console.ours();
    }
    process::exit(INTERRUPTED.into())
}

fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
