//! The child process of a remote subject, which never outlives this process.

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

/// A child process with its own process group.
///
/// A supervisor thread starts the child and waits for its exit. The kernel can kill a child when the parent *thread*
/// exits; with a dedicated thread, the child dies with this process, but not when the thread that requested it exits.
pub(crate) struct ChildProcess {
    group: Pid,
    /// Whether the process has not been reaped, so that its group id is still valid.
    is_alive: Arc<Mutex<bool>>,
    status: Receiver<ExitStatus>,
    supervisor: Option<JoinHandle<()>>,
}

/// The standard streams of a child.
pub(crate) struct Streams {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

type StartResult = io::Result<(Pid, Streams)>;

/// Starts a program.
pub(crate) fn start(words: &[OsString]) -> io::Result<(ChildProcess, Streams)> {
    let mut command = prepare(words)?;
    let is_alive = Arc::new(Mutex::new(true));
    let (start_sender, started) = channel::<StartResult>();
    let (end_sender, status) = channel();
    let alive = is_alive.clone();
    let supervisor = thread::Builder::new().name("remote subject".into()).spawn(move || {
        supervise(&mut command, &start_sender, &end_sender, &alive);
    })?;
    let (group, streams) = started.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
    Ok((ChildProcess { group, is_alive, status, supervisor: Some(supervisor) }, streams))
}

fn prepare(words: &[OsString]) -> io::Result<Command> {
    let [program, arguments @ ..] = words else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
    };
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let parent = process::getpid();
    let die_with_parent = move || {
        process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have exited before the signal was set.
        if process::getppid() == Some(parent) { Ok(()) } else { Err(Errno::CHILD.into()) }
    };
    // SAFETY: between fork and exec, only two system calls are made directly; nothing is allocated and no lock is
    // taken.
    unsafe { command.pre_exec(die_with_parent) };
    Ok(command)
}

/// Starts the child and waits for its exit.
fn supervise(
    command: &mut Command,
    start_sender: &Sender<StartResult>,
    end_sender: &Sender<ExitStatus>,
    is_alive: &Mutex<bool>,
) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let _ = start_sender.send(Err(error));
            return;
        }
    };
    let group = Pid::from_child(&child);
    let reported = streams(&mut child)
        .map(|streams| start_sender.send(Ok((group, streams))))
        .is_some_and(|sent| sent.is_ok());
    if !reported {
        let _ = process::kill_process_group(group, Signal::KILL);
    }
    // The group id stays reserved until the child is reaped, so the right group is killed, here and by `shut_down`.
    let wait = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(process::waitid(WaitId::Pid(group), wait), Err(Errno::INTR)) {}
    let mut is_alive = is_alive.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = process::kill_process_group(group, Signal::KILL);
    *is_alive = false;
    if let Ok(status) = child.wait() {
        let _ = end_sender.send(status);
    }
}

fn streams(child: &mut Child) -> Option<Streams> {
    Some(Streams { stdin: child.stdin.take()?, stdout: child.stdout.take()?, stderr: child.stderr.take()? })
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.shut_down(Duration::ZERO);
    }
}

impl ChildProcess {
    /// Waits at most `grace` for the program to exit, then kills its whole process group. Returns how it exited, if it
    /// did so within that time.
    pub(crate) fn shut_down(&mut self, grace: Duration) -> Option<String> {
        let exit_status = self.status.recv_timeout(grace).ok();
        {
            let is_alive = self.is_alive.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_alive {
                let _ = process::kill_process_group(self.group, Signal::KILL);
            }
        }
        if let Some(supervisor) = self.supervisor.take() {
            let _ = supervisor.join();
        }
        exit_status.map(|status| match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "for an unknown reason".to_owned(),
        })
    }
}
