//! Controllers that look at every behaviour of a subject.
//!
//! What they need of a subject is small ([`Space`]): configurations as a fixed number of words, and the successors of
//! one, in bulk. A compiled model gives that at tens of nanoseconds a transition; any other
//! [`Semantics`](invigil_semantics::Semantics) becomes a space by numbering its configurations
//! ([`interned::Interned`]).
//!
//! A model can be a few lines of Rust. Two jugs of three and five litres, and the question how to measure four:
//!
//! ```
//! use invigil_explore::interned::Interned;
//! use invigil_explore::{Search, What, breadth};
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
//! let report = breadth(&space, &Search { whole: true, ..Search::default() }, &());
//! assert_eq!(report.totals.states, 16);
//! let [found] = &report.found[..] else { panic!("there is a way") };
//! assert_eq!(found.what, What::Bad);
//! let actions: Vec<_> = found.path.actions.iter().filter_map(|number| space.action(*number)).collect();
//! assert_eq!(
//!     actions,
//!     ["fill large", "large to small", "empty small", "large to small", "fill large", "large to small"]
//! );
//! ```
//!
//! The operators of [`invigil_semantics`] put such models side by side, under a scheduler or under a property;
//! `docs/library.md` tells a longer story. A language of another program is a subject, too: see `invigil-remote`.

mod arena;
mod breadth;
pub mod cycles;
pub mod debugger;
mod depth;
pub mod fair;
pub mod finder;
mod hash;
mod inexact;
pub mod interned;
mod limits;
mod pages;
mod path;
pub mod plain;
mod prefetch;
pub mod product;
mod random;
pub mod reading;
pub mod reduced;
mod report;
pub mod scheduled;
mod search;
mod seen;
mod space;
mod store;
mod table;
mod tally;
pub mod validate;
mod walk;
pub mod watched;

pub use breadth::breadth;
pub use depth::depth;
pub use hash::hash;
pub use inexact::{Bitstate, Fingerprint, Swarm, bitstate, compacted, swarm};
pub use limits::{Incomplete, Limits, Pulse, Totals};
pub use path::Path;
pub use random::Random;
pub use report::{Certainty, Found, Report, What};
pub use search::{Search, Wanted};
pub use space::{BAD, FAULT, IDLE, Space, Successors, Taken};
pub use store::{Full, Store};
pub use walk::{Walks, walk};

/// The story of `docs/library.md`, so that it is true.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;
