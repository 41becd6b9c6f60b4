//! What can go wrong with a remote semantics, in words.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a remote semantics cannot be asked any more. Shown, it says who, what, and the remedy.
///
/// ```
/// use invigil_remote::{Address, Options, Remote};
/// let failure = Remote::start(&Address::command(["/no/such/language"]), Options::default()).unwrap_err();
/// assert!(failure.to_string().starts_with("the remote semantics `/no/such/language` cannot be started"));
/// assert!(failure.incomplete().starts_with("incomplete: the remote semantics"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The remote semantics, by its address.
    pub who: String,
    /// What it was asked.
    pub ask: &'static str,
    /// What went wrong.
    pub reason: Reason,
    /// The last that the program wrote to its standard error, if it was started here.
    pub said: String,
}

/// What went wrong with a remote semantics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The program cannot be started, or nobody listens.
    Unreachable(String),
    /// It ended, or closed the connection; with how, if that is known.
    Ended(Option<String>),
    /// It no longer reads what it is asked.
    Deaf,
    /// There was no answer in this time.
    Late(Duration),
    /// The answer has more than this many bytes.
    Long(usize),
    /// The answer cannot be read: why, and how it begins.
    Unreadable(String, String),
    /// The answer is to another request.
    Misplaced {
        /// The number of the request.
        asked: u64,
        /// The number in the answer.
        answered: u64,
    },
    /// It speaks this version of the protocol.
    Version(u64),
    /// It answers with an error.
    Refused(String),
    /// The system fails.
    System(String),
}

impl Failure {
    /// What the result of a search must say in which this happened.
    pub fn incomplete(&self) -> String {
        format!("incomplete: {self}")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { who, ask, reason, said } = self;
        write!(f, "the remote semantics {who} ")?;
        match reason {
            Reason::Unreachable(why) => write!(f, "{why}"),
            Reason::Ended(Some(how)) => {
                write!(f, "ended ({how}) instead of answering `{ask}`; run it by hand to see why")
            }
            Reason::Ended(None) => {
                write!(f, "closed the connection instead of answering `{ask}`; see what the server says")
            }
            Reason::Deaf => write!(
                f,
                "closed its input and did not answer `{ask}`; it must read a line for each request until there is none"
            ),
            Reason::Late(time) => write!(
                f,
                "did not answer `{ask}` within {time:?}; allow more time, ask for fewer configurations at once, or see \
                 whether it is stuck"
            ),
            Reason::Long(most) => write!(
                f,
                "answers `{ask}` with a line of more than {most} bytes; ask for fewer configurations at once, or raise \
                 the limit"
            ),
            Reason::Unreadable(why, begin) => write!(
                f,
                "answers `{ask}` with what cannot be read: {why}; it must write one line of JSON, and nothing else, \
                 to its output; the answer begins with `{begin}`"
            ),
            Reason::Misplaced { asked, answered } => write!(
                f,
                "answers request {answered} when asked request {asked} (`{ask}`); it must give one answer to each \
                 request, in their order"
            ),
            Reason::Version(version) => write!(
                f,
                "speaks version {version} of the protocol, and this is version {}; bring the older of both up to date",
                crate::PROTOCOL
            ),
            Reason::Refused(words) => write!(f, "answers `{ask}` with an error: {words}"),
            Reason::System(why) => write!(f, "cannot be asked for `{ask}`: {why}"),
        }?;
        match said.trim() {
            "" => Ok(()),
            said => write!(f, "\nit said:\n{said}"),
        }
    }
}

impl Error for Failure {}
