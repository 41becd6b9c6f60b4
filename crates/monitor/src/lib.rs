#![no_std]
#![deny(unsafe_code)]
//! Monitors: events, verdicts, property automata and parametric trace slicing.
//!
//! A live program, a trace or a model reports events. A property automaton follows them, in a separate slice for
//! each binding of its slice parameters, and gives a verdict. The crate has no parsers and performs no input or output; it is
//! `no_std`, because agents run it inside the target.
//!
//! # Data flow
//!
//! Front ends build an [`Automaton`](automaton::Automaton) from an [`AutomatonDef`](automaton::AutomatonDef) and declare its
//! events in an [`EventCatalog`](event::EventCatalog). A source of events delivers [`Event`](event::Event)s with the declared
//! parameters, singly or in an [`EventBatch`](event::EventBatch). [`Monitor::step`] updates a
//! [`SliceTable`](slices::SliceTable) and notifies an [`Observer`](observer::Observer). Scripts ([`mac`]) derive further
//! events from events.
//!
//! | modules | contents |
//! | --- | --- |
//! | [`event`], [`predefined_event`] | events, their declarations, batches and sets; the events that Invigil defines |
//! | [`automaton`], [`decision`], [`verdict`] | property automata, decision diagrams, verdicts |
//! | [`slices`], `records`, `index` | slices: state, memory, lookup, garbage collection, encoding |
//! | `step`, `fast_path`, [`observer`] | stepping on events, its fast path, notifications |
//! | [`interactive`] | a monitor with callbacks, checkpoints and inspection |
//! | [`embedded`], `int_table` | monitors inside the target with a replay log, their integer tables |
//! | [`property`] | adapters to the semantic interface |
//! | [`mac`] | recogniser and checker of PEDL and MEDL scripts |
//!
//! # Invariants
//!
//! - All state is plain data: it is cloned for checkpoints, compared in products, and sent between processes.
//! - No name is looked up while events are processed; events, parameters and states are numbers.
//! - Every fast path gives the results of the general path; random differential tests compare them.
//! - Data from other processes is checked before use: malformed bytes are rejected.
//!
//! ```
//! use invigil_monitor::automaton::{Automaton, AutomatonDef, BranchEffect, State, Transition};
//! use invigil_monitor::event::{Event, EventCatalog, EventKind};
//! use invigil_monitor::observer::NoopObserver;
//! use invigil_monitor::verdict::Verdict;
//! use invigil_monitor::{Monitor, Scratch};
//!
//! // "crash never happens", built by hand; property files are the usual way.
//! let mut catalog = EventCatalog::default();
//! let crash = catalog.declare("crash", EventKind::Before);
//! let state = |name: &str, verdict| State {
//!     name: name.into(), verdict, is_final: false, action: None, at_end: Default::default(),
//!     span: Default::default(),
//! };
//! let automaton = Automaton::new(AutomatonDef {
//!     states: vec![state("running", Verdict::Accepting), state("crashed", Verdict::NonAccepting)],
//!     transitions: vec![Transition {
//!         from: 0, event: crash, guard: None, success: Some(BranchEffect { target: Some(1), ..Default::default() }),
//!         failure: None, reads: vec![], condition: None, span: Default::default(),
//!     }],
//!     ..Default::default()
//! });
//!
//! let mut scratch = Scratch::default();
//! let mut slices = automaton.start(&mut scratch, &mut NoopObserver);
//! let event = Event { id: crash, params: &[], text: "" };
//! assert_eq!(automaton.step(&mut slices, &mut scratch, &event, &mut NoopObserver), Some(Verdict::NonAccepting));
//! assert!(slices.is_violated());
//! ```

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod automaton;
pub mod decision;
pub mod embedded;
mod end_of_run;
pub mod event;
mod fast_path;
mod index;
mod int_table;
pub mod interactive;
pub mod mac;
pub mod observer;
pub mod predefined_event;
mod prefetch;
pub mod property;
mod records;
mod short_copy;
pub mod slices;
mod step;
pub mod verdict;

pub use step::{Monitor, Scratch};
