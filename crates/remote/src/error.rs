//! Errors in the communication with a remote subject.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The error after which a remote subject is unusable. Its text has the address, the error and a remedy.
///
/// ```
/// use invigil_remote::{Address, RemoteOptions, Remote};
/// let error = Remote::start(&Address::command(["/no/such/language"]), RemoteOptions::default()).unwrap_err();
/// assert!(error.to_string().starts_with("the remote subject `/no/such/language` cannot be started"));
/// assert!(error.incomplete_note().starts_with("incomplete: the remote subject"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteError {
    /// The address of the remote subject.
    pub address: String,
    /// The request that failed.
    pub request: &'static str,
    /// The error.
    pub kind: RemoteErrorKind,
    /// The end of the program's standard error, if this process started it.
    pub stderr: String,
}

/// The kinds of errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteErrorKind {
    /// The program cannot be started, or no server listens at the address.
    Unreachable(String),
    /// The program exited or closed the connection; with the exit status, if known.
    Ended(Option<String>),
    /// The program no longer reads requests.
    InputClosed,
    /// There was no reply within this time.
    Timeout(Duration),
    /// The reply is longer than this number of bytes.
    TooLong(usize),
    /// The reply is malformed: the error, and the start of the reply.
    Malformed(String, String),
    /// The reply has the id of another request.
    WrongId {
        /// The id of the request.
        expected: u64,
        /// The id of the reply.
        received: u64,
    },
    /// The remote subject uses this version of the protocol.
    VersionMismatch(u64),
    /// The reply is an error message.
    ErrorReply(String),
    /// A system call failed.
    System(String),
}

impl RemoteError {
    /// The note for search results that this error makes incomplete.
    pub fn incomplete_note(&self) -> String {
        format!("incomplete: {self}")
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RemoteError { address, request, kind, stderr } = self;
        write!(f, "the remote subject {address} ")?;
        match kind {
            RemoteErrorKind::Unreachable(why) => write!(f, "{why}"),
            RemoteErrorKind::Ended(Some(status)) => {
                write!(f, "ended ({status}) instead of answering `{request}`; run it by hand to see why")
            }
            RemoteErrorKind::Ended(None) => {
                write!(f, "closed the connection instead of answering `{request}`; see the server's log")
            }
            RemoteErrorKind::InputClosed => write!(
                f,
                "closed its input and did not answer `{request}`; it must read one line per request until the end of its input"
            ),
            RemoteErrorKind::Timeout(time) => write!(
                f,
                "did not answer `{request}` within {time:?}; allow more time, request fewer configurations at once, or check \
                 whether it hangs"
            ),
            RemoteErrorKind::TooLong(max_line) => write!(
                f,
                "answers `{request}` with a line of more than {max_line} bytes; request fewer configurations at once, or raise \
                 the limit"
            ),
            RemoteErrorKind::Malformed(why, start) => write!(
                f,
                "answers `{request}` with a malformed reply: {why}; it must write exactly one line of JSON \
                 to its output; the reply starts with `{start}`"
            ),
            RemoteErrorKind::WrongId { expected, received } => write!(
                f,
                "replied to request {received} instead of request {expected} (`{request}`); it must send one reply to each \
                 request, in their order"
            ),
            RemoteErrorKind::VersionMismatch(version) => write!(
                f,
                "uses version {version} of the protocol, but this is version {}; update the older one",
                crate::PROTOCOL
            ),
            RemoteErrorKind::ErrorReply(message) => write!(f, "answers `{request}` with an error: {message}"),
            RemoteErrorKind::System(why) => write!(f, "cannot be reached for `{request}`: {why}"),
        }?;
        match stderr.trim() {
            "" => Ok(()),
            stderr => write!(f, "\nits standard error:\n{stderr}"),
        }
    }
}

impl Error for RemoteError {}
