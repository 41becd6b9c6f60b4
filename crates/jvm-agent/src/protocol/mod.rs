//! The protocol between the debugger and the agent.
//!
//! The agent opens two connections to the debugger's socket, and starts each with a [`Greeting`]. On the first one the
//! debugger sends a [`Request`] at any time, and the agent sends one [`Answer`] to each. On the second one the agent
//! sends an [`AgentEvent`], one at a time over all threads, and the thread that it is about waits for a
//! [`ThreadCommand`]. A message is its length in four bytes, little-endian, followed by its bytes ([`wire`]).

mod messages;
pub mod wire;

pub use messages::*;
use std::fmt;
use std::io::{self, Read, Write};
pub use wire::{MalformedMessage, Wire, decode, encode};

/// Maximum length of a message.
pub const MAX_MESSAGE: usize = 64 << 20;

/// The warning in [`AgentEvent::Exits`] of a virtual machine that ended before it loaded a class of the program.
pub const NOT_BEGUN: &str = "its main class was not loaded";

/// Why a connection ended.
#[derive(Debug)]
pub enum Disconnected {
    /// The other side closed it.
    Closed,
    /// The other side sent a malformed message.
    Malformed,
    /// The connection failed.
    Failed(io::Error),
}

impl fmt::Display for Disconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disconnected::Closed => f.write_str("the connection was closed by the other side"),
            Disconnected::Malformed => MalformedMessage.fmt(f),
            Disconnected::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Disconnected {}

impl From<io::Error> for Disconnected {
    fn from(error: io::Error) -> Disconnected {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                Disconnected::Closed
            }
            _ => Disconnected::Failed(error),
        }
    }
}

/// Sends a message.
///
/// # Errors
/// If the connection fails.
pub fn send(to: &mut impl Write, message: &impl Wire) -> Result<(), Disconnected> {
    let mut bytes = vec![0; 4];
    message.put(&mut bytes);
    let length = bytes.len() - 4;
    if length > MAX_MESSAGE {
        return Err(Disconnected::Failed(io::Error::other("the message is too long")));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(to.write_all(&bytes)?)
}

/// Receives a message.
///
/// # Errors
/// If the connection fails, or the message is malformed.
///
/// ```
/// use invigil_jvm_agent::protocol::{receive, send, Disconnected, ThreadCommand};
/// let mut line = Vec::new();
/// send(&mut line, &ThreadCommand::Continue)?;
/// assert_eq!(receive::<ThreadCommand>(&mut line.as_slice())?, ThreadCommand::Continue);
/// assert!(matches!(receive::<ThreadCommand>(&mut &b"GET / HTTP/1.1"[..]), Err(Disconnected::Malformed)));
/// # Ok::<(), Disconnected>(())
/// ```
pub fn receive<T: Wire>(from: &mut impl Read) -> Result<T, Disconnected> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE {
        return Err(Disconnected::Malformed);
    }
    let mut bytes = Vec::new();
    // The buffer grows with the received bytes, so a wrong length allocates nothing.
    let got = from.take(length as u64).read_to_end(&mut bytes)?;
    if got < length {
        return Err(Disconnected::Closed);
    }
    decode(&bytes).map_err(|MalformedMessage| Disconnected::Malformed)
}
