//! Where stages meet: files, FIFOs, TCP and UNIX sockets, standard streams.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

/// One end of a channel, as users write it.
///
/// ```
/// use invigil_mac::Channel;
/// assert_eq!("tcp:9000".parse(), Ok(Channel::Tcp("127.0.0.1:9000".into())));
/// assert_eq!("tcp-listen:9000".parse(), Ok(Channel::TcpListen("127.0.0.1:9000".into())));
/// assert_eq!("run.mac".parse(), Ok(Channel::File("run.mac".into())));
/// assert_eq!("-".parse(), Ok(Channel::Standard));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Standard input or output.
    Standard,
    /// A file or a FIFO.
    File(PathBuf),
    /// A TCP port that someone listens to.
    Tcp(String),
    /// A TCP port to listen to.
    TcpListen(String),
    /// A UNIX socket that someone listens to.
    Unix(PathBuf),
    /// A UNIX socket to listen to.
    UnixListen(PathBuf),
}

impl FromStr for Channel {
    type Err = String;

    fn from_str(text: &str) -> Result<Channel, String> {
        let port = |place: &str, word: &str| {
            let (host, port) = place.rsplit_once(':').unwrap_or(("127.0.0.1", place));
            if host.is_empty() || port.parse::<u16>().is_err() {
                return Err(format!("`{text}` is no channel: write `{word}:PORT` or `{word}:HOST:PORT`"));
            }
            Ok(format!("{host}:{port}"))
        };
        match text.split_once(':') {
            _ if text == "-" => Ok(Channel::Standard),
            _ if text.is_empty() => Err("a channel is a file, `-`, `tcp:PORT` or `unix:PATH`".to_owned()),
            Some(("tcp", place)) => port(place, "tcp").map(Channel::Tcp),
            Some(("tcp-listen", place)) => port(place, "tcp-listen").map(Channel::TcpListen),
            Some(("unix" | "unix-listen", "")) => Err(format!("`{text}` is no channel: the path is missing")),
            Some(("unix", path)) => Ok(Channel::Unix(path.into())),
            Some(("unix-listen", path)) => Ok(Channel::UnixListen(path.into())),
            _ => Ok(Channel::File(text.into())),
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Channel::Standard => f.write_str("-"),
            Channel::File(path) => write!(f, "{}", path.display()),
            Channel::Tcp(place) => write!(f, "tcp:{place}"),
            Channel::TcpListen(place) => write!(f, "tcp-listen:{place}"),
            Channel::Unix(path) => write!(f, "unix:{}", path.display()),
            Channel::UnixListen(path) => write!(f, "unix-listen:{}", path.display()),
        }
    }
}

/// How long to wait for the other side, and whom to ask whether to go on.
pub struct Waiting<'a> {
    /// How long someone who should be listening may take to begin with it.
    pub patience: Duration,
    /// Whether to give up.
    pub stop: &'a dyn Fn() -> bool,
    /// Is told that there is nobody yet.
    pub tell: &'a dyn Fn(&str),
}

/// How often is looked whether the other side is there.
const PAUSE: Duration = Duration::from_millis(20);

impl Channel {
    /// Opens the channel for reading.
    pub fn open(&self, waiting: &Waiting<'_>) -> Result<Connection, String> {
        match self {
            Channel::Standard => {
                let fd = io::stdin().as_fd().try_clone_to_owned().map_err(|error| self.broken(&error))?;
                Ok(Connection::File(fd.into()))
            }
            Channel::File(path) => match File::open(path) {
                Ok(file) => Ok(Connection::File(file)),
                Err(error) if error.kind() == ErrorKind::NotFound => Err(format!(
                    "{self}: there is no such file; check the path, or make a FIFO: mkfifo {self}"
                )),
                Err(error) => Err(self.broken(&error)),
            },
            _ => self.connect(waiting),
        }
    }

    /// Opens the channel for writing. A file is begun anew.
    pub fn create(&self, waiting: &Waiting<'_>) -> Result<Connection, String> {
        match self {
            Channel::Standard => {
                let fd = io::stdout().as_fd().try_clone_to_owned().map_err(|error| self.broken(&error))?;
                Ok(Connection::File(fd.into()))
            }
            Channel::File(path) => {
                File::create(path).map(Connection::File).map_err(|error| self.broken(&error))
            }
            _ => self.connect(waiting),
        }
    }

