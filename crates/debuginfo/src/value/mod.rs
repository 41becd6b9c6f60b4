//! Types, variables and values of a stopped program, and C-like expressions over them.
//!
//! A [`Scope`] is what can be seen from a frame of a stopped thread. It evaluates an
//! [`Expression`] to a [`Datum`]: a type and a place. Nothing is read
//! before it is needed; a value that is not there is a datum that says why, not an error.

mod abi;
pub mod assign;
pub mod catalog;
mod containers;
pub mod datum;
mod evaluate;
pub mod expression;
pub mod extract;
pub mod info;
mod location;
mod members;
pub mod mistake;
mod naming;
pub mod number;
pub mod plain;
mod prologue;
mod read;
mod resolve;
pub mod scope;
pub mod show;
mod thread;
pub mod types;
pub mod variables;

pub use assign::Change;
pub use catalog::Catalog;
pub use datum::{Datum, Unavailable};
pub use expression::Expression;
pub use extract::{Extractor, Form, Needs};
pub use mistake::Mistake;
pub use plain::{Plain, Wanted, text_at};
pub use scope::Scope;
pub use show::Style;
pub use variables::Variable;
