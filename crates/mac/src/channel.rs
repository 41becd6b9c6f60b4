//! Channels between stages: files, FIFOs, TCP and UNIX sockets, standard streams.

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

/// One end of a channel, as the user writes it.
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
    /// A TCP server to connect to.
    Tcp(String),
    /// A TCP port to listen on.
    TcpListen(String),
    /// A UNIX socket to connect to.
    Unix(PathBuf),
    /// A UNIX socket to listen on.
    UnixListen(PathBuf),
}

impl FromStr for Channel {
    type Err = String;

    fn from_str(text: &str) -> Result<Channel, String> {
        let tcp_address = |address: &str, word: &str| {
            let (host, port) = address.rsplit_once(':').unwrap_or(("127.0.0.1", address));
            if host.is_empty() || port.parse::<u16>().is_err() {
                return Err(format!("`{text}` is not a channel; write `{word}:PORT` or `{word}:HOST:PORT`"));
            }
            Ok(format!("{host}:{port}"))
        };
        match text.split_once(':') {
            _ if text == "-" => Ok(Channel::Standard),
            _ if text.is_empty() => Err("a channel is a file, `-`, `tcp:PORT` or `unix:PATH`".to_owned()),
            Some(("tcp", address)) => tcp_address(address, "tcp").map(Channel::Tcp),
            Some(("tcp-listen", address)) => tcp_address(address, "tcp-listen").map(Channel::TcpListen),
            Some(("unix" | "unix-listen", "")) => {
                Err(format!("`{text}` is not a channel: the path is missing"))
            }
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
            Channel::Tcp(address) => write!(f, "tcp:{address}"),
            Channel::TcpListen(address) => write!(f, "tcp-listen:{address}"),
            Channel::Unix(path) => write!(f, "unix:{}", path.display()),
            Channel::UnixListen(path) => write!(f, "unix-listen:{}", path.display()),
        }
    }
}

/// How long to wait for the other side, and what to do meanwhile.
pub struct WaitPolicy<'a> {
    /// How long to retry a connection to a server that does not listen yet.
    pub timeout: Duration,
    /// Whether to stop waiting.
    pub stop: &'a dyn Fn() -> bool,
    /// Receives messages about the waiting.
    pub notify: &'a dyn Fn(&str),
}

/// The interval between two attempts.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl Channel {
    /// Opens the channel for reading.
    pub fn open(&self, policy: &WaitPolicy<'_>) -> Result<Connection, String> {
        match self {
            Channel::Standard => {
                let fd = io::stdin().as_fd().try_clone_to_owned().map_err(|error| self.open_error(&error))?;
                Ok(Connection::File(fd.into()))
            }
            Channel::File(path) => match File::open(path) {
                Ok(file) => Ok(Connection::File(file)),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    Err(format!("{self}: no such file; check the path, or create a FIFO: mkfifo {self}"))
                }
                Err(error) => Err(self.open_error(&error)),
            },
            _ => self.connect(policy),
        }
    }

    /// Opens the channel for writing. An existing file is truncated.
    pub fn create(&self, policy: &WaitPolicy<'_>) -> Result<Connection, String> {
        match self {
            Channel::Standard => {
                let fd =
                    io::stdout().as_fd().try_clone_to_owned().map_err(|error| self.open_error(&error))?;
                Ok(Connection::File(fd.into()))
            }
            Channel::File(path) => {
                File::create(path).map(Connection::File).map_err(|error| self.open_error(&error))
            }
            _ => self.connect(policy),
        }
    }

    fn connect(&self, policy: &WaitPolicy<'_>) -> Result<Connection, String> {
        match self {
            Channel::Tcp(address) => self.retry(policy, || TcpStream::connect(address).map(Connection::Tcp)),
            Channel::Unix(path) => self.retry(policy, || UnixStream::connect(path).map(Connection::Unix)),
            Channel::TcpListen(address) => {
                let listener = TcpListener::bind(address).map_err(|error| self.open_error(&error))?;
                listener.set_nonblocking(true).map_err(|error| self.open_error(&error))?;
                let stream = self.accept(policy, || listener.accept().map(|(stream, _)| stream))?;
                stream.set_nonblocking(false).map_err(|error| self.open_error(&error))?;
                Ok(Connection::Tcp(stream))
            }
            Channel::UnixListen(path) => {
                // A socket without a listener is left over from a run that was killed.
                let is_left_over = UnixStream::connect(path)
                    .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
                if is_left_over {
                    std::fs::remove_file(path).map_err(|error| self.open_error(&error))?;
                }
                let listener = UnixListener::bind(path).map_err(|error| self.open_error(&error))?;
                let accepted = listener
                    .set_nonblocking(true)
                    .map_err(|error| self.open_error(&error))
                    .and_then(|()| self.accept(policy, || listener.accept().map(|(stream, _)| stream)));
                // The channel has two ends only, so the address is removed immediately.
                let removed = std::fs::remove_file(path);
                let stream = accepted?;
                removed
                    .and_then(|()| stream.set_nonblocking(false))
                    .map_err(|error| self.open_error(&error))?;
                Ok(Connection::Unix(stream))
            }
            Channel::Standard | Channel::File(_) => Err(self.open_error(&ErrorKind::Unsupported.into())),
        }
    }

    /// Connects as soon as the server listens.
    fn retry(
        &self,
        policy: &WaitPolicy<'_>,
        mut connect: impl FnMut() -> io::Result<Connection>,
    ) -> Result<Connection, String> {
        let deadline = Instant::now() + policy.timeout;
        let mut reported = false;
        loop {
            let error = match connect() {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            };
            let is_absent = matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound);
            if !is_absent {
                return Err(self.open_error(&error));
            }
            if Instant::now() >= deadline || (policy.stop)() {
                let seconds = policy.timeout.as_secs();
                return Err(format!(
                    "{self}: no server listens there after {seconds} s; start the other side first \
                     (the checker, then the recogniser, then the program), or wait longer with `--wait SECONDS`"
                ));
            }
            if !std::mem::replace(&mut reported, true) {
                (policy.notify)(&format!("{self}: no server listens there yet; retrying"));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits for the other side without a time-out.
    fn accept<S>(
        &self,
        policy: &WaitPolicy<'_>,
        mut accept: impl FnMut() -> io::Result<S>,
    ) -> Result<S, String> {
        (policy.notify)(&format!("{self}: waiting for the other side"));
        loop {
            match accept() {
                Ok(stream) => return Ok(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.open_error(&error)),
            }
            if (policy.stop)() {
                return Err(format!("{self}: stopped before the other side connected"));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn open_error(&self, error: &io::Error) -> String {
        let remedy = match error.kind() {
            ErrorKind::AddrInUse => "; another process listens there: choose another address",
            ErrorKind::PermissionDenied => {
                "; permission denied: choose another address, or change its permissions"
            }
            _ => "",
        };
        format!("{self}: cannot open: {error}{remedy}")
    }
}

/// An open channel.
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
    /// Converts the channel to a file, which can be read like any other.
    pub fn into_file(self) -> File {
        match self {
            Connection::File(file) => file,
            Connection::Tcp(stream) => File::from(OwnedFd::from(stream)),
            Connection::Unix(stream) => File::from(OwnedFd::from(stream)),
        }
    }

    /// Closes the writing end and waits until the other side has read everything and closed the socket. If it closes
    /// the socket with unread data, this is an error, so no data is lost silently.
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
