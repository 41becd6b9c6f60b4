#![forbid(unsafe_code)]
//! Interactive runtime verification: a session combines a target, its monitors, the scenarios that react to them, and
//! joint checkpoints of all of these.
//!
//! A front end creates a [`Session`] from a [`Target`](invigil_target::Target), compiled properties and scenarios,
//! calls [`Session::start`] and then [`Session::run`] repeatedly. Both return a [`RunOutcome`] whenever the user has to
//! decide what happens next. In between, a session
//!
//! 1. resumes the target until the next [`StopReason`](invigil_target::StopReason);
//! 2. delivers each event to every monitor, in the order in which the properties were loaded;
//! 3. passes the needed events to the target, so that it instruments no others;
//! 4. lets the scenarios react to the changes of state, and then calls the functions that they deferred.
//!
//! | module | contents |
//! | --- | --- |
//! | `session`, `options` | the session's state; the queries available while the target is stopped; its limits |
//! | `run`, `events`, `outcome` | the run loop; delivery of events to the monitors; why a call returned |
//! | `attached_monitor`, `embedding_policy` | a monitor with its counters; when monitors step inside the target |
//! | `reactions`, `running_scenario`, `scenario_host` | scenarios: when they react, their state, the functions that their blocks call |
//! | `history` | past events and the transitions taken on them, in bounded memory |
//! | `checkpoint_tree`, `checkpoint_restore`, `reverse` | the tree of checkpoints; taking and restoring them; going back to an event |
//! | `recorder`, `report`, `listener` | writing a trace; the result of a run; messages and events for a front end |
//! | `value_text` | conversion of slices to text and of text to values |
//!
//! Invariants: the target is stopped between two calls; no event reaches a scenario before all monitors have
//! processed it; a checkpoint holds target, monitors and position in the history, but not the scenarios' variables.

mod attached_monitor;
mod checkpoint_restore;
mod checkpoint_tree;
mod embedding_policy;
mod events;
mod history;
mod listener;
mod options;
mod outcome;
mod reactions;
mod recorder;
mod report;
mod reverse;
mod run;
mod running_scenario;
mod scenario_host;
mod session;
mod value_text;

pub use checkpoint_tree::CheckpointInfo;
pub use history::{HistoryEvent, HistoryStep};
pub use listener::{CommandRunner, Listener, MessageSource, NoopListener};
pub use options::SessionOptions;
pub use outcome::{RunOutcome, StartError, StartOutcome, StateChange, SuspendReason};
pub use recorder::Recorder;
pub use report::{LiveViolation, ReportedFrame, SessionReport};
pub use reverse::{Divergence, ReverseResult};
pub use session::Session;
