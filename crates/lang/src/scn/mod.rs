//! The scenario language: reactions to state changes of properties.
//!
//! ```text
//! initialization {
//!     saved = []
//! }
//!
//! on entering accepting state {
//!     saved.append(checkpoint())
//! }
//!
//! on entering non-accepting state {
//!     print("violated: " + old_state + " -> " + new_state)
//!     suspend_execution()
//! }
//! ```
//!
//! [`parse`] parses a scenario, and [`lower()`] compiles it for the monitored properties.
//!
//! # Grammar
//!
//! ```text
//! scenario    = { "initialization" block | reaction }
//! reaction    = "on" ( "entering" | "leaving" ) selector [ "of" property ] block
//! selector    = "state" name | ( "accepting" | "non-accepting" | "initial" ) "state"
//! property    = name | '"' any text '"'
//! block       = "{" Python "}"
//! ```
//!
//! A comment runs from `#` to the end of the line. All blocks share their variables, which persist between
//! reactions and are visible in the functions that the blocks define.

pub mod ast;
mod functions;
mod lower;
mod parser;

pub use functions::{HOST_FUNCTIONS, IMPLICIT_VARIABLES, ScenarioFunction};
pub use lower::{Reaction, Scenario, StateSet, lower};
pub use parser::parse;

/// The scenario that is used if none is given: suspends the target where a property is violated.
pub const DEFAULT: &str = "on entering non-accepting state {\n    suspend_execution()\n}\n";
