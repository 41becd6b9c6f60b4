//! Loading the agent into a running virtual machine, as the JDK's own tools do: a file requests the attachment, a
//! signal makes the virtual machine look for the file, and then it listens on a socket.

use crate::connection::AgentListener;
use crate::library;
use invigil_target::{TargetError, TargetResult};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time to wait for a reply from the virtual machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Whether a process is a Java virtual machine. Other processes must not be sent the signal for attaching (SIGQUIT), which
/// would terminate them.
pub fn is_java_vm(process: i32) -> bool {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    maps.lines().any(|line| line.ends_with("/libjvm.so"))
}

fn attach_error(process: i32, message: impl std::fmt::Display) -> TargetError {
    TargetError::Control(format!("cannot attach to {process}: {message}"))
}

/// The process id in the process's own container.
fn inner_process_id(process: i32) -> i32 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    line.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok()).unwrap_or(process)
}

/// Path from which the process loaded the agent earlier; the file may no longer exist.
fn loaded_agent(process: i32) -> Option<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut paths = paths.map(|path| Path::new(path.strip_suffix(" (deleted)").unwrap_or(path)));
    paths.find(|path| path.file_name().is_some_and(|name| name == library::FILE)).map(Path::to_owned)
}

/// Makes a virtual machine load the agent, which then connects to the listener.
pub(crate) fn load_agent(process: i32, listener: &AgentListener) -> TargetResult {
    if !Path::new(&format!("/proc/{process}")).exists() {
        return Err(TargetError::Control(format!("cannot attach: there is no process {process}")));
    }
    if !is_java_vm(process) {
        return Err(attach_error(process, "it is not a Java virtual machine, or it belongs to another user"));
    }
    // A second copy of the library would be a second agent, which conflicts with the loaded one.
    let library = match (library::named_agent()?, loaded_agent(process)) {
        (None, Some(loaded)) => loaded,
        _ => listener.agent()?,
    };
    let mut stream = connect(process)?;
    let mut request = b"1\0load\0".to_vec();
    for word in [
        library.as_os_str().as_encoded_bytes(),
        b"true",
        format!("a:{}", listener.path().display()).as_bytes(),
    ] {
        request.extend_from_slice(word);
        request.push(0);
    }
    let mut answer = String::new();
    let exchanged = stream
        .set_read_timeout(Some(ANSWER_TIMEOUT))
        .and_then(|()| stream.write_all(&request))
        .and_then(|()| stream.read_to_string(&mut answer));
    exchanged.map_err(|error| attach_error(process, error))?;
    // The first line is the status of the command, the second one that of the agent.
    let mut lines = answer.lines();
    let command_succeeded = lines.next() == Some("0");
    let agent_started = lines.next().is_none_or(|line| line.rsplit(':').next().map(str::trim) == Some("0"));
    if command_succeeded && agent_started {
        return Ok(());
    }
    let message = answer.split_once('\n').map_or(answer.as_str(), |(_, rest)| rest).trim();
    Err(attach_error(process, format_args!("the virtual machine cannot load the agent: {message}")))
}

/// Connects to the virtual machine's socket, which it opens on request.
fn connect(process: i32) -> TargetResult<UnixStream> {
    let number = inner_process_id(process);
    let socket = PathBuf::from(format!("/proc/{process}/root/tmp/.java_pid{number}"));
    if !is_socket(&socket) {
        let attach_file = attach_file(process, number)?;
        let signalled = kill(Pid::from_raw(process), Signal::SIGQUIT);
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        while signalled.is_ok() && !is_socket(&socket) && Instant::now() < deadline {
            thread::sleep(POLL_INTERVAL);
        }
        // The file is needed only until the socket exists.
        let _ = fs::remove_file(&attach_file);
        signalled.map_err(|error| attach_error(process, error))?;
        if !is_socket(&socket) {
            return Err(attach_error(
                process,
                "the virtual machine does not answer; was it started with -XX:+DisableAttachMechanism, or is it stopped?",
            ));
        }
    }
    UnixStream::connect(&socket).map_err(|error| attach_error(process, error))
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.file_type().is_socket())
}

/// Creates the file that requests an attachment.
fn attach_file(process: i32, number: i32) -> TargetResult<PathBuf> {
    let owner = fs::metadata(format!("/proc/{process}")).map_err(|error| attach_error(process, error))?.uid();
    if owner != nix::unistd::geteuid().as_raw() && !nix::unistd::geteuid().is_root() {
        return Err(attach_error(process, "it belongs to another user"));
    }
    let places = [
        format!("/proc/{process}/cwd/.attach_pid{number}"),
        format!("/proc/{process}/root/tmp/.attach_pid{number}"),
    ];
    for place in places {
        if File::create(&place).is_ok() {
            return Ok(place.into());
        }
    }
    Err(attach_error(process, "cannot create a file where the virtual machine looks for attachment requests"))
}
