//! The line to a remote semantics: requests out, answers in, and never for longer than allowed.

use crate::address::Address;
use crate::child::{self, Program, Streams};
use crate::failure::Reason;
use crate::options::Options;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a remote semantics that is at its end may take to be gone.
const PATIENCE: Duration = Duration::from_millis(500);
/// How much of what a program says on its standard error is kept.
const SAID: usize = 4096;

pub(crate) struct Link {
    requests: Option<OwnedFd>,
    answers: OwnedFd,
    errors: Option<OwnedFd>,
    program: Option<Program>,
    /// What was read and not yet used, and how much of it is known to hold no end of a line.
    pending: Vec<u8>,
    searched: usize,
    said: Vec<u8>,
}

impl Link {
    pub(crate) fn open(address: &Address, options: &Options) -> Result<Link, Reason> {
        let unreachable = |what: &str, error: io::Error, remedy: &str| {
            Reason::Unreachable(format!("cannot be {what}: {error}; {remedy}"))
        };
        match address {
            Address::Command(words) => {
                let (program, Streams { input, output, errors }) = child::start(words).map_err(|error| {
                    unreachable("started", error, "see whether the program is there and may be executed")
                })?;
                Link::new(input.into(), output.into(), Some(errors.into()), Some(program))
            }
            Address::Unix(path) => UnixStream::connect(path)
                .and_then(|stream| Ok((stream.try_clone()?, stream)))
                .map_err(|error| unreachable("reached", error, "see whether the server listens there"))
                .and_then(|(out, into)| Link::new(out.into(), into.into(), None, None)),
            Address::Tcp(place) => {
                let stream = dial(place, options)?;
                stream
                    .set_nodelay(true)
                    .and_then(|()| Ok((stream.try_clone()?, stream)))
                    .map_err(|error| unreachable("reached", error, "see whether the server listens there"))
                    .and_then(|(out, into)| Link::new(out.into(), into.into(), None, None))
            }
        }
    }

    fn new(
        requests: OwnedFd,
        answers: OwnedFd,
        errors: Option<OwnedFd>,
        program: Option<Program>,
    ) -> Result<Link, Reason> {
        for stream in [Some(&requests), Some(&answers), errors.as_ref()].into_iter().flatten() {
            ioctl_fionbio(stream, true).map_err(system)?;
        }
        let requests = Some(requests);
        Ok(Link { requests, answers, errors, program, pending: Vec::new(), searched: 0, said: Vec::new() })
    }

    /// Sends one line and waits for the one that answers it.
    pub(crate) fn exchange(&mut self, line: &[u8], options: &Options) -> Result<Vec<u8>, Reason> {
        let mut deadline = Instant::now().checked_add(options.timeout).unwrap_or_else(far);
        let mut late = Reason::Late(options.timeout);
        let mut rest = line;
        if self.requests.is_none() {
            // It closed its input after it had answered the last request.
            (deadline, late, rest) = (soon(deadline), Reason::Deaf, &[]);
        }
        loop {
            let end = self.end_of_line(options.line)?;
            if let (Some(end), []) = (end, rest) {
                return Ok(self.take(end));
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return Err(late) };
            // More than one line is not read ahead: who floods us is left waiting.
            let ready = self.wait(end.is_none(), !rest.is_empty(), left)?;
            if ready.errors {
                self.listen();
            }
            if ready.answers && !self.receive()? {
                return Err(Reason::Ended(self.end()));
            }
            if ready.requests && !self.send(&mut rest)? {
                // It may be about to end, or to answer before it does.
                self.requests = None;
                (deadline, late, rest) = (soon(deadline), Reason::Deaf, &[]);
            }
        }
    }

