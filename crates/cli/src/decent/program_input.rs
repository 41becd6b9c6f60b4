//! Live programs as inputs: their events are the observations of a component.
//!
//! Only one thread can control a program. It sends the events to the input, which groups them into rounds on another thread.
//! The channel between the two is bounded, so that a program does not run far ahead of its monitors.

use super::peers::STOPPED;
use crate::interrupt::InterruptFlag;
use crate::remote::split_words;
use crate::{CliError, SUBJECT_FAILED};
use invigil_lab::inputs::{self, EventMapping, Observation, ObservationInput, RoundCollector};
use invigil_monitor::event::{EventCatalog, EventId, EventSet};
use invigil_native::NativeTarget;
use invigil_target::stream::Stream;
use invigil_target::{Interrupter, ResumeMode, StopReason, Target, TargetError, TargetResult, Termination};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Capacity of the channel: how many events a program may be ahead.
const MAX_PENDING_EVENTS: usize = 1024;
/// How often Ctrl-C is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What ends a round.
pub(super) enum RoundEnd {
    /// The event with this name.
    Marked(String),
    /// The end of this duration.
    Every(Duration),
}

/// Adds a duration to an instant; on overflow, adds a year.
fn later(moment: Instant, by: Duration) -> Instant {
    moment.checked_add(by).unwrap_or_else(|| moment + Duration::from_secs(365 * 24 * 60 * 60))
}

/// Message of the thread that controls a program.
enum ProgramMessage {
    Happened(EventId),
    Ended(Termination),
    Failed(String),
}

/// Input from a live program.
pub(super) struct ProgramInput {
    /// Name of the component, for messages.
    name: String,
    /// `None` after the input has been closed.
    receiver: Option<Receiver<ProgramMessage>>,
    interrupter: Box<dyn Interrupter>,
    thread: Option<JoinHandle<()>>,
    round: RoundCollector,
    round_end: RoundEnd,
    wait: Duration,
    /// End of the current round, if rounds have a duration.
    deadline: Option<Instant>,
    ended: Option<Termination>,
    interrupt: InterruptFlag,
}

impl ProgramInput {
    /// Starts a program, which stays stopped before its first instruction until the thread resumes it.
    pub(super) fn start(
        name: &str,
        command: &str,
        mapping: &EventMapping,
        round_end: RoundEnd,
        wait: Duration,
        interrupt: InterruptFlag,
    ) -> Result<ProgramInput, CliError> {
        let command = match split_words(command) {
            Ok(arguments) if !arguments.is_empty() => arguments,
            Ok(_) => return Err(CliError::new(format_args!("{name}: name the program to run"))),
            Err(open) => {
                return Err(CliError::new(format_args!("{name}: unclosed {open} in `{command}`")));
            }
        };
        let (catalog, round) = (mapping.catalog().clone(), mapping.collector());
        let (sender, receiver) = mpsc::sync_channel(MAX_PENDING_EVENTS);
        let (ready_sender, ready) = mpsc::channel();
        let failed = |error: String| CliError {
            status: SUBJECT_FAILED,
            ..CliError::new(format_args!("{name}: {error}"))
        };
        let thread =
            thread::Builder::new().spawn(move || control(&command, &catalog, &ready_sender, &sender));
        let thread = thread.map_err(|error| failed(format!("cannot start a thread: {error}")))?;
        let interrupter = match ready.recv() {
            Ok(Ok(interrupter)) => interrupter,
            Ok(Err(error)) => return Err(failed(error)),
            Err(_) => {
                return Err(failed(
                    "internal error while starting the program; please report this".to_owned(),
                ));
            }
        };
        Ok(ProgramInput {
            name: name.to_owned(),
            receiver: Some(receiver),
            interrupter,
            thread: Some(thread),
            round,
            round_end,
            wait,
            deadline: None,
            ended: None,
            interrupt,
        })
    }

    /// The instant at which the round ends or times out.
    fn deadline(&mut self) -> Instant {
        let now = Instant::now();
        match self.round_end {
            RoundEnd::Marked(_) => later(now, self.wait),
            RoundEnd::Every(step) => {
                let deadline = later(self.deadline.unwrap_or(now), step);
                self.deadline = Some(deadline);
                deadline
            }
        }
    }

