//! Peers that send the observations of components over sockets.

use crate::interrupt::{InterruptFlag, POLL_INTERVAL};
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED};
use invigil_decent::system::{ComponentId, System};
use invigil_decent::text;
use invigil_lab::inputs::{self, LineInput, Observation, ObservationInput};
use invigil_mac::{Channel, WaitPolicy};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Input from a peer.
pub(super) struct PeerInput {
    lines: LineInput,
    /// Whether the peer has closed the connection.
    is_over: bool,
}

impl ObservationInput for PeerInput {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, inputs::ObservationError> {
        let has_more = self.lines.next(seen)?;
        self.is_over = !has_more;
        Ok(has_more)
    }

    fn ending(&self) -> Option<String> {
        self.is_over.then(|| "the peer closed the connection".to_owned())
    }
}

/// Waits for one peer at each socket, concurrently.
pub(super) fn wait(
    sockets: &[(ComponentId, Channel)],
    system: &System,
    wait: Duration,
    interrupt: &InterruptFlag,
    terminal: &Terminal,
) -> Result<Vec<(ComponentId, PeerInput)>, CliError> {
    let (since, stop_waiting) = (Instant::now(), AtomicBool::new(false));
    let notify = |message: &str| terminal.eprint(message);
    let open = |channel: &Channel| {
        let was_stopped = Cell::new(false);
        let stop = || {
            let stops = interrupt.is_set() || since.elapsed() >= wait || stop_waiting.load(Ordering::Relaxed);
            was_stopped.set(stops);
            stops
        };
        // If one socket cannot be opened, the others stop waiting.
        let opened = channel.open(&WaitPolicy { timeout: wait, stop: &stop, notify: &notify });
        opened.map_err(|message| {
            stop_waiting.store(true, Ordering::Relaxed);
            (!was_stopped.get()).then_some(message)
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
        return Err(CliError { status: INTERRUPTED, ..CliError::new(STOPPED) });
    }
    let system = Arc::new(system.clone());
    let mut peers = Vec::new();
    let mut errors: Vec<String> = Vec::new();
    for ((id, channel), opened) in sockets.iter().zip(opened) {
        let name = system.component_name(*id);
        match opened {
            Ok(Ok(connection)) => {
                let from = TimedReader {
                    file: connection.into_file(),
                    wait,
                    since: None,
                    interrupt: interrupt.clone(),
                };
                let lines = text::LineReader::new(*id, name, BufReader::new(from)).from_peer();
                peers.push((
                    *id,
                    PeerInput { lines: LineInput::new(lines, Arc::clone(&system)), is_over: false },
                ));
            }
            Ok(Err(Some(message))) => errors.insert(0, format!("{name}: {message}")),
            Ok(Err(None)) => errors.push(format!(
                "{name}: no connection to {channel} within {} s; wait longer with `--wait SECONDS`",
                wait.as_secs_f64()
            )),
            Err(_) => {
                errors.push(format!("{name}: internal error while waiting for {channel}; please report this"))
            }
        }
    }
    // The first message is the cause; sockets that stopped waiting are consequences.
    errors.first().map_or(Ok(peers), |message| Err(CliError::new(message)))
}

/// Message after Ctrl-C.
pub(super) const STOPPED: &str = "stopped";

/// Reader with a time-out for each line of a peer.
struct TimedReader {
    file: File,
    wait: Duration,
    /// When waiting for the current line started.
    since: Option<Instant>,
    interrupt: InterruptFlag,
}

impl Read for TimedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let since = *self.since.get_or_insert_with(Instant::now);
        loop {
            if self.interrupt.is_set() {
                return Err(io::Error::other(STOPPED));
            }
            let remaining = self.wait.saturating_sub(since.elapsed());
            if remaining.is_zero() {
                let message = format!(
                    "no complete line within {} s (a round without observations is an empty line); wait longer with \
                     `--wait SECONDS`",
                    self.wait.as_secs_f64()
                );
                return Err(io::Error::new(ErrorKind::TimedOut, message));
            }
            let timeout = Timespec::try_from(remaining).map_or(POLL_INTERVAL, |time| time.min(POLL_INTERVAL));
            let mut waiting = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut waiting, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                _ => {
                    let read = self.file.read(buffer)?;
                    // A complete line: the time-out restarts when the next one is requested.
                    if buffer[..read].contains(&b'\n') {
                        self.since = None;
                    }
                    return Ok(read);
                }
            }
        }
    }
}