    fn connect(&self, waiting: &Waiting<'_>) -> Result<Connection, String> {
        match self {
            Channel::Tcp(place) => self.retry(waiting, || TcpStream::connect(place).map(Connection::Tcp)),
            Channel::Unix(path) => self.retry(waiting, || UnixStream::connect(path).map(Connection::Unix)),
            Channel::TcpListen(place) => {
                let listener = TcpListener::bind(place).map_err(|error| self.broken(&error))?;
                listener.set_nonblocking(true).map_err(|error| self.broken(&error))?;
                let stream = self.accept(waiting, || listener.accept().map(|(stream, _)| stream))?;
                stream.set_nonblocking(false).map_err(|error| self.broken(&error))?;
                Ok(Connection::Tcp(stream))
            }
            Channel::UnixListen(path) => {
                // A socket that nobody listens to any more is left over from a run that was killed.
                let is_left_over = UnixStream::connect(path)
                    .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
                if is_left_over {
                    std::fs::remove_file(path).map_err(|error| self.broken(&error))?;
                }
                let listener = UnixListener::bind(path).map_err(|error| self.broken(&error))?;
                let accepted = listener
                    .set_nonblocking(true)
                    .map_err(|error| self.broken(&error))
                    .and_then(|()| self.accept(waiting, || listener.accept().map(|(stream, _)| stream)));
                // Two ends are enough: nobody else shall find it.
                let removed = std::fs::remove_file(path);
                let stream = accepted?;
                removed.and_then(|()| stream.set_nonblocking(false)).map_err(|error| self.broken(&error))?;
                Ok(Connection::Unix(stream))
            }
            Channel::Standard | Channel::File(_) => Err(self.broken(&ErrorKind::Unsupported.into())),
        }
    }

    /// Connects as soon as someone listens.
    fn retry(
        &self,
        waiting: &Waiting<'_>,
        mut connect: impl FnMut() -> io::Result<Connection>,
    ) -> Result<Connection, String> {
        let deadline = Instant::now() + waiting.patience;
        let mut told = false;
        loop {
            let error = match connect() {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            };
            let nobody = matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound);
            if !nobody {
                return Err(self.broken(&error));
            }
            if Instant::now() >= deadline || (waiting.stop)() {
                let seconds = waiting.patience.as_secs();
                return Err(format!(
                    "{self}: nobody listens there, and has not for {seconds} s; start the other side first \
                     (the checker, then the recogniser, then the program), or wait longer with `--wait SECONDS`"
                ));
            }
            if !std::mem::replace(&mut told, true) {
                (waiting.tell)(&format!("{self}: nobody listens there yet; trying again"));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Waits for the other side, however long it takes.
    fn accept<S>(
        &self,
        waiting: &Waiting<'_>,
        mut accept: impl FnMut() -> io::Result<S>,
    ) -> Result<S, String> {
        (waiting.tell)(&format!("{self}: waiting for the other side"));
        loop {
            match accept() {
                Ok(stream) => return Ok(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
            if (waiting.stop)() {
                return Err(format!("{self}: stopped before the other side came"));
            }
            thread::sleep(PAUSE);
        }
    }

    fn broken(&self, error: &io::Error) -> String {
        let remedy = match error.kind() {
            ErrorKind::AddrInUse => "; someone else listens there: choose another one",
            ErrorKind::PermissionDenied => {
                "; it is not allowed: choose another one, or change its permissions"
            }
            _ => "",
        };
        format!("{self}: cannot be opened: {error}{remedy}")
    }
}

/// A channel that is open.
#[derive(Debug)]
pub enum Connection {
    /// A file, a FIFO or a standard stream.
    File(File),
    /// A TCP socket.
    Tcp(TcpStream),
    /// A UNIX socket.
    Unix(UnixStream),
}

impl Connection {
    /// The same as a file, which is read like any other.
    pub fn into_file(self) -> File {
        match self {
            Connection::File(file) => file,
            Connection::Tcp(stream) => File::from(OwnedFd::from(stream)),
            Connection::Unix(stream) => File::from(OwnedFd::from(stream)),
        }
    }

    /// Ends what is written, and waits until the other side has read all of it: it closes the socket then. A side
    /// that closes it with something left unread is an error, and so nothing is lost without notice.
    pub fn finish(&mut self) -> io::Result<()> {
        let mut rest = [0; 64];
        match self {
            Connection::File(file) => return file.flush(),
            Connection::Tcp(stream) => stream.shutdown(Shutdown::Write)?,
            Connection::Unix(stream) => stream.shutdown(Shutdown::Write)?,
        }
        loop {
            match self.read(&mut rest) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Connection::File(file) => file.as_fd(),
            Connection::Tcp(stream) => stream.as_fd(),
            Connection::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::File(file) => file.read(buffer),
            Connection::Tcp(stream) => stream.read(buffer),
            Connection::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::File(file) => file.write(bytes),
            Connection::Tcp(stream) => stream.write(bytes),
            Connection::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Connection::File(file) => file.flush(),
            Connection::Tcp(stream) => stream.flush(),
            Connection::Unix(stream) => stream.flush(),
        }
    }
}
