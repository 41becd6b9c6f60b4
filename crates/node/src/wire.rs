//! Messages between nodes, and between nodes and clients.
//!
//! Every payload starts with a magic number and the version of the protocol; the rest is postcard. A payload that
//! exceeds its limit, has another version or cannot be decoded is a [`WireError`].

use crate::deployment::Deployment;
use crate::run::RunProgress;
use invigil_decent::system::{Instant, MonitorId};
use invigil_ltl::moore::Truth;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the protocol. Nodes of different versions do not communicate.
pub const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"IVGN";
const HEADER_LEN: usize = MAGIC.len() + size_of::<u16>();

/// Id of a run, drawn by the client.
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

/// Message from one monitor to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorMessage {
    /// Sender.
    pub from: MonitorId,
    /// Receiver.
    pub to: MonitorId,
    /// Message of the algorithm, encoded.
    pub content: Vec<u8>,
}

/// Verdict of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The verdict.
    pub truth: Truth,
    /// Its instant.
    pub instant: Instant,
    /// Monitor that reached it.
    pub monitor: MonitorId,
}

/// All messages of one node to another in a round. It is sent in every round, mostly without messages, since it also
/// signals to the receiver that it may continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundBundle {
    /// The round.
    pub round: Instant,
    /// Messages of the sender's monitors to the receiver's, in the order in which they were sent.
    pub messages: Vec<MonitorMessage>,
    /// Verdict of the sender's monitors, if they reached one.
    pub verdict: Option<Verdict>,
    /// Whether all traces of the sender have ended.
    pub is_over: bool,
}

/// Message between nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeMessage {
    /// Bundle of a round.
    Bundle(RoundBundle),
    /// Request for the receiver's bundle of a round.
    Resend(Instant),
    /// Answer to a request about a run that the sender does not have.
    UnknownRun,
}

/// Message with its run and its sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The run.
    pub run: RunId,
    /// Index of the sender among the nodes of the run.
    pub from: u16,
    /// The message.
    pub message: NodeMessage,
}

/// Request of a client to a node. All requests are idempotent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Take part in a run.
    Deploy(Box<Deployment>),
    /// Report the status.
    Status,
    /// Remove a run.
    Stop(RunId),
}

/// Reply of a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// Success.
    Done,
    /// The status.
    Status(NodeStatus),
    /// Failure, with the reason.
    Refused(String),
}

/// Status of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// Uptime in seconds.
    pub seconds: u64,
    /// Number of rejected payloads.
    pub refused: u64,
    /// Reason of the last rejection.
    pub last_refusal: Option<String>,
    /// Number of payloads dropped unread because the queue was full.
    pub dropped: u64,
    /// Its runs.
    pub runs: Vec<RunProgress>,
}

/// Payload with a size limit.
pub trait Payload: Serialize + DeserializeOwned {
    /// Limit in bytes.
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

/// Reason why a payload is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireError {
    /// It is too large.
    TooLarge {
        /// Its size.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// It has another magic number.
    UnknownProtocol,
    /// It has another version.
    Version(u16),
    /// It cannot be decoded.
    Malformed,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::TooLarge { size, limit } => {
                write!(f, "the payload has {size} bytes, more than the limit of {limit}")
            }
            WireError::UnknownProtocol => f.write_str("the payload is not of this protocol"),
            WireError::Version(theirs) => {
                write!(
                    f,
                    "the payload has protocol version {theirs}, this node has {VERSION}: use the same version on all nodes"
                )
            }
            WireError::Malformed => f.write_str("the payload is malformed"),
        }
    }
}

impl std::error::Error for WireError {}

/// Encodes a payload.
///
/// ```
/// use invigil_node::wire::{self, Envelope, NodeMessage, WireError, RunId};
///
/// let envelope = Envelope { run: RunId(7), from: 0, message: NodeMessage::Resend(3) };
/// let bytes = wire::encode(&envelope)?;
/// assert_eq!(wire::decode::<Envelope>(&bytes), Ok(envelope));
/// assert_eq!(wire::decode::<Envelope>(b"hello"), Err(WireError::UnknownProtocol));
/// # Ok::<(), WireError>(())
/// ```
///
/// # Errors
/// Fails if it is too large.
pub fn encode<P: Payload>(payload: &P) -> Result<Vec<u8>, WireError> {
    let head = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
    let bytes = postcard::to_extend(payload, head).map_err(|_| WireError::Malformed)?;
    check_size(bytes.len(), P::LIMIT)?;
    Ok(bytes)
}

/// Decodes a payload.
///
/// # Errors
/// Fails if it is too large, of another version, or malformed.
pub fn decode<P: Payload>(bytes: &[u8]) -> Result<P, WireError> {
    check_size(bytes.len(), P::LIMIT)?;
    let (head, body) = bytes.split_at_checked(HEADER_LEN).ok_or(WireError::UnknownProtocol)?;
    let [m0, m1, m2, m3, low, high] = *head else { return Err(WireError::UnknownProtocol) };
    if [m0, m1, m2, m3] != MAGIC {
        return Err(WireError::UnknownProtocol);
    }
    match u16::from_le_bytes([low, high]) {
        VERSION => unpack(body),
        theirs => Err(WireError::Version(theirs)),
    }
}

/// Decodes postcard without trailing bytes.
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(WireError::Malformed),
    }
}

pub(crate) fn check_size(size: usize, limit: usize) -> Result<(), WireError> {
    if size > limit { Err(WireError::TooLarge { size, limit }) } else { Ok(()) }
}
