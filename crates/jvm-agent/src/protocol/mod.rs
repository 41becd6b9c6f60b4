//! The protocol between the tool and the agent.
//!
//! The agent opens two connections to the tool's socket, and begins each with a [`Greeting`]. On the first the tool
//! asks and the agent answers, at any time. On the second the agent tells [`News`], one at a time over all
//! threads, and the thread that they are about waits for an [`Order`]. A message is its length in four bytes,
//! little-endian, and then its bytes ([`wire`]).

mod messages;
pub mod wire;

pub use messages::*;
use std::fmt;
use std::io::{self, Read, Write};
pub use wire::{Garbled, Wire, decode, encode};

/// No message is longer.
pub const LONGEST: usize = 64 << 20;

/// The complaint in [`News::Exits`] of a machine that came to its end before it loaded a class of the program.
pub const NOT_BEGUN: &str = "its main class was not loaded";

/// Why a conversation ends.
#[derive(Debug)]
pub enum Lost {
    /// The other side hung up.
    Closed,
    /// It sent something that is no message.
    Garbled,
    /// The connection failed.
    Failed(io::Error),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::Closed => f.write_str("the other side hung up"),
            Lost::Garbled => Garbled.fmt(f),
            Lost::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Lost {}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Lost {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                Lost::Closed
            }
            _ => Lost::Failed(error),
        }
    }
}

/// Sends a message.
///
/// # Errors
/// If the connection is lost.
pub fn send(to: &mut impl Write, message: &impl Wire) -> Result<(), Lost> {
    let mut bytes = vec![0; 4];
    message.put(&mut bytes);
    let length = bytes.len() - 4;
    if length > LONGEST {
        return Err(Lost::Failed(io::Error::other("the message is too long")));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(to.write_all(&bytes)?)
}

/// Receives a message.
///
/// # Errors
/// If the connection is lost, or what comes is no message.
///
/// ```
/// use invigil_jvm_agent::protocol::{receive, send, Lost, Order};
/// let mut line = Vec::new();
/// send(&mut line, &Order::Go)?;
/// assert_eq!(receive::<Order>(&mut line.as_slice())?, Order::Go);
/// assert!(matches!(receive::<Order>(&mut &b"GET / HTTP/1.1"[..]), Err(Lost::Garbled)));
/// # Ok::<(), Lost>(())
/// ```
pub fn receive<T: Wire>(from: &mut impl Read) -> Result<T, Lost> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(Lost::Garbled);
    }
    let mut bytes = Vec::new();
    // What does not come is not made room for.
    let got = from.take(length as u64).read_to_end(&mut bytes)?;
    if got < length {
        return Err(Lost::Closed);
    }
    decode(&bytes).map_err(|Garbled| Lost::Garbled)
}
