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
//! [`load`] loads a file; [`predicate`] and [`never_claim`] parse users' questions about a model, in whichever language
//! the model was written.

mod actions;
mod ast;
mod check;
mod declare;
mod effects;
mod instances;
mod load;
mod loaded;
mod parse_declarations;
mod parse_expressions;
mod parse_process;
mod parser;
mod payload_check;
mod predicate;
mod receive;
mod rendezvous;
mod scan;
mod scope;
mod symbols;
mod syntax;
mod temporal;

pub use load::{MailboxKind, Options, load, load_with};
pub use loaded::{Claim, ClaimBody, ModelFile};
pub use predicate::predicate;
pub use temporal::{never_claim, never_claim_at};