    /// Waits until something can be done, or for so long.
    fn wait(&self, is_reading: bool, is_sending: bool, left: Duration) -> Result<Ready, Reason> {
        let sending = if is_sending { PollFlags::OUT } else { PollFlags::empty() };
        let answers = is_reading.then(|| PollFd::new(&self.answers, PollFlags::IN));
        let errors = self.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN));
        // A pipe tells even if not asked when nobody reads it any more.
        let requests = self.requests.as_ref().map(|requests| PollFd::new(requests, sending));
        let asked = [answers.is_some(), errors.is_some(), requests.is_some()];
        let mut fds: Vec<_> = [answers, errors, requests].into_iter().flatten().collect();
        let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        match poll(&mut fds, Some(&left)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(system(error)),
        }
        let mut found = fds.iter().map(|fd| !fd.revents().is_empty());
        let [answers, errors, requests] = asked.map(|is_asked| is_asked && found.next().unwrap_or(false));
        Ok(Ready { answers, errors, requests })
    }

    /// Where the first line ends, if it does.
    fn end_of_line(&mut self, most: usize) -> Result<Option<usize>, Reason> {
        let end = self.pending[self.searched..].iter().position(|byte| *byte == b'\n');
        self.searched = end.map_or(self.pending.len(), |end| self.searched + end);
        if self.searched > most {
            return Err(Reason::Long(most));
        }
        Ok(end.map(|_| self.searched))
    }

    /// Takes the line that ends there.
    fn take(&mut self, end: usize) -> Vec<u8> {
        let rest = self.pending.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.pending, rest);
        line.pop();
        self.searched = 0;
        line
    }

    /// Reads what is there; false at the end.
    fn receive(&mut self) -> Result<bool, Reason> {
        let mut buffer = [0; 1 << 16];
        match read(&self.answers, &mut buffer) {
            Ok(0) | Err(Errno::CONNRESET) => Ok(false),
            Ok(length) => {
                self.pending.extend_from_slice(&buffer[..length]);
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(true),
            Err(error) => Err(system(error)),
        }
    }

    /// Writes what there is room for; false if nobody reads it any more.
    fn send(&mut self, rest: &mut &[u8]) -> Result<bool, Reason> {
        let Some(requests) = &self.requests else { return Ok(true) };
        if rest.is_empty() {
            // It was not asked for, so it can only be that the other end is closed.
            return Ok(false);
        }
        match write(requests, rest) {
            Ok(length) => {
                *rest = &rest[length..];
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(true),
            Err(Errno::PIPE | Errno::CONNRESET) => Ok(false),
            Err(error) => Err(system(error)),
        }
    }

    /// Hears what the program says to people, and keeps the last of it.
    fn listen(&mut self) {
        let Some(errors) = &self.errors else { return };
        let mut buffer = [0; SAID];
        match read(errors, &mut buffer) {
            Ok(length) if length > 0 => {
                self.said.extend_from_slice(&buffer[..length]);
                let old = self.said.len().saturating_sub(SAID);
                self.said.drain(..old);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.errors = None,
        }
    }

    /// Closes the line; a program that was started for it may end by itself, or is ended.
    fn end(&mut self) -> Option<String> {
        self.requests = None;
        self.program.take().and_then(|mut program| program.end(PATIENCE))
    }

    /// Closes the line at once; the last that the program said.
    pub(crate) fn cut(mut self) -> String {
        if let Some(mut program) = self.program.take() {
            program.end(Duration::ZERO);
        }
        // The pipe holds no more than so much, whoever else may have it open.
        for _ in 0..64 {
            self.listen();
        }
        String::from_utf8_lossy(&self.said).into_owned()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.end();
    }
}

/// When the patience with someone is at its end.
fn soon(deadline: Instant) -> Instant {
    deadline.min(Instant::now() + PATIENCE)
}

/// A time that does not come.
fn far() -> Instant {
    Instant::now() + Duration::from_secs(60 * 60 * 24 * 365)
}

struct Ready {
    answers: bool,
    errors: bool,
    requests: bool,
}

fn system(error: Errno) -> Reason {
    Reason::System(io::Error::from(error).to_string())
}

fn dial(place: &str, options: &Options) -> Result<TcpStream, Reason> {
    let unreachable = |why: String| Reason::Unreachable(format!("cannot be reached: {why}"));
    let found = place
        .to_socket_addrs()
        .map_err(|error| unreachable(format!("{error}; see whether the name is right")))?;
    let mut last = unreachable("the name has no address".to_owned());
    for address in found {
        if !address.ip().is_loopback() && !options.anywhere {
            last = unreachable(format!(
                "{address} is another machine's, and that is not allowed; allow it if you trust the way there"
            ));
            continue;
        }
        match TcpStream::connect_timeout(&address, options.timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = unreachable(format!("{error}; see whether the server listens there")),
        }
    }
    Err(last)
}
