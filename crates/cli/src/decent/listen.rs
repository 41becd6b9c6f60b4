//! Peers that send what components observe.

use crate::interrupt::{Interrupt, PATIENCE};
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble};
use invigil_decent::system::{ComponentId, System};
use invigil_decent::text;
use invigil_lab::periphery::{self, Lines, Observation, Periphery};
use invigil_mac::{Channel, Waiting};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A peer, and whether it is still there.
pub(super) struct Peer {
    lines: Lines,
    is_over: bool,
}

impl Periphery for Peer {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, periphery::Trouble> {
        let has_more = self.lines.next(seen)?;
        self.is_over = !has_more;
        Ok(has_more)
    }

    fn ending(&self) -> Option<String> {
        self.is_over.then(|| "the other side went away".to_owned())
    }
}

/// Waits for a peer at each socket, at all of them at once.
pub(super) fn wait(
    sockets: &[(ComponentId, Channel)],
    system: &System,
    wait: Duration,
    interrupt: &Interrupt,
    terminal: &Terminal,
) -> Result<Vec<(ComponentId, Peer)>, Trouble> {
    let (since, gives_up) = (Instant::now(), AtomicBool::new(false));
    let tell = |words: &str| terminal.complain(words);
    let open = |channel: &Channel| {
        let was_told = Cell::new(false);
        let stop = || {
            let stops = interrupt.is_set() || since.elapsed() >= wait || gives_up.load(Ordering::Relaxed);
            was_told.set(stops);
            stops
        };
        // Where one cannot be opened the others need not wait.
        let opened = channel.open(&Waiting { patience: wait, stop: &stop, tell: &tell });
        opened.map_err(|words| {
            gives_up.store(true, Ordering::Relaxed);
            (!was_told.get()).then_some(words)
        })
    };
    let opened: Vec<_> = thread::scope(|scope| {
        let start = |(_, channel): &'_ (ComponentId, Channel)| {
            let (channel, open) = (channel.clone(), &open);
            scope.spawn(move || open(&channel))
        };
        let all: Vec<_> = sockets.iter().map(start).collect();
        all.into_iter().map(|waiting| waiting.join()).collect()
    });
    if interrupt.is_set() {
        return Err(Trouble { status: INTERRUPTED, ..Trouble::new(STOPPED) });
    }
    let system = Arc::new(system.clone());
    let mut peers = Vec::new();
    let mut wrong: Vec<String> = Vec::new();
    for ((id, channel), opened) in sockets.iter().zip(opened) {
        let name = system.component_name(*id);
        match opened {
            Ok(Ok(connection)) => {
                let from =
                    Patient { file: connection.into_file(), wait, since: None, interrupt: interrupt.clone() };
                let lines = text::Lines::new(*id, name, BufReader::new(from)).of_peer();
                peers.push((*id, Peer { lines: Lines::new(lines, Arc::clone(&system)), is_over: false }));
            }
            Ok(Err(Some(words))) => wrong.insert(0, format!("{name}: {words}")),
            Ok(Err(None)) => wrong.push(format!(
                "{name}: nobody came to {channel} within {} s; wait longer with `--wait SECONDS`",
                wait.as_secs_f64()
            )),
            Err(_) => wrong.push(format!("{name}: {channel} could not be waited for: please report this")),
        }
    }
    // Who was told to give up is not the cause, so the cause stands first.
    wrong.first().map_or(Ok(peers), |words| Err(Trouble::new(words)))
}

/// What a user is told who did not want to wait.
pub(super) const STOPPED: &str = "stopped";

/// Reads what a peer sends, a line of which may take only so long.
struct Patient {
    file: File,
    wait: Duration,
    /// Since when a line is waited for.
    since: Option<Instant>,
    interrupt: Interrupt,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let since = *self.since.get_or_insert_with(Instant::now);
        loop {
            if self.interrupt.is_set() {
                return Err(io::Error::other(STOPPED));
            }
            let left = self.wait.saturating_sub(since.elapsed());
            if left.is_zero() {
                let words = format!(
                    "no whole line came within {} s: a round without observations is an empty line; wait longer with \
                     `--wait SECONDS`",
                    self.wait.as_secs_f64()
                );
                return Err(io::Error::new(ErrorKind::TimedOut, words));
            }
            let patience = Timespec::try_from(left).map_or(PATIENCE, |left| left.min(PATIENCE));
            let mut waiting = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut waiting, Some(&patience)) {
                Ok(0) | Err(Errno::INTR) => {}
                _ => {
                    let read = self.file.read(buffer)?;
                    // A whole line is there: the next one is waited for when it is asked for.
                    if buffer[..read].contains(&b'\n') {
                        self.since = None;
                    }
                    return Ok(read);
                }
            }
        }
    }
}
