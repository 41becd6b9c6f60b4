//! Bringing the agent into a virtual machine that runs, as the machine's own tools do: a file says that somebody wants to
//! talk, a signal makes the machine look for it, and then it listens at a socket.

use crate::library::library;
use crate::link::Door;
use invigil_session::subject::{Done, Trouble};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// So long may a machine take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
const NAP: Duration = Duration::from_millis(10);

/// Whether a process is a Java virtual machine. Others must not get its signal, which would end them.
pub fn is_machine(process: i32) -> bool {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    maps.lines().any(|line| line.ends_with("/libjvm.so"))
}

fn refused(process: i32, words: impl std::fmt::Display) -> Trouble {
    Trouble::Subject(format!("cannot attach to {process}: {words}"))
}

/// The number that a process has in its own container.
fn inner_number(process: i32) -> i32 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    line.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok()).unwrap_or(process)
}

/// Has a machine load the agent, which will knock at the door.
pub(crate) fn load_agent(process: i32, door: &Door) -> Done {
    if !Path::new(&format!("/proc/{process}")).exists() {
        return Err(Trouble::Subject(format!("cannot attach: there is no process {process}")));
    }
    if !is_machine(process) {
        return Err(refused(process, "it is no Java virtual machine, or another user's"));
    }
    let library = library()?;
    let mut stream = connect(process)?;
    let mut request = b"1\0load\0".to_vec();
    for word in
        [library.as_os_str().as_encoded_bytes(), b"true", format!("a:{}", door.path().display()).as_bytes()]
    {
        request.extend_from_slice(word);
        request.push(0);
    }
    let mut answer = String::new();
    let talked = stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.write_all(&request))
        .and_then(|()| stream.read_to_string(&mut answer));
    talked.map_err(|error| refused(process, error))?;
    // The first line says whether the command was understood, the second what the agent answered.
    let mut lines = answer.lines();
    let understood = lines.next() == Some("0");
    let loaded = lines.next().is_none_or(|line| line.rsplit(':').next().map(str::trim) == Some("0"));
    if understood && loaded {
        return Ok(());
    }
    let words = answer.split_once('\n').map_or(answer.as_str(), |(_, rest)| rest).trim();
    Err(refused(process, format_args!("the virtual machine does not load the agent: {words}")))
}

/// The machine's socket, which it opens when it is asked to.
fn connect(process: i32) -> Done<UnixStream> {
    let number = inner_number(process);
    let socket = PathBuf::from(format!("/proc/{process}/root/tmp/.java_pid{number}"));
    if !is_socket(&socket) {
        let wish = wish(process, number)?;
        let asked = kill(Pid::from_raw(process), Signal::SIGQUIT);
        let until = Instant::now() + PATIENCE;
        while asked.is_ok() && !is_socket(&socket) && Instant::now() < until {
            thread::sleep(NAP);
        }
        // It is only for this moment.
        let _ = fs::remove_file(&wish);
        asked.map_err(|error| refused(process, error))?;
        if !is_socket(&socket) {
            return Err(refused(
                process,
                "the virtual machine does not answer; was it started with -XX:+DisableAttachMechanism, or does it stand still?",
            ));
        }
    }
    UnixStream::connect(&socket).map_err(|error| refused(process, error))
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.file_type().is_socket())
}

/// Makes the file that says that somebody wants to talk.
fn wish(process: i32, number: i32) -> Done<PathBuf> {
    let owner = fs::metadata(format!("/proc/{process}")).map_err(|error| refused(process, error))?.uid();
    if owner != nix::unistd::geteuid().as_raw() && !nix::unistd::geteuid().is_root() {
        return Err(refused(process, "it belongs to another user"));
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
    Err(refused(process, "no file can be made where the virtual machine looks for it"))
}
