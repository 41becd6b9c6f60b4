//! Types, variables and values of a stopped program, and C-like expressions over them.
//!
//! Hand-written because no crate (`addr2line`, `blazesym`) reads types and variables.
//!
//! A [`Scope`] is a frame of a stopped thread. It evaluates an [`Expression`] to a [`TypedValue`], a type with a location.
//! Nothing is read before it is needed; a value that is unavailable is a [`TypedValue`] with the reason, not an error.

mod abi;
pub mod assign;
mod containers;
pub mod error;
mod evaluate;
pub mod expression;
pub mod extract;
pub mod format;
pub mod info;
mod location;
mod members;
pub mod number;
mod prologue;
mod read;
mod resolve;
pub mod scalar;
pub mod scope;
mod thread_local;
pub mod type_index;
mod type_name;
pub mod typed_value;
pub mod types;
pub mod variables;

pub use assign::PendingWrite;
pub use error::ExpressionError;
pub use expression::Expression;
pub use extract::{Extractor, RegisterNeeds, ValueRequest};
pub use format::FormatLimits;
pub use scalar::{Scalar, ScalarKind, text_at};
pub use scope::Scope;
pub use type_index::TypeIndex;
pub use typed_value::{TypedValue, Unavailable};
pub use variables::Variable;
