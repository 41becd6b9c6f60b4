//! Explicit-state exploration: searches, products, fair cycles, trace validation and a debugger for any subject.
//!
//! Searches see a subject as a [`StateSpace`]: configurations are fixed-width rows of words, and the successors of a
//! configuration are computed in bulk. A compiled model computes a transition in tens of nanoseconds; any other
//! [`Semantics`](invigil_semantics::Semantics) becomes a state space by numbering its configurations
//! ([`interned::Interned`]).
//!
//! ```text
//! model, compiled or interpreted ─┐
//! any `Semantics`, interned ──────┼─▶ StateSpace ─▶ adapters (scheduled, reduced, monitored, fair, product)
//! remote subject ─────────────────┘       │
//!                                         ├─▶ bfs, dfs, random_walk, lossy searches ─▶ SearchResult
//!                                         └─▶ find_accepting_cycle ─▶ CycleSearchResult
//! ```
//!
//! | part | purpose | also known as |
//! | --- | --- | --- |
//! | [`bfs()`], [`dfs()`], [`random_walk()`] | exact searches; simulation | reachability analysis |
//! | [`hash_compaction`], [`bitstate`], [`swarm`] | searches that store less than a whole configuration | lossy storage |
//! | [`cycles`], [`product`], [`label_evaluator`], [`fairness`] | fair accepting cycles of the product with an automaton | emptiness check |
//! | [`partial_order`], [`scheduled`], [`monitored`] | adapters of state spaces | ample sets, scheduling, safety monitors |
//! | [`breakpoint_search`], [`debugger`] | executions to a breakpoint; a debugger that is a subject itself | omniscient, multiverse debugging |
//! | [`trace_validation`] | whether a model can produce a log | trace checking |
//!
//! Invariants: [`StateSpace::successors`] is deterministic, so that paths can be rebuilt; the result of an exact search
//! does not depend on the number of threads.
//!
//! A model can be a few lines of Rust. Two jugs hold three and five litres; how can four litres be measured?
//!
//! ```
//! use invigil_explore::interned::Interned;
//! use invigil_explore::{SearchOptions, FindingKind, bfs};
//! use invigil_semantics::{Language, Semantics};
//!
//! struct Jugs;
//! impl Language for Jugs {
//!     type Config = [u8; 2];
//!     type Action = &'static str;
//! }
//! impl Semantics for Jugs {
//!     fn initial(&self) -> impl IntoIterator<Item = [u8; 2]> {
//!         [[0, 0]]
//!     }
//!     fn actions(&self, _: &[u8; 2]) -> impl IntoIterator<Item = &'static str> {
//!         ["fill small", "fill large", "empty small", "empty large", "small to large", "large to small"]
//!     }
//!     fn execute(&self, &[small, large]: &[u8; 2], action: &&'static str) -> impl IntoIterator<Item = [u8; 2]> {
//!         [match *action {
//!             "fill small" => [3, large],
//!             "fill large" => [small, 5],
//!             "empty small" => [0, large],
//!             "empty large" => [small, 0],
//!             "small to large" => [(small + large).saturating_sub(5), (small + large).min(5)],
//!             _ => [(small + large).min(3), (small + large).saturating_sub(3)],
//!         }]
//!     }
//! }
//!
//! let space = Interned::new(Jugs, |jugs: &[u8; 2]| jugs[1] == 4);
//! let report = bfs(&space, &SearchOptions { exhaustive: true, ..SearchOptions::default() }, &());
//! assert_eq!(report.totals.states, 16);
//! let [found] = &report.findings[..] else { panic!("there is a way") };
//! assert_eq!(found.kind, FindingKind::Bad);
//! let actions: Vec<_> = found.path.actions.iter().filter_map(|number| space.action(*number)).collect();
//! assert_eq!(
//!     actions,
//!     ["fill large", "large to small", "empty small", "large to small", "fill large", "large to small"]
//! );
//! ```
//!
//! The operators of [`invigil_semantics`] compose such models, add a scheduler or check a property; `docs/library.md`
//! shows a longer example. A language implemented by another program is a subject as well: see `invigil-remote`.

mod arena;
mod bfs;
pub mod breakpoint_search;
pub mod cycles;
pub mod debugger;
mod dfs;
pub mod fairness;
mod hash;
pub mod interned;
pub mod interpreted_model;
pub mod label_evaluator;
mod limits;
mod lossy;
pub mod monitored;
mod options;
mod pages;
pub mod partial_order;
mod path;
mod prefetch;
pub mod product;
mod random_walk;
mod result;
pub mod scheduled;
mod search_counters;
mod state_space;
mod store;
mod table;
pub mod trace_validation;
mod visited;

pub use bfs::bfs;
pub use dfs::dfs;
pub use hash::hash;
pub use limits::{Incomplete, Limits, ProgressListener, Totals};
pub use lossy::{Bitstate, Fingerprint, Swarm, bitstate, hash_compaction, swarm};
pub use options::{FindingKinds, SearchOptions};
pub use path::Path;
pub use random_walk::{WalkOptions, random_walk};
pub use result::{Certainty, Finding, FindingKind, SearchResult};
pub use state_space::{BAD, FAULT, IDLE, StateSpace, Successors, TransitionInfo};
pub use store::{Store, StoreFull};

/// The examples of `docs/library.md`, compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;
