#![forbid(unsafe_code)]
//! Monitoring and checking as stages that can run apart from each other: what goes between them, and how.
//!
//! ```text
//! filter ── snapshots ──▶ recogniser (PEDL) ── instants ──▶ checker (MEDL) ──▶ Outcome
//! ```
//!
//! A *filter* sits in or behind a program and tells what happens in it. What it sends is read by a
//! [`SnapshotReader`], in one of two formats: lines of text that any program can write, or the bytes of the
//! published format with its limits. [`recognise`] runs a recogniser over it; what comes out goes to a [`Sink`]:
//! to a [`Checking`] in the same process, or through a [`Delivery`] and a channel ([`Channel`]) to a checker
//! elsewhere, or to a file that is checked later. [`check`] reads it there, again in one of two formats. Logs are
//! another source of snapshots ([`trace::Mapping`]).
//!
//! Readers know nothing of files and sockets: they are fed with bytes and give what is complete, so that a stage
//! can send on all it has before it waits for more.
//!
//! [`Compiled`] is a script as the static phase leaves it: in files, for the stages and for whoever
//! instruments the program.

mod bytes;
mod channel;
mod checking;
mod compiled;
mod delivery;
mod entities;
mod feed;
mod format;
mod problem;
mod recognise;
mod taken;
mod text;
pub mod trace;

pub use channel::{Channel, Connection, Waiting};
pub use checking::{Checked, Checking, Outcome, Requirement, Sort, check};
pub use compiled::{Compiled, Phase, constant, plan};
pub use delivery::{Delivered, Delivery};
pub use entities::{Entities, Entity, Watched};
pub use format::{Format, GroupReader, GroupWriter, Said, SnapshotReader, SnapshotWriter};
pub use problem::{Limit, Place, Problem, Problems};
pub use recognise::{Recognised, Sink, recognise};
pub use taken::{Held, Taken, What};
