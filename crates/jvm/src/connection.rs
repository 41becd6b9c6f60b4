//! The two connections to the agent.

use crate::library::{self, named_agent};
use invigil_jvm_agent::protocol::{
    self, AgentEvent, Answer, Channel, Disconnected, Greeting, MAGIC, Request, ThreadCommand, VERSION,
};
use invigil_target::{TargetError, TargetResult};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum time until the agent of a virtual machine connects.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Period of checking in the meantime whether the program still runs, in milliseconds.
const CHECK_PERIOD_MS: u16 = 50;
/// Maximum time until a connection has to send its greeting.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);

/// The socket that the agent connects to. Only this user has access to it, and dropping it removes it.
pub(crate) struct AgentListener {
    listener: UnixListener,
    /// Private directory, as this process sees it.
    folder: tempfile::TempDir,
    /// The same directory, as the virtual machine sees it.
    inner: PathBuf,
    /// Path of the socket in that directory.
    path: PathBuf,
    /// User and group of the virtual machine if it runs as another user, who then becomes the owner of the files.
    owner: Option<(u32, u32)>,
}

fn failed(error: &io::Error) -> TargetError {
    TargetError::Control(format!("cannot connect to the agent: {error}"))
}

impl AgentListener {
    /// Opens the socket for a virtual machine that is to be started.
    pub(crate) fn open() -> TargetResult<AgentListener> {
        let place = std::env::temp_dir();
        AgentListener::open_in(&place, None, None).map_err(|error| failed(&error))
    }

    /// Opens the socket for a running process, which may have another user or another root directory.
    pub(crate) fn open_for(process: i32) -> TargetResult<AgentListener> {
        let data = fs::metadata(format!("/proc/{process}")).ok();
        let owner = data.map(|data| (data.uid(), data.gid()));
        let owner = owner.filter(|(user, _)| *user != nix::unistd::geteuid().as_raw());
        let own = std::path::absolute(std::env::temp_dir()).map_err(|error| failed(&error))?;
        let root = PathBuf::from(format!("/proc/{process}/root"));
        let theirs = fs::metadata(root.join(own.strip_prefix("/").unwrap_or(&own)));
        let identity = |data: fs::Metadata| (data.dev(), data.ino());
        let is_shared = match theirs {
            Ok(theirs) => fs::metadata(&own).is_ok_and(|own| identity(own) == identity(theirs)),
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        };
        let other = root.join("tmp");
        let opened = match is_shared || !other.is_dir() {
            true => AgentListener::open_in(&own, None, owner),
            false => AgentListener::open_in(&other, Some(Path::new("/tmp")), owner),
        };
        opened.map_err(|error| failed(&error))
    }

    /// Opens the socket in a directory that the virtual machine sees as `inner`.
    fn open_in(outer: &Path, inner: Option<&Path>, owner: Option<(u32, u32)>) -> io::Result<AgentListener> {
        let folder = tempfile::Builder::new().prefix("invigil-").tempdir_in(outer)?;
        let socket = folder.path().join("agent");
        let listener = UnixListener::bind(&socket)?;
        listener.set_nonblocking(true)?;
        let inner = match (inner, folder.path().file_name()) {
            (Some(inner), Some(name)) => inner.join(name),
            _ => folder.path().to_owned(),
        };
        let path = inner.join("agent");
        let listener = AgentListener { listener, folder, inner, path, owner };
        listener.hand_over(&socket)?;
        listener.hand_over(listener.folder.path())?;
        Ok(listener)
    }

    fn hand_over(&self, path: &Path) -> io::Result<()> {
        match self.owner {
            Some((user, group)) => chown(path, Some(user), Some(group)),
            None => Ok(()),
        }
    }

    /// Path of the agent's library for the virtual machine: the one that `INVIGIL_AGENT` names, otherwise a copy of the
    /// embedded one beside the socket. The copy may be deleted once the agent has connected, because it is loaded then.
    pub(crate) fn agent(&self) -> TargetResult<PathBuf> {
        if let Some(named) = named_agent()? {
            return Ok(named);
        }
        let file = self.folder.path().join(library::FILE);
        let written = fs::write(&file, library::AGENT).and_then(|()| self.hand_over(&file));
        written.map_err(|error| {
            TargetError::Control(format!("cannot write the agent to {}: {error}", file.display()))
        })?;
        Ok(self.inner.join(library::FILE))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for both connections. `ending` returns how the program ended, if it has.
    pub(crate) fn wait(&self, mut ending: impl FnMut() -> Option<String>) -> TargetResult<AgentConnection> {
        let (mut control, mut events) = (None, None);
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => match accept_greeting(stream)? {
                    Some((Channel::Control, stream)) => control = Some(stream),
                    Some((Channel::Events, stream)) => events = Some(stream),
                    // The connection is not from the agent.
                    None => continue,
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(&error)),
            }
            match (control.take(), events.take()) {
                (Some(control), Some(events)) => {
                    return Ok(AgentConnection { control, events, outstanding: 0, answer_timeout: None });
                }
                (one, other) => (control, events) = (one, other),
            }
            if let Some(how) = ending() {
                return Err(TargetError::Control(how));
            }
            if Instant::now() > deadline {
                let message = "the agent in the virtual machine does not answer; it needs a HotSpot virtual machine of Java 11 or later";
                return Err(TargetError::Control(message.to_owned()));
            }
            let mut polled = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut polled, CHECK_PERIOD_MS);
        }
    }
}

