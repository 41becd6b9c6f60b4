//! Looking for breakpoints: the shortest executions that lead from where one stands to what one looks for.
//!
//! A breakpoint is a property that reads steps, and a search goes through the product of the subject with it. The
//! simplest one is a condition on a step; the others are temporal: a regular expression over steps ([`pattern`]), an
//! automaton, finite or infinite, such as that of a formula ([`Automaton`]), or any
//! [`Dependent`](invigil_semantics::Dependent) semantics, such as a property automaton, whose acceptance is a hit. See
//! [`Stop`] for all of them and [`Finder`] for the search.

mod automaton;
mod execution;
mod found;
mod lasso;
pub mod pattern;
mod reading;
mod search;
mod stop;
mod trail;
mod violation;

pub use automaton::{Automaton, Edge};
pub use execution::Execution;
pub use found::{Found, Witness};
pub use search::{Finder, Reduction};
pub use stop::Stop;
pub use violation::OfModel;
