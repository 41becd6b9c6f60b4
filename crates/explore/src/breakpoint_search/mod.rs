//! Search for breakpoints: finds the shortest executions from the current configuration to a breakpoint.
//!
//! A breakpoint is a property that reads steps; the search explores the product of the subject with it. The simplest
//! breakpoint is a condition on a step. The others are temporal: a regular expression over steps ([`pattern`]), a
//! finite or infinite automaton such as that of a formula ([`Automaton`]), or any
//! [`Dependent`](invigil_semantics::Dependent) semantics, such as a property automaton, which is hit when it accepts.
//! See [`Breakpoint`] for all kinds and [`BreakpointFinder`] for the search.

mod automaton;
mod breakpoint;
mod execution;
mod finder;
mod lasso;
pub mod pattern;
mod readers;
mod result;
mod search_tree;
mod violation;

pub use automaton::{Automaton, Edge};
pub use breakpoint::Breakpoint;
pub use execution::Execution;
pub use finder::{BreakpointFinder, ReductionKey};
pub use result::{BreakpointSearchResult, Witness};
pub use violation::HasModel;
