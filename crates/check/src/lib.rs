#![forbid(unsafe_code)]
//! Recorded traces and live streams under properties.
//!
//! [`check`] reads a trace, steps every property on every event that it needs, and gives an [`Outcome`]:
//! per property how it fared, and for each of the first violations a [`Finding`] with the slice, the event
//! and the path of states that led there. Memory grows with the live slices, not with the trace.

mod driver;
mod finding;
mod history;
mod outcome;
mod replay;
pub mod report;
mod shown;
mod silent;
mod watcher;

pub use driver::{Listener, Options, Quiet, check};
pub use finding::{Binding, Finding, Happening, PathStep, Variable, binding, env, happening};
pub use outcome::{Missing, Mistakes, Outcome, PropertyOutcome, Stop};
pub use shown::{Shown, Sort};
pub use silent::Silent;
