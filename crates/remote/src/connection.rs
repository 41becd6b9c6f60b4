//! The connection to a remote subject: lines of requests and replies, with time-outs.

use crate::address::Address;
use crate::child::{self, ChildProcess, Streams};
use crate::error::RemoteErrorKind;
use crate::options::RemoteOptions;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a remote subject may take to exit.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(500);
/// Maximum number of bytes of the program's standard error that are kept.
const STDERR_TAIL: usize = 4096;

pub(crate) struct Connection {
    requests: Option<OwnedFd>,
    replies: OwnedFd,
    stderr: Option<OwnedFd>,
    program: Option<ChildProcess>,
    /// Received bytes that are not consumed yet.
    pending: Vec<u8>,
    /// Length of the prefix of `pending` that is known to contain no line feed.
    searched: usize,
    stderr_tail: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: &Address, options: &RemoteOptions) -> Result<Connection, RemoteErrorKind> {
        let unreachable = |participle: &str, error: io::Error, remedy: &str| {
            RemoteErrorKind::Unreachable(format!("cannot be {participle}: {error}; {remedy}"))
        };
        match address {
            Address::Command(words) => {
                let (program, Streams { stdin, stdout, stderr }) = child::start(words).map_err(|error| {
                    unreachable("started", error, "check that the program exists and is executable")
                })?;
                Connection::new(stdin.into(), stdout.into(), Some(stderr.into()), Some(program))
            }
            Address::Unix(path) => UnixStream::connect(path)
                .and_then(|stream| Ok((stream.try_clone()?, stream)))
                .map_err(|error| unreachable("reached", error, "check that the server listens there"))
                .and_then(|(requests, replies)| Connection::new(requests.into(), replies.into(), None, None)),
            Address::Tcp(host_port) => {
                let stream = connect_tcp(host_port, options)?;
                stream
                    .set_nodelay(true)
                    .and_then(|()| Ok((stream.try_clone()?, stream)))
                    .map_err(|error| unreachable("reached", error, "check that the server listens there"))
                    .and_then(|(out, into)| Connection::new(out.into(), into.into(), None, None))
            }
        }
    }

    fn new(
        requests: OwnedFd,
        replies: OwnedFd,
        stderr: Option<OwnedFd>,
        program: Option<ChildProcess>,
    ) -> Result<Connection, RemoteErrorKind> {
        for stream in [Some(&requests), Some(&replies), stderr.as_ref()].into_iter().flatten() {
            ioctl_fionbio(stream, true).map_err(system_error)?;
        }
        let requests = Some(requests);
        Ok(Connection {
            requests,
            replies,
            stderr,
            program,
            pending: Vec::new(),
            searched: 0,
            stderr_tail: Vec::new(),
        })
    }

    /// Sends one line and waits for the reply line.
    pub(crate) fn exchange(
        &mut self,
        line: &[u8],
        options: &RemoteOptions,
    ) -> Result<Vec<u8>, RemoteErrorKind> {
        let mut deadline = Instant::now().checked_add(options.timeout).unwrap_or_else(far_future);
        let mut deadline_error = RemoteErrorKind::Timeout(options.timeout);
        let mut rest = line;
        if self.requests.is_none() {
            // The program closed its input after the last reply.
            (deadline, deadline_error, rest) = (grace_deadline(deadline), RemoteErrorKind::InputClosed, &[]);
        }
        loop {
            let end = self.end_of_line(options.max_line)?;
            if let (Some(end), []) = (end, rest) {
                return Ok(self.take_line(end));
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return Err(deadline_error);
            };
            // At most one line is buffered, so a program that sends too much blocks.
            let ready = self.wait(end.is_none(), !rest.is_empty(), left)?;
            if ready.stderr {
                self.read_stderr();
            }
            if ready.replies && !self.receive()? {
                return Err(RemoteErrorKind::Ended(self.close()));
            }
            if ready.requests && !self.send(&mut rest)? {
                // The program may be about to exit, or to reply before it does.
                self.requests = None;
                (deadline, deadline_error, rest) =
                    (grace_deadline(deadline), RemoteErrorKind::InputClosed, &[]);
            }
        }
    }

    /// Waits until a stream is ready, at most for `timeout`.
    fn wait(
        &self,
        is_reading: bool,
        is_sending: bool,
        timeout: Duration,
    ) -> Result<ReadyStreams, RemoteErrorKind> {
        let sending = if is_sending { PollFlags::OUT } else { PollFlags::empty() };
        let replies = is_reading.then(|| PollFd::new(&self.replies, PollFlags::IN));
        let stderr = self.stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN));
        // For a pipe, poll reports a closed reader even if no event was requested.
        let requests = self.requests.as_ref().map(|requests| PollFd::new(requests, sending));
        let polled = [replies.is_some(), stderr.is_some(), requests.is_some()];
        let mut fds: Vec<_> = [replies, stderr, requests].into_iter().flatten().collect();
        let timeout = Timespec::try_from(timeout).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(system_error(error)),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let [replies, stderr, requests] = polled.map(|is_polled| is_polled && ready.next().unwrap_or(false));
        Ok(ReadyStreams { replies, stderr, requests })
    }

    /// The end of the first line, if it is complete. Fails if it is longer than `max_line`.
    fn end_of_line(&mut self, max_line: usize) -> Result<Option<usize>, RemoteErrorKind> {
        let end = self.pending[self.searched..].iter().position(|byte| *byte == b'\n');
        self.searched = end.map_or(self.pending.len(), |end| self.searched + end);
        if self.searched > max_line {
            return Err(RemoteErrorKind::TooLong(max_line));
        }
        Ok(end.map(|_| self.searched))
    }

    /// Removes and returns the line that ends at `end`.
    fn take_line(&mut self, end: usize) -> Vec<u8> {
        let rest = self.pending.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.pending, rest);
        line.pop();
        self.searched = 0;
        line
    }

    /// Reads available bytes. Returns false at the end of the stream.
    fn receive(&mut self) -> Result<bool, RemoteErrorKind> {
        let mut buffer = [0; 1 << 16];
        match read(&self.replies, &mut buffer) {
            Ok(0) | Err(Errno::CONNRESET) => Ok(false),
            Ok(length) => {
                self.pending.extend_from_slice(&buffer[..length]);
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(true),
            Err(error) => Err(system_error(error)),
        }
    }

    /// Writes as much as possible. Returns false if the reader has closed the stream.
    fn send(&mut self, rest: &mut &[u8]) -> Result<bool, RemoteErrorKind> {
        let Some(requests) = &self.requests else { return Ok(true) };
        if rest.is_empty() {
            // No write was requested, so the event can only mean that the reader has closed the stream.
            return Ok(false);
        }
        match write(requests, rest) {
            Ok(length) => {
                *rest = &rest[length..];
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(true),
            Err(Errno::PIPE | Errno::CONNRESET) => Ok(false),
            Err(error) => Err(system_error(error)),
        }
    }

    /// Reads the program's standard error and keeps the end of it.
    fn read_stderr(&mut self) {
        let Some(stderr) = &self.stderr else { return };
        let mut buffer = [0; STDERR_TAIL];
        match read(stderr, &mut buffer) {
            Ok(length) if length > 0 => {
                self.stderr_tail.extend_from_slice(&buffer[..length]);
                let old = self.stderr_tail.len().saturating_sub(STDERR_TAIL);
                self.stderr_tail.drain(..old);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.stderr = None,
        }
    }

    /// Closes the connection and ends the program, which may exit by itself first.
    fn close(&mut self) -> Option<String> {
        self.requests = None;
        self.program.take().and_then(|mut program| program.shut_down(SHUTDOWN_GRACE))
    }

    /// Closes the connection immediately. Returns the end of the program's standard error.
    pub(crate) fn abort(mut self) -> String {
        if let Some(mut program) = self.program.take() {
            program.shut_down(Duration::ZERO);
        }
        // Bounded, because another process may keep writing to the pipe.
        for _ in 0..64 {
            self.read_stderr();
        }
        String::from_utf8_lossy(&self.stderr_tail).into_owned()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

/// The deadline for a program that has closed its input.
fn grace_deadline(deadline: Instant) -> Instant {
    deadline.min(Instant::now() + SHUTDOWN_GRACE)
}

/// A time that is never reached.
fn far_future() -> Instant {
    Instant::now() + Duration::from_secs(60 * 60 * 24 * 365)
}

/// The streams that can be read or written.
struct ReadyStreams {
    replies: bool,
    stderr: bool,
    requests: bool,
}

fn system_error(error: Errno) -> RemoteErrorKind {
    RemoteErrorKind::System(io::Error::from(error).to_string())
}

fn connect_tcp(host_port: &str, options: &RemoteOptions) -> Result<TcpStream, RemoteErrorKind> {
    let unreachable = |why: String| RemoteErrorKind::Unreachable(format!("cannot be reached: {why}"));
    let addresses =
        host_port.to_socket_addrs().map_err(|error| unreachable(format!("{error}; check the name")))?;
    let mut last_error = unreachable("the name has no address".to_owned());
    for address in addresses {
        if !address.ip().is_loopback() && !options.allow_other_hosts {
            last_error = unreachable(format!(
                "{address} is on another machine, which is not allowed; allow it if you trust the network"
            ));
            continue;
        }
        match TcpStream::connect_timeout(&address, options.timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => last_error = unreachable(format!("{error}; check that the server listens there")),
        }
    }
    Err(last_error)
}
