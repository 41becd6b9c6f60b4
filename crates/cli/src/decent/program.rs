//! Live programs as peripheries: what they do is what a component observes.
//!
//! A program belongs to the thread that controls it. That thread tells its events; the periphery, which may be anywhere, makes rounds
//! of them. The channel between the two is bounded, so a program does not run far ahead of its monitors.

use super::listen::STOPPED;
use crate::interrupt::Interrupt;
use crate::remote::words;
use crate::{Trouble, UNRUNNABLE};
use invigil_lab::periphery::{self, Gathering, Meaning, Observation, Periphery};
use invigil_monitor::event::{Catalog, EventSet, SymbolId};
use invigil_native::Target;
use invigil_session::stream::Stream;
use invigil_session::subject::{self, Done, Ending, Interrupter, Resume, Stop, Subject};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How many events a program may be ahead.
const AHEAD: usize = 1024;
/// How long a wish to stop may wait.
const SOON: Duration = Duration::from_millis(100);

/// How rounds go on.
pub(super) enum Pace {
    /// A round ends with the event that was named so.
    Marked(String),
    /// A round lasts so long.
    Every(Duration),
}

/// A moment after another; one that no clock reaches is in a year.
fn later(moment: Instant, by: Duration) -> Instant {
    moment.checked_add(by).unwrap_or_else(|| moment + Duration::from_secs(365 * 24 * 60 * 60))
}

/// What the thread of a program tells.
enum Said {
    Happened(SymbolId),
    Ended(Ending),
    Failed(String),
}

/// A program that is observed.
pub(super) struct Program {
    /// Its component, for messages.
    name: String,
    /// None when nobody listens any more.
    said: Option<Receiver<Said>>,
    interrupter: Box<dyn Interrupter>,
    thread: Option<JoinHandle<()>>,
    round: Gathering,
    pace: Pace,
    wait: Duration,
    /// When the round at hand ends, if it is time that ends it.
    deadline: Option<Instant>,
    ended: Option<Ending>,
    interrupt: Interrupt,
}

impl Program {
    /// Starts a program, which then stands still before its first instruction.
    pub(super) fn start(
        name: &str,
        command: &str,
        meaning: &Meaning,
        pace: Pace,
        wait: Duration,
        interrupt: Interrupt,
    ) -> Result<Program, Trouble> {
        let command = match words(command) {
            Ok(words) if !words.is_empty() => words,
            Ok(_) => return Err(Trouble::new(format_args!("{name}: say which program to run"))),
            Err(open) => {
                return Err(Trouble::new(format_args!("{name}: a {open} in `{command}` is not closed")));
            }
        };
        let (catalog, round) = (meaning.catalog().clone(), meaning.gather());
        let (says, said) = mpsc::sync_channel(AHEAD);
        let (says_ready, ready) = mpsc::channel();
        let failed =
            |words: String| Trouble { status: UNRUNNABLE, ..Trouble::new(format_args!("{name}: {words}")) };
        let thread = thread::Builder::new().spawn(move || watch(&command, &catalog, &says_ready, &says));
        let thread = thread.map_err(|error| failed(format!("cannot start a thread: {error}")))?;
        let interrupter = match ready.recv() {
            Ok(Ok(interrupter)) => interrupter,
            Ok(Err(words)) => return Err(failed(words)),
            Err(_) => return Err(failed("the program could not be watched: please report this".to_owned())),
        };
        Ok(Program {
            name: name.to_owned(),
            said: Some(said),
            interrupter,
            thread: Some(thread),
            round,
            pace,
            wait,
            deadline: None,
            ended: None,
            interrupt,
        })
    }

    /// When the round ends: with the time, or because it takes too long.
    fn deadline(&mut self) -> Instant {
        let now = Instant::now();
        match self.pace {
            Pace::Marked(_) => later(now, self.wait),
            Pace::Every(step) => {
                let deadline = later(self.deadline.unwrap_or(now), step);
                self.deadline = Some(deadline);
                deadline
            }
        }
    }

    /// Waits until the round is over. False if nothing comes any more.
    fn wait(&mut self) -> Result<bool, String> {
        let deadline = self.deadline();
        let mut late = 0;
        loop {
            let Some(said) = self.said.as_ref().filter(|_| self.ended.is_none()) else { return Ok(false) };
            let left = deadline.saturating_duration_since(Instant::now());
            if self.interrupt.is_set() {
                return Err(STOPPED.to_owned());
            }
            if left.is_zero() {
                match &self.pace {
                    // What has happened already still belongs to the round; a busy program would never end it.
                    Pace::Every(_) if late > AHEAD => return Ok(true),
                    Pace::Every(_) => late += 1,
                    Pace::Marked(mark) => return Err(self.overdue(mark)),
                }
            }
            match said.recv_timeout(left.min(SOON)) {
                Ok(Said::Happened(symbol)) => {
                    if self.round.happen(symbol) && matches!(self.pace, Pace::Marked(_)) {
                        return Ok(true);
                    }
                }
                Ok(Said::Ended(ending)) => {
                    self.ended = Some(ending);
                    // What happened last is a round of its own.
                    return Ok(!self.round.is_empty());
                }
                Ok(Said::Failed(words)) => return Err(words),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Ok(true),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the program is not watched any more: please report this".to_owned());
                }
            }
        }
    }

    fn overdue(&self, mark: &str) -> String {
        format!(
            "the program did not come to `{mark}` within {} s, so the round does not end; wait longer with \
             `--wait SECONDS`, or end rounds by time with `--step 1s`",
            self.wait.as_secs_f64()
        )
    }
}

