//! What nodes say to each other and to clients.
//!
//! Every payload begins with four letters and the version of the protocol; the rest is postcard. What is larger than its limit,
//! is of another version or does not decode is a [`Refusal`].

use crate::deployment::Deployment;
use crate::run::Progress;
use invigil_decent::system::{Instant, MonitorId};
use invigil_ltl::moore::Truth;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the protocol. Nodes of different versions do not talk to each other.
pub const VERSION: u16 = 1;

const MARK: [u8; 4] = *b"IVGN";
const HEAD: usize = MARK.len() + size_of::<u16>();

/// A run, by a number that the client drew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl std::str::FromStr for RunId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<RunId, Self::Err> {
        u64::from_str_radix(text, 16).map(RunId)
    }
}

/// A message from one monitor to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Who sent it.
    pub from: MonitorId,
    /// For whom it is.
    pub to: MonitorId,
    /// What the algorithm wants to say.
    pub content: Vec<u8>,
}

/// A verdict of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What it is.
    pub truth: Truth,
    /// The instant that it is of.
    pub of: Instant,
    /// Who found it.
    pub by: MonitorId,
}

/// All that one node has to tell another about a round. There is one for every round, mostly without letters: it is also how a
/// node learns that it may go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Which round.
    pub round: Instant,
    /// What the sender's monitors sent to the receiver's, in the order in which they did.
    pub letters: Vec<Letter>,
    /// The verdict that the sender's monitors came to, if they did.
    pub verdict: Option<Verdict>,
    /// Whether no component of the sender observed anything, because all of its traces are over.
    pub is_over: bool,
}

/// What nodes send to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mail {
    /// A round's bundle.
    Bundle(Bundle),
    /// The sender waits for the receiver's bundle of a round.
    Ask(Instant),
    /// The sender was asked for something of a run that it does not have.
    Gone,
}

/// Mail with the run that it belongs to and who sent it, by its place among the run's nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The run.
    pub run: RunId,
    /// The sender.
    pub from: u16,
    /// What it is.
    pub mail: Mail,
}

/// What a client wants of a node. All of it may be asked twice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Take part in a run.
    Deploy(Box<Deployment>),
    /// How is it going?
    Status,
    /// Forget a run.
    Stop(RunId),
}

/// What a node answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// It is done.
    Done,
    /// How it is going.
    Status(NodeStatus),
    /// It cannot be done: why.
    Refused(String),
}

/// How a node is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// For how many seconds it has been running.
    pub seconds: u64,
    /// How many payloads it refused.
    pub refused: u64,
    /// Why it refused the last one.
    pub last_refusal: Option<String>,
    /// How many payloads it let go unread, since more came than it could handle.
    pub let_go: u64,
    /// Its runs.
    pub runs: Vec<Progress>,
}

/// What can be sent: how large it may be.
pub trait Payload: Serialize + DeserializeOwned {
    /// In bytes.
    const LIMIT: usize;
}

impl Payload for Envelope {
    const LIMIT: usize = 8 << 20;
}

impl Payload for Request {
    const LIMIT: usize = 64 << 20;
}

impl Payload for Reply {
    const LIMIT: usize = 8 << 20;
}

/// Why a payload is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is too large.
    TooLarge {
        /// How large it is.
        size: usize,
        /// How large it may be.
        limit: usize,
    },
    /// It does not begin as ours do.
    Foreign,
    /// It is of another version.
    Version(u16),
    /// It does not decode.
    Garbled,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooLarge { size, limit } => write!(f, "it has {size} bytes, more than {limit}"),
            Refusal::Foreign => f.write_str("it is not of this protocol"),
            Refusal::Version(theirs) => {
                write!(
                    f,
                    "it is of version {theirs} of the protocol, this is {VERSION}: use the same on all nodes"
                )
            }
            Refusal::Garbled => f.write_str("it does not decode"),
        }
    }
}

impl std::error::Error for Refusal {}

/// The bytes of a payload.
///
/// ```
/// use invigil_node::wire::{self, Envelope, Mail, Refusal, RunId};
///
/// let letter = Envelope { run: RunId(7), from: 0, mail: Mail::Ask(3) };
/// let bytes = wire::encode(&letter)?;
/// assert_eq!(wire::decode::<Envelope>(&bytes), Ok(letter));
/// assert_eq!(wire::decode::<Envelope>(b"hello"), Err(Refusal::Foreign));
/// # Ok::<(), Refusal>(())
/// ```
///
/// # Errors
/// If it is too large.
pub fn encode<P: Payload>(payload: &P) -> Result<Vec<u8>, Refusal> {
    let head = [&MARK[..], &VERSION.to_le_bytes()].concat();
    let bytes = postcard::to_extend(payload, head).map_err(|_| Refusal::Garbled)?;
    within(bytes.len(), P::LIMIT)?;
    Ok(bytes)
}

/// The payload of bytes that came.
///
/// # Errors
/// If they are too many, of another version, or nonsense.
pub fn decode<P: Payload>(bytes: &[u8]) -> Result<P, Refusal> {
    within(bytes.len(), P::LIMIT)?;
    let (head, body) = bytes.split_at_checked(HEAD).ok_or(Refusal::Foreign)?;
    let [m0, m1, m2, m3, low, high] = *head else { return Err(Refusal::Foreign) };
    if [m0, m1, m2, m3] != MARK {
        return Err(Refusal::Foreign);
    }
    match u16::from_le_bytes([low, high]) {
        VERSION => unpack(body),
        theirs => Err(Refusal::Version(theirs)),
    }
}

/// Plain data from its postcard, with nothing behind it.
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(Refusal::Garbled),
    }
}

pub(crate) fn within(size: usize, limit: usize) -> Result<(), Refusal> {
    if size > limit { Err(Refusal::TooLarge { size, limit }) } else { Ok(()) }
}
