//! Languages of other programs as subjects.
//!
//! A language written in Python, JavaScript or anything else becomes a subject through a protocol of JSON lines, over
//! the standard streams of a program that is started ([`Address::Command`]), a UNIX socket or TCP. `docs/remote.md`
//! has the protocol, `examples/soup` a language in Python with a module that speaks it.
//!
//! [`Remote`] implements the semantic interface; [`Explored`] makes it a [`Space`](invigil_explore::Space) that asks
//! for many configurations in one round trip.

mod address;
mod answer;
mod child;
mod failure;
mod json;
mod known;
mod link;
mod options;
mod remote;
mod space;
mod subject;

pub use address::Address;
pub use failure::{Failure, Reason};
pub use json::canonical;
pub use known::{Action, Config};
pub use options::Options;
pub use remote::Remote;
pub use space::{Attended, Explored};
pub use subject::NoValue;

/// The version of the protocol.
pub const PROTOCOL: u64 = 1;