    /// Waits until the round ends. Returns false if the program has ended and no observation is left.
    fn wait(&mut self) -> Result<bool, String> {
        let deadline = self.deadline();
        let mut late_events = 0;
        loop {
            let Some(receiver) = self.receiver.as_ref().filter(|_| self.ended.is_none()) else {
                return Ok(false);
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if self.interrupt.is_set() {
                return Err(STOPPED.to_owned());
            }
            if left.is_zero() {
                match &self.round_end {
                    // Pending events belong to the round, up to a limit: a busy program would never end it.
                    RoundEnd::Every(_) if late_events > MAX_PENDING_EVENTS => return Ok(true),
                    RoundEnd::Every(_) => late_events += 1,
                    RoundEnd::Marked(mark) => return Err(self.overdue(mark)),
                }
            }
            match receiver.recv_timeout(left.min(POLL_INTERVAL)) {
                Ok(ProgramMessage::Happened(event)) => {
                    if self.round.record(event) && matches!(self.round_end, RoundEnd::Marked(_)) {
                        return Ok(true);
                    }
                }
                Ok(ProgramMessage::Ended(ending)) => {
                    self.ended = Some(ending);
                    // The last events form a final round.
                    return Ok(!self.round.is_empty());
                }
                Ok(ProgramMessage::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Ok(true),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(
                        "internal error: the controlling thread has ended; please report this".to_owned()
                    );
                }
            }
        }
    }

    fn overdue(&self, mark: &str) -> String {
        format!(
            "the program did not reach `{mark}` within {} s, so the round does not end; wait longer with \
             `--wait SECONDS`, or end rounds by time with `--step 1s`",
            self.wait.as_secs_f64()
        )
    }
}

impl ObservationInput for ProgramInput {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, inputs::ObservationError> {
        let has_more = self.wait().map_err(|error| inputs::ObservationError::new(&self.name, error))?;
        if has_more {
            self.round.take(seen);
        }
        Ok(has_more)
    }

    fn ending(&self) -> Option<String> {
        self.ended.as_ref().map(|ending| format!("the program has ended: {ending}"))
    }
}

impl Drop for ProgramInput {
    /// Terminates the program.
    fn drop(&mut self) {
        self.receiver = None;
        if self.ended.is_none() {
            self.interrupter.interrupt();
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the thread no longer matters.
            let _ = thread.join();
        }
    }
}

/// Body of the thread that controls a program.
fn control(
    command: &[String],
    catalog: &EventCatalog,
    ready: &Sender<Result<Box<dyn Interrupter>, String>>,
    sender: &SyncSender<ProgramMessage>,
) {
    let mut target = match start_instrumented(command, catalog) {
        Ok(target) => target,
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    if ready.send(Ok(target.interrupter())).is_ok() {
        let last = run(&mut *target, sender);
        // The input may have been closed.
        let _ = last.map(|last| sender.send(last));
    }
    if target.is_alive() {
        // An error is harmless: the program may have exited in the meantime.
        let _ = target.kill();
    }
}

/// Runs a program and sends its events until it ends or the input is closed.
fn run(target: &mut dyn Target, sender: &SyncSender<ProgramMessage>) -> Option<ProgramMessage> {
    loop {
        match target.resume(&ResumeMode::Continue) {
            Ok(StopReason::Events) => {
                let events = target.events();
                for at in 0..events.len() {
                    sender.send(ProgramMessage::Happened(events.event(at).id)).ok()?;
                }
            }
            Ok(StopReason::Interrupted) => return None,
            Ok(StopReason::Ended(ending)) | Err(TargetError::Ended(ending)) => {
                return Some(ProgramMessage::Ended(ending));
            }
            // A signal is delivered when the program resumes.
            Ok(StopReason::Signal { .. } | StopReason::Breakpoints { .. } | StopReason::Stepped { .. }) => {}
            Err(error) => return Some(ProgramMessage::Failed(error.to_string())),
        }
    }
}

/// Starts a program and instruments all events.
fn start_instrumented(command: &[String], catalog: &EventCatalog) -> Result<Box<dyn Target>, String> {
    let mut target = start(command).map_err(|error| error.to_string())?;
    let mut needs = EventSet::default();
    catalog.iter().for_each(|(event, _)| needs.insert(event));
    let ready = target.prepare(catalog).map_err(|error| error.to_string()).and_then(|unknown| {
        let reported: Vec<String> = unknown.iter().map(|it| format!("{}; {}", it.reason, it.help)).collect();
        if reported.is_empty() { Ok(()) } else { Err(reported.join("\n")) }
    });
    match ready.and_then(|()| target.instrument(&needs).map_err(|error| error.to_string())) {
        Ok(()) => Ok(target),
        Err(error) => {
            let _ = target.kill();
            Err(error)
        }
    }
}

/// Starts a program. Its output goes to standard error, because standard output is for the report.
fn start(command: &[String]) -> TargetResult<Box<dyn Target>> {
    let (program, arguments) =
        command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let stderr = io::stderr().as_fd().try_clone_to_owned();
    let stdout = stderr
        .map(Stream::File)
        .map_err(|error| TargetError::Control(format!("cannot duplicate standard error: {error}")))?;
    if invigil_jvm::is_java(Path::new(program)) {
        let mut launch = invigil_jvm::Launch::new(program).args(arguments);
        (launch.stdin, launch.stdout, launch.no_stepping) = (Stream::Null, stdout, true);
        return Ok(Box::new(invigil_jvm::JavaTarget::launch(&launch)?));
    }
    let mut launch = invigil_native::Launch::new(program).args(arguments);
    (launch.stdin, launch.stdout) = (Stream::Null, stdout);
    Ok(Box::new(NativeTarget::launch(&launch)?))
}
