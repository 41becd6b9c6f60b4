//! The two connections to the agent.

use invigil_jvm_agent::protocol::{
    self, Answer, Channel, Greeting, Lost, MAGIC, News, Order, Request, VERSION,
};
use invigil_session::subject::{Done, Trouble};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long may a virtual machine take until its agent knocks.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often to look whether the program still runs meanwhile.
const GLANCE: u16 = 50;
/// So long may a stranger at the door keep silent.
const GREETING: Duration = Duration::from_secs(5);

/// Where the agent knocks. Only this user can get there, and it is gone when it is dropped.
pub(crate) struct Door {
    listener: UnixListener,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

fn failed(error: &io::Error) -> Trouble {
    Trouble::Subject(format!("no connection to the agent can be made: {error}"))
}

impl Door {
    pub(crate) fn open() -> Done<Door> {
        let folder = tempfile::Builder::new().prefix("invigil-").tempdir().map_err(|error| failed(&error))?;
        let path = folder.path().join("agent");
        let listener = UnixListener::bind(&path).map_err(|error| failed(&error))?;
        listener.set_nonblocking(true).map_err(|error| failed(&error))?;
        Ok(Door { listener, path, _folder: folder })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for both connections. `gone` says how the program ended, if it did.
    pub(crate) fn wait(&self, mut gone: impl FnMut() -> Option<String>) -> Done<Link> {
        let (mut control, mut news) = (None, None);
        let until = Instant::now() + PATIENCE;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => match greeted(stream)? {
                    Some((Channel::Control, stream)) => control = Some(stream),
                    Some((Channel::News, stream)) => news = Some(stream),
                    // Somebody else: not our business.
                    None => continue,
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(&error)),
            }
            match (control.take(), news.take()) {
                (Some(control), Some(news)) => {
                    return Ok(Link { control, news, owed: 0, patience: None });
                }
                (one, other) => (control, news) = (one, other),
            }
            if let Some(how) = gone() {
                return Err(Trouble::Subject(how));
            }
            if Instant::now() > until {
                let words = "the agent in the virtual machine does not answer: is this a HotSpot machine of Java 11 or later?";
                return Err(Trouble::Subject(words.to_owned()));
            }
            let mut waits = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut waits, GLANCE);
        }
    }
}

/// Which connection this is; nothing if it is not the agent that knocks.
fn greeted(mut stream: UnixStream) -> Done<Option<(Channel, UnixStream)>> {
    let prepared = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(GREETING)));
    prepared.map_err(|error| failed(&error))?;
    let Ok(greeting) = protocol::receive::<Greeting>(&mut stream) else { return Ok(None) };
    if greeting.magic != MAGIC {
        return Ok(None);
    }
    if greeting.version != VERSION {
        return Err(Trouble::Subject(format!(
            "the agent is of another version of Invigil: it speaks version {} of the protocol, and this is {VERSION}",
            greeting.version
        )));
    }
    stream.set_read_timeout(None).map_err(|error| failed(&error))?;
    Ok(Some((greeting.channel, stream)))
}

/// Both connections.
pub(crate) struct Link {
    control: UnixStream,
    news: UnixStream,
    /// How many answers have not come yet.
    owed: usize,
    /// How long to wait for an answer. Another debugger may make the agent stand still, with everything else.
    pub(crate) patience: Option<Duration>,
}

/// What was waited for.
pub(crate) enum Came {
    News(News),
    /// Somebody wants the program to stop.
    Bell,
    /// The agent is gone, and so is the program most likely.
    Lost(Lost),
}

/// Why a question was not answered.
pub(crate) enum Unanswered {
    /// The agent refused.
    Refused(String),
    /// It does not answer in time; it will later.
    Late,
    /// The agent is gone.
    Lost(Lost),
}

impl Link {
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Answer, Unanswered> {
        protocol::send(&mut self.control, request).map_err(Unanswered::Lost)?;
        self.owed += 1;
        loop {
            if !self.answers_in_time() {
                return Err(Unanswered::Late);
            }
            let answer = protocol::receive(&mut self.control).map_err(Unanswered::Lost)?;
            self.owed -= 1;
            // Answers to earlier questions are of no use any more.
            if self.owed == 0 {
                return match answer {
                    Answer::Refused { reason } => Err(Unanswered::Refused(reason)),
                    answer => Ok(answer),
                };
            }
        }
    }

    fn answers_in_time(&self) -> bool {
        let Some(patience) = self.patience else { return true };
        let mut waits = [PollFd::new(self.control.as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        poll(&mut waits, timeout) != Ok(0)
    }

    /// Waits for news, or for the bell.
    pub(crate) fn wait(&mut self, bell: &Bell) -> Came {
        loop {
            let mut waits = [
                PollFd::new(self.news.as_fd(), PollFlags::POLLIN),
                PollFd::new(bell.0.as_fd(), PollFlags::POLLIN),
            ];
            if let Err(error) = poll(&mut waits, PollTimeout::NONE) {
                if error == nix::errno::Errno::EINTR {
                    continue;
                }
                return Came::Lost(Lost::Failed(error.into()));
            }
            let ready = |at: usize| waits[at].any().unwrap_or(true);
            let (has_news, rung) = (ready(0), ready(1));
            // What has happened comes first.
            if has_news {
                return match protocol::receive(&mut self.news) {
                    Ok(news) => Came::News(news),
                    Err(lost) => Came::Lost(lost),
                };
            }
            if rung && bell.answer() {
                return Came::Bell;
            }
        }
    }

    /// News that came before the end of the connection.
    pub(crate) fn left(&mut self) -> Option<News> {
        let mut waits = [PollFd::new(self.news.as_fd(), PollFlags::POLLIN)];
        if poll(&mut waits, GLANCE) != Ok(1) {
            return None;
        }
        protocol::receive(&mut self.news).ok()
    }

    pub(crate) fn order(&mut self, order: &Order) -> Result<(), Lost> {
        protocol::send(&mut self.news, order)
    }
}

/// Can be rung from anywhere, a signal handler included.
#[derive(Clone)]
pub(crate) struct Bell(Arc<nix::sys::eventfd::EventFd>);

impl Bell {
    pub(crate) fn new() -> Done<Bell> {
        use nix::sys::eventfd::{EfdFlags, EventFd};
        let bell = EventFd::from_value_and_flags(0, EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC);
        bell.map(|bell| Bell(Arc::new(bell))).map_err(|error| failed(&error.into()))
    }

    pub(crate) fn ring(&self) {
        // One that is full has been rung.
        let _ = self.0.write(1);
    }

    /// Whether it was rung; it is silent then.
    pub(crate) fn answer(&self) -> bool {
        self.0.read().is_ok()
    }
}