impl Periphery for Program {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, periphery::Trouble> {
        let has_more = self.wait().map_err(|words| periphery::Trouble::new(&self.name, words))?;
        if has_more {
            self.round.take(seen);
        }
        Ok(has_more)
    }

    fn ending(&self) -> Option<String> {
        self.ended.as_ref().map(|ending| format!("the program has ended: {ending}"))
    }
}

impl Drop for Program {
    /// Ends the program: nothing is left behind.
    fn drop(&mut self) {
        self.said = None;
        if self.ended.is_none() {
            self.interrupter.interrupt();
        }
        if let Some(thread) = self.thread.take() {
            // Whether it panicked does not matter any more.
            let _ = thread.join();
        }
    }
}

/// The life of the thread that controls a program.
fn watch(
    command: &[String],
    catalog: &Catalog,
    ready: &Sender<Result<Box<dyn Interrupter>, String>>,
    says: &SyncSender<Said>,
) {
    let mut subject = match prepared(command, catalog) {
        Ok(subject) => subject,
        Err(words) => {
            let _ = ready.send(Err(words));
            return;
        }
    };
    if ready.send(Ok(subject.interrupter())).is_ok() {
        let last = run(&mut *subject, says);
        // Whoever does not listen any more does not want to know.
        let _ = last.map(|last| says.send(last));
    }
    if subject.is_alive() {
        // It may be gone in the meantime, which is as well.
        let _ = subject.kill();
    }
}

/// Runs a program and tells what happens, until it ends or nobody listens.
fn run(subject: &mut dyn Subject, says: &SyncSender<Said>) -> Option<Said> {
    loop {
        match subject.resume(&Resume::Continue) {
            Ok(Stop::Events) => {
                let events = subject.events();
                for at in 0..events.len() {
                    says.send(Said::Happened(events.event(at).symbol)).ok()?;
                }
            }
            Ok(Stop::Interrupted) => return None,
            Ok(Stop::Ended(ending)) | Err(subject::Trouble::Ended(ending)) => {
                return Some(Said::Ended(ending));
            }
            // A signal is delivered when the program goes on.
            Ok(Stop::Signal { .. } | Stop::Points { .. } | Stop::Stepped { .. }) => {}
            Err(trouble) => return Some(Said::Failed(trouble.to_string())),
        }
    }
}

/// A program that stands still, with a point for each event.
fn prepared(command: &[String], catalog: &Catalog) -> Result<Box<dyn Subject>, String> {
    let mut subject = begin(command).map_err(|trouble| trouble.to_string())?;
    let mut needs = EventSet::default();
    catalog.iter().for_each(|(symbol, _)| needs.insert(symbol));
    let ready = subject.prepare(catalog).map_err(|trouble| trouble.to_string()).and_then(|unknown| {
        let told: Vec<String> = unknown.iter().map(|it| format!("{}; {}", it.reason, it.help)).collect();
        if told.is_empty() { Ok(()) } else { Err(told.join("\n")) }
    });
    match ready.and_then(|()| subject.instrument(&needs).map_err(|trouble| trouble.to_string())) {
        Ok(()) => Ok(subject),
        Err(words) => {
            let _ = subject.kill();
            Err(words)
        }
    }
}

/// Starts a program. What it prints goes to standard error: standard output is for the report.
fn begin(command: &[String]) -> Done<Box<dyn Subject>> {
    let (program, arguments) =
        command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let stderr = io::stderr().as_fd().try_clone_to_owned();
    let stdout = stderr
        .map(Stream::File)
        .map_err(|error| subject::Trouble::Subject(format!("standard error cannot be used: {error}")))?;
    if invigil_jvm::is_java(Path::new(program)) {
        let mut launch = invigil_jvm::Launch::new(program).args(arguments);
        (launch.stdin, launch.stdout, launch.unstepped) = (Stream::Null, stdout, true);
        return Ok(Box::new(invigil_jvm::Target::launch(&launch)?));
    }
    let mut launch = invigil_native::Launch::new(program).args(arguments);
    (launch.stdin, launch.stdout) = (Stream::Null, stdout);
    Ok(Box::new(Target::launch(&launch)?))
}
