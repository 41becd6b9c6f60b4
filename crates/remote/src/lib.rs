//! Subjects implemented by other programs.
//!
//! A language implemented in Python, JavaScript or any other language becomes a subject through a protocol of JSON
//! lines: over the standard streams of a program that is started ([`Address::Command`]), over a UNIX socket or over
//! TCP. `docs/remote.md` specifies the protocol; `examples/soup` has a language in Python with a module that implements
//! the protocol.
//!
//! [`Remote`] implements the semantic interface. [`RemoteSpace`] makes it a [`StateSpace`](invigil_explore::StateSpace)
//! that requests many configurations in one round trip. Requests never fail: after the first [`RemoteError`], every
//! reply is empty, and searches end as incomplete.
//!
//! ```text
//! Remote ─▶ connection ─▶ child or socket      request: one line of JSON
//!    ▲          │
//! registry ◀── reply ◀── one line of JSON      configurations become numbers
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `remote`, `subject`, `space` | requests; the semantic interface; the state space |
//! | `registry`, `json` | numbers for configurations and actions, which are compared by canonical texts |
//! | `connection`, `child`, `address` | lines with time-outs, over a child process or a socket |
//! | `reply`, `error`, `options` | parsing of replies, errors, limits |
//!
//! Invariants: equal JSON values are one configuration; no reply, however malformed, makes a request panic; a child
//! process never outlives its [`Remote`].

mod address;
mod child;
mod connection;
mod error;
mod json;
mod options;
mod registry;
mod remote;
mod reply;
mod space;
mod subject;

pub use address::Address;
pub use error::{RemoteError, RemoteErrorKind};
pub use json::canonical;
pub use options::RemoteOptions;
pub use registry::{RemoteAction, RemoteConfig};
pub use remote::Remote;
pub use space::{RemoteListener, RemoteSpace};
pub use subject::NoValue;

/// The version of the protocol.
pub const PROTOCOL: u64 = 1;