/// Which connection this is; `None` if it is not from the agent.
fn accept_greeting(mut stream: UnixStream) -> TargetResult<Option<(Channel, UnixStream)>> {
    let prepared =
        stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(GREETING_TIMEOUT)));
    prepared.map_err(|error| failed(&error))?;
    let Ok(greeting) = protocol::receive::<Greeting>(&mut stream) else { return Ok(None) };
    if greeting.magic != MAGIC {
        return Ok(None);
    }
    if greeting.version != VERSION {
        return Err(TargetError::Control(format!(
            "the agent belongs to another version of Invigil: its protocol has version {}, expected {VERSION}",
            greeting.version
        )));
    }
    stream.set_read_timeout(None).map_err(|error| failed(&error))?;
    Ok(Some((greeting.channel, stream)))
}

/// The two connections to the agent.
pub(crate) struct AgentConnection {
    control: UnixStream,
    events: UnixStream,
    /// Number of answers that have not arrived yet.
    outstanding: usize,
    /// Maximum time for an answer, if another debugger may suspend the agent together with the program.
    pub(crate) answer_timeout: Option<Duration>,
}

/// Result of waiting.
pub(crate) enum Incoming {
    Event(AgentEvent),
    /// The target was interrupted.
    Woken,
    /// The agent has closed the connection, most likely because the program has ended.
    Disconnected(Disconnected),
}

/// Why a request failed.
pub(crate) enum RequestError {
    /// The agent rejected it.
    Refused(String),
    /// The answer is late; it will arrive later.
    TimedOut,
    /// The agent has closed the connection.
    Disconnected(Disconnected),
}

impl AgentConnection {
    pub(crate) fn request(&mut self, request: &Request) -> Result<Answer, RequestError> {
        protocol::send(&mut self.control, request).map_err(RequestError::Disconnected)?;
        self.outstanding += 1;
        loop {
            if !self.answers_in_time() {
                return Err(RequestError::TimedOut);
            }
            let answer = protocol::receive(&mut self.control).map_err(RequestError::Disconnected)?;
            self.outstanding -= 1;
            // Late answers to earlier requests are dropped.
            if self.outstanding == 0 {
                return match answer {
                    Answer::Refused { reason } => Err(RequestError::Refused(reason)),
                    answer => Ok(answer),
                };
            }
        }
    }

    /// Whether an answer arrives in time.
    fn answers_in_time(&self) -> bool {
        let Some(answer_timeout) = self.answer_timeout else { return true };
        let mut polled = [PollFd::new(self.control.as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(answer_timeout).unwrap_or(PollTimeout::MAX);
        poll(&mut polled, timeout) != Ok(0)
    }

    /// Waits for an event of the agent, or for the waker.
    pub(crate) fn wait(&mut self, waker: &Waker) -> Incoming {
        loop {
            let mut polled = [
                PollFd::new(self.events.as_fd(), PollFlags::POLLIN),
                PollFd::new(waker.0.as_fd(), PollFlags::POLLIN),
            ];
            if let Err(error) = poll(&mut polled, PollTimeout::NONE) {
                if error == nix::errno::Errno::EINTR {
                    continue;
                }
                return Incoming::Disconnected(Disconnected::Failed(error.into()));
            }
            let ready = |at: usize| polled[at].any().unwrap_or(true);
            let (has_event, is_woken) = (ready(0), ready(1));
            // Events come before interrupts.
            if has_event {
                return match protocol::receive(&mut self.events) {
                    Ok(event) => Incoming::Event(event),
                    Err(lost) => Incoming::Disconnected(lost),
                };
            }
            if is_woken && waker.clear() {
                return Incoming::Woken;
            }
        }
    }

    /// An event that was sent before the connection was closed.
    pub(crate) fn pending_event(&mut self) -> Option<AgentEvent> {
        let mut polled = [PollFd::new(self.events.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, CHECK_PERIOD_MS) != Ok(1) {
            return None;
        }
        protocol::receive(&mut self.events).ok()
    }

    pub(crate) fn command(&mut self, command: &ThreadCommand) -> Result<(), Disconnected> {
        protocol::send(&mut self.events, command)
    }
}

/// Interrupts a wait from any thread or signal handler.
#[derive(Clone)]
pub(crate) struct Waker(Arc<nix::sys::eventfd::EventFd>);

impl Waker {
    pub(crate) fn new() -> TargetResult<Waker> {
        use nix::sys::eventfd::{EfdFlags, EventFd};
        let waker = EventFd::from_value_and_flags(0, EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC);
        waker.map(|waker| Waker(Arc::new(waker))).map_err(|error| failed(&error.into()))
    }

    pub(crate) fn wake(&self) {
        // If the counter is full, the waker is set already.
        let _ = self.0.write(1);
    }

    /// Clears the waker. Returns whether it was set.
    pub(crate) fn clear(&self) -> bool {
        self.0.read().is_ok()
    }
}
