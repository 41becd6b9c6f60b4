//! Models: communicating state machines, written in a language of their own (`docs/models.md`).
//!
//! ```text
//! const N = 2
//! turn: 0..N-1 = any
//!
//! process P[i in 0..N-1] {
//!     state idle {
//!         enter: when turn == i -> critical;
//!     }
//!     state critical {
//!         leave: -> idle { turn = (i + 1) % N }
//!     }
//! }
//!
//! invariant exclusion: not (P[0].critical and P[1].critical)
//! ltl again: G F "P[0].critical"
//! ```
//!
//! [`load`] reads a file; [`predicate`] and [`never()`] read what people ask about a model, whichever language it was
//! written in.

mod actions;
mod ast;
mod carried;
mod check;
mod declare;
mod effects;
mod instances;
mod load;
mod loaded;
mod meeting;
mod operators;
mod parser;
mod predicate;
mod read;
mod read_process;
mod receive;
mod scan;
mod scope;
mod syntax;
mod temporal;
mod world;

pub use load::{Mailboxes, Options, load, load_with};
pub use loaded::{Claim, Loaded, What};
pub use predicate::predicate;
pub use temporal::{never, never_at};
