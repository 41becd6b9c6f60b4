#![forbid(unsafe_code)]
//! The pipeline of MaC (Monitoring and Checking): stages that can run in separate processes.
//!
//! ```text
//! filter ── snapshots ──▶ recogniser (PEDL) ── instants ──▶ checker (MEDL) ──▶ CheckOutcome
//! ```
//!
//! A *filter* is part of a program or follows its output, and reports snapshots of the monitored entities. A
//! [`SnapshotReader`] reads them in one of two formats: lines of text, which any program can write, or the bytes of the
//! published format with its limits. [`recognise`] runs a recogniser over the snapshots. The resulting instants go to a
//! [`Sink`]: to a [`CheckRun`] in the same process, through a [`BufferedSender`] and a [`Channel`] to a checker in
//! another process, or to a file. There, [`check`] reads them, again in one of two formats. Logs are another source of
//! snapshots ([`trace::TraceMapping`]).
//!
//! Readers do not access files or sockets: they are fed with bytes and return what is complete, so that a stage can
//! send all its results before it waits for more input.
//!
//! [`CompiledScript`] is the output of the static phase, as a file for the stages and for programs that instrument the
//! target.
//!
//! | module | contents |
//! | --- | --- |
//! | `recognise`, `check_run` | the stages: recogniser and checker |
//! | `format`, `text`, `bytes`, `byte_queue` | both formats; buffering of received bytes |
//! | `channel`, `sender` | connections between stages, and sending without silent loss |
//! | `snapshot`, `entities` | snapshots that own their data; monitored entities by name and number |
//! | [`trace`] | logs as a source of snapshots |
//! | `compiled_script` | compiled scripts and instrumentation plans |
//! | `error` | errors in the input, with their position |
//!
//! Invariants: a reader reads back what the writer of its format writes; a truncated or malformed stream is an error,
//! never a shorter run.

mod byte_queue;
mod bytes;
mod channel;
mod check_run;
mod compiled_script;
mod entities;
mod error;
mod format;
mod recognise;
mod sender;
mod snapshot;
mod text;
pub mod trace;

pub use channel::{Channel, Connection, WaitPolicy};
pub use check_run::{CheckOutcome, CheckRun, CheckSummary, Requirement, RequirementKind, check};
pub use compiled_script::{CompiledScript, ScriptKind, instrumentation_plan, parse_constant};
pub use entities::{Entity, EntityTable, MonitoredId};
pub use error::{FormatError, InputError, InputErrors, InputPosition};
pub use format::{GroupReader, GroupWriter, ReadProgress, SnapshotReader, SnapshotWriter, StreamFormat};
pub use recognise::{RecognitionSummary, Sink, recognise};
pub use sender::{BufferedSender, SendStats};
pub use snapshot::{OwnedSnapshot, OwnedValue, TimedSnapshot};
