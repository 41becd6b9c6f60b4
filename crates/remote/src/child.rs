//! The program of a remote semantics: started here, and gone when we are.

use rustix::io::Errno;
use rustix::process::{self, Pid, Signal, WaitId, WaitIdOptions};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A child process with a group of its own.
///
/// A thread starts it and waits for its end. The kernel kills a child whose parent *thread* ends, if asked to; so the
/// child dies when we do, in whatever way, and not when the thread ends that happened to ask for it.
pub(crate) struct Program {
    group: Pid,
    /// Whether there is still a process of that number.
    is_there: Arc<Mutex<bool>>,
    status: Receiver<ExitStatus>,
    keeper: Option<JoinHandle<()>>,
}

/// The streams of a child.
pub(crate) struct Streams {
    pub input: ChildStdin,
    pub output: ChildStdout,
    pub errors: ChildStderr,
}

type Started = io::Result<(Pid, Streams)>;

/// Starts a program.
pub(crate) fn start(words: &[OsString]) -> io::Result<(Program, Streams)> {
    let mut command = prepared(words)?;
    let is_there = Arc::new(Mutex::new(true));
    let (tell_start, started) = channel::<Started>();
    let (tell_end, status) = channel();
    let there = is_there.clone();
    let keeper = thread::Builder::new().name("remote semantics".into()).spawn(move || {
        keep(&mut command, &tell_start, &tell_end, &there);
    })?;
    let (group, streams) = started.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
    Ok((Program { group, is_there, status, keeper: Some(keeper) }, streams))
}

fn prepared(words: &[OsString]) -> io::Result<Command> {
    let [program, arguments @ ..] = words else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
    };
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let parent = process::getpid();
    let die_with_parent = move || {
        process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have died before it could be asked for.
        if process::getppid() == Some(parent) { Ok(()) } else { Err(Errno::CHILD.into()) }
    };
    // SAFETY: between fork and exec only two system calls are made, directly; nothing is allocated and no lock taken.
    unsafe { command.pre_exec(die_with_parent) };
    Ok(command)
}

/// Starts the child and stays with it to its end.
fn keep(command: &mut Command, start: &Sender<Started>, end: &Sender<ExitStatus>, is_there: &Mutex<bool>) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let _ = start.send(Err(error));
            return;
        }
    };
    let group = Pid::from_child(&child);
    let told =
        streams(&mut child).map(|streams| start.send(Ok((group, streams)))).is_some_and(|sent| sent.is_ok());
    if !told {
        let _ = process::kill_process_group(group, Signal::KILL);
    }
    // Until it is reaped its number is nobody else's, so that the right group is killed, here and by `end`.
    let wait = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(process::waitid(WaitId::Pid(group), wait), Err(Errno::INTR)) {}
    let mut is_there = is_there.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = process::kill_process_group(group, Signal::KILL);
    *is_there = false;
    if let Ok(status) = child.wait() {
        let _ = end.send(status);
    }
}

fn streams(child: &mut Child) -> Option<Streams> {
    Some(Streams { input: child.stdin.take()?, output: child.stdout.take()?, errors: child.stderr.take()? })
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

impl Program {
    /// Waits so long for the program to end by itself, then ends it with all that it started; says how it ended, if it
    /// did so by itself.
    pub(crate) fn end(&mut self, patience: Duration) -> Option<String> {
        let by_itself = self.status.recv_timeout(patience).ok();
        {
            let is_there = self.is_there.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_there {
                let _ = process::kill_process_group(self.group, Signal::KILL);
            }
        }
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
        by_itself.map(|status| match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "for an unknown reason".to_owned(),
        })
    }
}
