#![forbid(unsafe_code)]
//! Checks recorded traces and live streams against properties.
//!
//! [`check`] reads a trace, steps every property on every event that it needs, and returns a [`CheckResult`]: the
//! verdict and counts of each property, and for the first violations a [`Violation`] with its slice, the event and
//! the path of states that led there. Memory grows with the live slices, not with the trace.
//!
//! ```text
//! invigil_trace::read ─▶ EventBlock ─▶ driver ─▶ property_run (per property) ─▶ Automaton::run ─▶ ViolationObserver
//!                                        │                                                          │
//!                                        └─ supplied (parameters never supplied)                    └─▶ Violation
//! second reading (files):  replay ─▶ paths of the violations          streams:  history ─▶ recent steps
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `driver` | options, listener and the loop over the blocks of a trace |
//! | `property_run` | one property: stepping, counts, violations |
//! | `replay`, `history` | paths of violations: by a second reading, or from a ring of recent steps |
//! | `supplied` | parameters that properties read and no event supplied |
//! | `result`, `violation`, `rendered_value` | the result of a check as data |
//! | [`report`] | the result as text, JSON, JUnit XML and SARIF |
//!
//! # Invariants
//!
//! - Violations are reported in the order of the trace, also if it is checked in parallel.
//! - Malformed lines and missing parameters never stop a check, unless reading is strict.

mod driver;
mod history;
mod property_run;
mod rendered_value;
mod replay;
pub mod report;
mod result;
mod supplied;
mod violation;

pub use driver::{CheckListener, CheckOptions, NoopListener, check};
pub use rendered_value::{RenderedValue, ValueKind};
pub use result::{CheckResult, MalformedLines, PropertyResult, SkippedEvents, StoppedAt};
pub use supplied::NeverSupplied;
pub use violation::{Binding, PathStep, ReportedEvent, Variable, Violation, binding, env, reported_event};
