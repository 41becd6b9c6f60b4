#![forbid(unsafe_code)]
//! An interactively verified program: a subject, its monitors, a scenario that reacts to their verdicts, and
//! checkpoints of all of them together.
//!
//! A [`Session`] is driven by [`Session::start`] and [`Session::run`], which come back with an [`Outcome`]
//! whenever a person, or whoever stands in for one, is to decide what is next. In between every event goes
//! to every monitor in the order they were loaded; what the subject reports is narrowed to what they need
//! next; the scenario reacts to their verdicts; and functions that it deferred are called.

mod back;
mod checkpoints;
pub mod due;
mod events;
mod history;
mod hosting;
pub mod library;
mod listen;
mod monitored;
mod options;
mod outcome;
mod pace;
mod playing;
mod reactions;
mod record;
mod report;
mod restore;
mod run;
mod session;
pub mod stream;
pub mod subject;
mod words;

pub use back::{Back, Divergence};
pub use checkpoints::JointCheckpoint;
pub use history::{Past, PastStep};
pub use listen::{Commander, Listener, Speaker, Unheard};
pub use options::Options;
pub use outcome::{Outcome, Reason, StartError, Started, VerdictChange};
pub use record::Recorder;
pub use report::{Report, ReportedFrame, Violation};
pub use session::Session;
